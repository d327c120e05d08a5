/* A file of records by seq_file, which calls us record by record and keeps the reader's place: /proc/procfs_4 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static int records = 5;
module_param(records, int, 0444);

/* Locks would be taken here, and dropped in squares_stop. */
static void *squares_start(struct seq_file *m, loff_t *pos)
{
	return *pos < records ? pos : NULL;
}

static void *squares_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return *pos < records ? pos : NULL;
}

static void squares_stop(struct seq_file *m, void *v)
{
}

static int squares_show(struct seq_file *m, void *v)
{
	unsigned long i = *(loff_t *)v;

	seq_printf(m, "%lu %lu\n", i, i * i);
	return 0;
}

static const struct seq_operations squares_ops = {
	.start = squares_start,
	.next = squares_next,
	.stop = squares_stop,
	.show = squares_show,
};

static int squares_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &squares_ops);
}

static const struct proc_ops procfs_ops = {
	.proc_open = squares_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = seq_release,
};

static int __init procfs_init(void)
{
	return proc_create("procfs_4", 0, NULL, &procfs_ops) ? 0 : -ENOMEM;
}
module_init(procfs_init);

static void __exit procfs_exit(void)
{
	remove_proc_entry("procfs_4", NULL);
}
module_exit(procfs_exit);
