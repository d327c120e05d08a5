/* A file in /proc that keeps what is written to it: echo word > /proc/procfs_2; cat /proc/procfs_2 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

#define MAX_TEXT 1024

static DEFINE_MUTEX(text_lock);
static char text[MAX_TEXT]; /* [text_lock] */
static size_t text_size;    /* [text_lock] */

static ssize_t procfs_read(struct file *file, char __user *buffer, size_t length, loff_t *pos)
{
	ssize_t n;

	mutex_lock(&text_lock);
	n = simple_read_from_buffer(buffer, length, pos, text, text_size);
	mutex_unlock(&text_lock);
	return n;
}

/*
 * Copied from the program before the lock is taken: the copy may sleep for a page, and readers need not wait for that.
 */
static ssize_t procfs_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	char *copy;

	if (length > MAX_TEXT)
		return -ENOSPC;
	copy = kmalloc(length, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	if (copy_from_user(copy, buffer, length)) {
		kfree(copy);
		return -EFAULT;
	}
	mutex_lock(&text_lock);
	memcpy(text, copy, length);
	text_size = length;
	mutex_unlock(&text_lock);
	kfree(copy);
	return length;
}

static const struct proc_ops procfs_ops = {
	.proc_read = procfs_read,
	.proc_write = procfs_write,
};

static struct proc_dir_entry *entry;

static int __init procfs_init(void)
{
	entry = proc_create("procfs_2", 0644, NULL, &procfs_ops);
	return entry ? 0 : -ENOMEM;
}
module_init(procfs_init);

static void __exit procfs_exit(void)
{
	proc_remove(entry);
}
module_exit(procfs_exit);
