/*
 * Two trampolines at the entry of schedule(), one at a time: a thread exchanges them, ten times a second. The trace
 * shows which one is there. Linux has a sample of this name, and its selftests load it.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

MODULE_LICENSE("GPL");

void my_direct_func1(void);
void my_direct_func1(void)
{
	trace_printk("my direct func1\n");
}

void my_direct_func2(void);
void my_direct_func2(void)
{
	trace_printk("my direct func2\n");
}

/* schedule() has no arguments that a trampoline had to keep. */
extern void my_tramp1(void);
extern void my_tramp2(void);
#ifdef __aarch64__
#define TRAMPOLINE(name, func)                         \
	asm("	.pushsection .text, \"ax\", @progbits\n" \
	    "	.type	" name ", @function\n"         \
	    "	.globl	" name "\n"                    \
	    "" name ":\n"                              \
	    "	sub	sp, sp, #16\n"                       \
	    "	stp	x9, x30, [sp]\n"                     \
	    "	bl	" func "\n"                    \
	    "	ldp	x30, x9, [sp]\n"                     \
	    "	add	sp, sp, #16\n"                       \
	    "	ret	x9\n"                                \
	    "	.size	" name ", . - " name "\n"      \
	    "	.popsection\n")
#else
#define TRAMPOLINE(name, func)                         \
	asm("	.pushsection .text, \"ax\", @progbits\n" \
	    "	.type	" name ", @function\n"         \
	    "	.globl	" name "\n"                    \
	    "" name ":\n"                              \
	    "	pushq	%rbp\n"                            \
	    "	movq	%rsp, %rbp\n"                       \
	    "	call	" func "\n"                    \
	    "	leave\n"                                 \
	    "	ret\n"                                   \
	    "	.size	" name ", . - " name "\n"      \
	    "	.popsection\n")
#endif
TRAMPOLINE("my_tramp1", "my_direct_func1");
TRAMPOLINE("my_tramp2", "my_direct_func2");

static const unsigned long trampolines[] = {(unsigned long)my_tramp1, (unsigned long)my_tramp2};
static unsigned now; /* number of the one that is there: the thread's, and after its end that of exit */
static struct ftrace_ops direct;
static struct task_struct *thread;

static int exchange(void *unused)
{
	while (!kthread_should_stop()) {
		msleep_interruptible(100);
		if (modify_ftrace_direct(&direct, trampolines[!now]))
			pr_warn("ftrace-direct-modify: the trampoline cannot be exchanged\n");
		else
			now = !now;
	}
	return 0;
}

static int __init ftrace_direct_modify_init(void)
{
	int err = ftrace_set_filter_ip(&direct, (unsigned long)schedule, 0, 0);

	if (err)
		return err;
	err = register_ftrace_direct(&direct, trampolines[0]);
	if (err)
		return err;
	thread = kthread_run(exchange, NULL, "event-sample-fn");
	if (!IS_ERR(thread))
		return 0;
	unregister_ftrace_direct(&direct, trampolines[0], true);
	return PTR_ERR(thread);
}
module_init(ftrace_direct_modify_init);

static void __exit ftrace_direct_modify_exit(void)
{
	kthread_stop(thread);
	unregister_ftrace_direct(&direct, trampolines[now], true);
}
module_exit(ftrace_direct_modify_exit);
