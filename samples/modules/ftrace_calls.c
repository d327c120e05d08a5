/* A callback at the entry of a function: how often it was called stands in /proc/ftrace_calls. */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static char *func = "msleep";
module_param(func, charp, 0444);

static atomic_t calls = ATOMIC_INIT(0);

/* Anywhere that the function is called, with preemption off: it must not sleep, nor be traced itself. */
static void notrace callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	atomic_inc(&calls);
}

static struct ftrace_ops ops = {
	.func = callback,
	.flags = FTRACE_OPS_FL_RECURSION,
};

static int calls_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s %d\n", func, atomic_read(&calls));
	return 0;
}

/*
 * Filter first, then register: a user without a filter would be called for every function of the kernel. The file last,
 * when there is something to show.
 */
static int __init ftrace_calls_init(void)
{
	int err = ftrace_set_filter(&ops, (unsigned char *)func, strlen(func), 0);

	if (!err)
		err = register_ftrace_function(&ops);
	if (err)
		goto filter;
	if (proc_create_single("ftrace_calls", 0444, NULL, calls_show))
		return 0;
	err = -ENOMEM;
	unregister_ftrace_function(&ops);
filter:
	ftrace_free_filter(&ops);
	return err;
}
module_init(ftrace_calls_init);

/* When it returns the callback runs nowhere, and is not called any more. */
static void __exit ftrace_calls_exit(void)
{
	remove_proc_entry("ftrace_calls", NULL);
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
}
module_exit(ftrace_calls_exit);
