/*
 * A counter for each CPU: how often a function was called, counted at its entry without a lock and without a cache line
 * that two CPUs write. /proc/percpu_counts shows the counters and their sum.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static char *function = "vfs_write";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "whose calls are counted");

static DEFINE_PER_CPU(unsigned long, calls);

/* Preemption is off here, so the CPU stays; this_cpu_inc() also keeps interrupts out, which may call the function. */
static void notrace count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	this_cpu_inc(calls);
}
static struct ftrace_ops ops = {.func = count_call, .flags = FTRACE_OPS_FL_RECURSION};

/* The sum is not exact: other CPUs go on counting while it is made. */
static int counts_show(struct seq_file *m, void *v)
{
	unsigned long sum = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		unsigned long n = READ_ONCE(per_cpu(calls, cpu));

		seq_printf(m, "cpu%u %lu\n", cpu, n);
		sum += n;
	}
	seq_printf(m, "sum %lu\n", sum);
	return 0;
}

/* The file is there before the first call is counted, and each step that was made is undone when a later one fails. */
static int __init percpu_counts_init(void)
{
	int err = ftrace_set_filter(&ops, (unsigned char *)function, strlen(function), 1);

	if (err)
		goto free_filter;
	err = -ENOMEM;
	if (!proc_create_single("percpu_counts", 0444, NULL, counts_show))
		goto free_filter;
	err = register_ftrace_function(&ops);
	if (!err)
		return 0;
	remove_proc_entry("percpu_counts", NULL);
free_filter:
	ftrace_free_filter(&ops);
	return err;
}
module_init(percpu_counts_init);

static void __exit percpu_counts_exit(void)
{
	unregister_ftrace_function(&ops);
	remove_proc_entry("percpu_counts", NULL);
	ftrace_free_filter(&ops);
}
module_exit(percpu_counts_exit);
