/*
 * A trampoline at the entry of a function with two arguments, kmalloc(): who asks for how many bytes goes into the
 * trace. Linux has a sample of this name, and its selftests load it beside ftrace-direct.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

MODULE_LICENSE("GPL");

/* Called by the assembly below with the arguments of kmalloc(). */
void my_direct_func(size_t size, gfp_t flags);
void my_direct_func(size_t size, gfp_t flags)
{
	trace_printk("%s-%d asks for %zu bytes\n", current->comm, current->pid, size);
}

/* It keeps both arguments of the function that it stands before. The stack is a multiple of 16 bytes at the call. */
extern void my_tramp(void);
#ifdef __aarch64__
asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.type	my_tramp, @function\n"
    "	.globl	my_tramp\n"
    "my_tramp:\n"
    "	sub	sp, sp, #32\n"
    "	stp	x9, x30, [sp]\n" /* the caller of kmalloc(), and the place in it to go on at */
    "	stp	x0, x1, [sp, #16]\n"
    "	bl	my_direct_func\n"
    "	ldp	x30, x9, [sp]\n" /* exchanged */
    "	ldp	x0, x1, [sp, #16]\n"
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
    "	pushq	%rsi\n"
    "	subq	$8, %rsp\n"
    "	call	my_direct_func\n"
    "	addq	$8, %rsp\n"
    "	popq	%rsi\n"
    "	popq	%rdi\n"
    "	leave\n"
    "	ret\n"
    "	.size	my_tramp, . - my_tramp\n"
    "	.popsection\n");
#endif

static struct ftrace_ops direct;

static int __init ftrace_direct_too_init(void)
{
	int err = ftrace_set_filter_ip(&direct, (unsigned long)kmalloc, 0, 0);

	return err ? err : register_ftrace_direct(&direct, (unsigned long)my_tramp);
}
module_init(ftrace_direct_too_init);

static void __exit ftrace_direct_too_exit(void)
{
	unregister_ftrace_direct(&direct, (unsigned long)my_tramp, true);
}
module_exit(ftrace_direct_too_exit);
