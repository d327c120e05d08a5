/* A tracepoint of a module. Opening /proc/tracepoint-sample comes by it, and then fails: there is nothing to read. */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>

#include "tracepoint_sample.h"

MODULE_LICENSE("GPL");

DEFINE_TRACE(subsys_eventname);
EXPORT_TRACEPOINT_SYMBOL_GPL(subsys_eventname);

static int sample_open(struct inode *inode, struct file *file)
{
	int i;

	for (i = 0; i < 3; i++)
		trace_subsys_eventname(i, current);
	return -EPERM;
}

static const struct proc_ops sample_ops = {
	.proc_open = sample_open,
};

static int __init sample_init(void)
{
	if (!proc_create("tracepoint-sample", 0444, NULL, &sample_ops))
		return -ENOMEM;
	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	remove_proc_entry("tracepoint-sample", NULL);
}
module_exit(sample_exit);
