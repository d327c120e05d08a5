/*
 * A uprobe: how often programs came to an instruction of a file stands in /proc/uprobe_sample, with what the function's
 * first argument was the last time; and with returns=1 how often the function returned, and the sum of what it
 * returned.
 *
 *	insmod uprobe_sample.ko path=/bin/sh offset=0x4f0
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uprobes.h>

MODULE_LICENSE("GPL");

static char *path = "/bin/sh";
module_param(path, charp, 0444);
static unsigned long offset; /* in the file */
module_param(offset, ulong, 0444);
static unsigned long counter; /* in the file; 0: none. A 16-bit word that says while the place is watched */
module_param(counter, ulong, 0444);
static bool returns;
module_param(returns, bool, 0444);

static atomic_t hits = ATOMIC_INIT(0), returned = ATOMIC_INIT(0);
static atomic64_t sum;
static unsigned long last_argument, func_seen;

/* In the program's task: it may sleep. */
static int before_insn(struct uprobe_consumer *self, struct pt_regs *regs)
{
	WRITE_ONCE(last_argument, regs_get_kernel_argument(regs, 0));
	atomic_inc(&hits);
	return 0;
}

static int after_return(struct uprobe_consumer *self, unsigned long func, struct pt_regs *regs)
{
	WRITE_ONCE(func_seen, func);
	atomic64_add(regs_return_value(regs), &sum);
	atomic_inc(&returned);
	return 0;
}

static struct uprobe_consumer consumer = {.handler = before_insn};
static struct uprobe *probe;

static int sample_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s:%lx: %d hits, argument %lx, %d returns of %lx, sum %lld, %lu missed\n", path, offset,
		   atomic_read(&hits), READ_ONCE(last_argument), atomic_read(&returned), READ_ONCE(func_seen),
		   atomic64_read(&sum), READ_ONCE(consumer.nmissed));
	return 0;
}

/* The probe first: without it there is nothing to show. The file is needed only while it is registered. */
static int __init uprobe_sample_init(void)
{
	struct file *file = filp_open(path, O_RDONLY, 0);

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (returns)
		consumer.ret_handler = after_return;
	probe = uprobe_register(file, offset, counter, &consumer);
	fput(file);
	if (IS_ERR(probe))
		return PTR_ERR(probe);
	if (proc_create_single("uprobe_sample", 0444, NULL, sample_show))
		return 0;
	uprobe_unregister(probe, &consumer);
	return -ENOMEM;
}
module_init(uprobe_sample_init);

static void __exit uprobe_sample_exit(void)
{
	remove_proc_entry("uprobe_sample", NULL);
	uprobe_unregister(probe, &consumer);
}
module_exit(uprobe_sample_exit);
