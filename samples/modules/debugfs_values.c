/* Variables, a directory and a file of text in debugfs: /sys/kernel/debug/values */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static u32 number = 7;
static bool on;
static u64 square_of = 5;
static struct dentry *dir;

static int sum_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u + 1 = %u\n", number, number + 1);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sum);

/* A file that holds one number: what is written is kept, what is read is its square. */
static int square_get(void *data, u64 *value)
{
	*value = square_of * square_of;
	return 0;
}

static int square_set(void *data, u64 value)
{
	if (value > 1000)
		return -ERANGE;
	square_of = value;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(square_fops, square_get, square_set, "%llu\n");

static int __init values_init(void)
{
	dir = debugfs_create_dir("values", NULL);
	debugfs_create_u32("number", 0644, dir, &number);
	debugfs_create_x32("hex", 0444, dir, &number);
	debugfs_create_bool("on", 0644, dir, &on);
	debugfs_create_file("sum", 0444, dir, NULL, &sum_fops);
	debugfs_create_file("square", 0644, dir, NULL, &square_fops);
	return PTR_ERR_OR_ZERO(dir);
}
module_init(values_init);

static void __exit values_exit(void)
{
	debugfs_remove(dir);
}
module_exit(values_exit);
