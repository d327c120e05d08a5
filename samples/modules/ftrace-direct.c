/*
 * A trampoline of our own at the entry of wake_up_process(): the task that is woken goes into the trace. Linux has a
 * sample of this name, and its selftests load it.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sched.h>

MODULE_LICENSE("GPL");

/* Called by the assembly below with the arguments of wake_up_process(). */
void my_direct_func(struct task_struct *p);
void my_direct_func(struct task_struct *p)
{
	trace_printk("waking up %s-%d\n", p->comm, p->pid);
}

/*
 * It keeps the arguments of the function that it stands before: wake_up_process() has one. The stack is a multiple of
 * 16 bytes at the call.
 */
extern void my_tramp(void);
#ifdef __aarch64__
asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.type	my_tramp, @function\n"
    "	.globl	my_tramp\n"
    "my_tramp:\n"
    "	sub	sp, sp, #32\n"
    "	stp	x9, x30, [sp]\n" /* the caller of wake_up_process(), and the place in it to go on at */
    "	str	x0, [sp, #16]\n"
    "	bl	my_direct_func\n"
    "	ldp	x30, x9, [sp]\n" /* exchanged */
    "	ldr	x0, [sp, #16]\n"
    "	add	sp, sp, #32\n"
    "	ret	x9\n"
    "	.size	my_tramp, . - my_tramp\n"
    "	.popsection\n");
#else
asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.type	my_tramp, @function\n"
    "	.globl	my_tramp\n"
    "my_tramp:\n"
    "	pushq	%rbp\n"
    "	movq	%rsp, %rbp\n"
    "	pushq	%rdi\n"
    "	subq	$8, %rsp\n"
    "	call	my_direct_func\n"
    "	addq	$8, %rsp\n"
    "	popq	%rdi\n"
    "	leave\n"
    "	ret\n"
    "	.size	my_tramp, . - my_tramp\n"
    "	.popsection\n");
#endif

static struct ftrace_ops direct;

static int __init ftrace_direct_init(void)
{
	int err = ftrace_set_filter_ip(&direct, (unsigned long)wake_up_process, 0, 0);

	return err ? err : register_ftrace_direct(&direct, (unsigned long)my_tramp);
}
module_init(ftrace_direct_init);

static void __exit ftrace_direct_exit(void)
{
	unregister_ftrace_direct(&direct, (unsigned long)my_tramp, true);
}
module_exit(ftrace_direct_exit);
