/*
 * Recursion to order: a number written to debugfs's fgraph/recurse makes a function call itself so deep, deeper than a
 * task's stack of hooked returns is (trace/fgraph.h). Every level checks what the next one gives back.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/errno.h>
#include <lib/string.h>

#define RECURSE_MAX 150 /* of these the kernel's stack has room for */

/* What is read after the call keeps it from becoming a loop. */
static unsigned noinline plant_recurse(unsigned depth)
{
	volatile unsigned level = depth;

	return depth ? plant_recurse(depth - 1) + 1 + (level - depth) : 0;
}

/* -EINVAL: no number, or too deep; -EIO: it came back wrong. Thread context. */
static ssize_t recurse_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	char text[16];
	unsigned long depth;
	ssize_t ret = copy_text_from_user(text, sizeof(text), buf, n);

	if (ret < 0)
		return ret;
	ret = kstrtoul(strim(text), 10, &depth);
	if (ret)
		return ret;
	if (depth > RECURSE_MAX)
		return -EINVAL;
	return plant_recurse(depth) == depth ? (ssize_t)n : -EIO;
}

static int recurse_show(struct seq_file *m, void *v)
{
	seq_printf(m, "a number up to %d: so deep\n", RECURSE_MAX);
	return 0;
}

static int recurse_open(struct inode *inode, struct file *file)
{
	return single_open(file, recurse_show, NULL);
}

static const struct file_operations recurse_fops = {
	.open = recurse_open,
	.read = seq_read,
	.write = recurse_write,
	.llseek = seq_lseek,
	.release = single_release,
};
static const struct debugfs_entry recurse_file = { "fgraph", "recurse", 0600, &recurse_fops, NULL };
REGISTER_DEBUGFS(recurse_file);
