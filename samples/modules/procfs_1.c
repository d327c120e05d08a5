/* A file in /proc with a read function of its own: cat /proc/procfs_1 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

static const char text[] = "hello from the kernel\n";

/* `pos` says how far the reader is; 0 bytes tell it that this was all. */
static ssize_t procfs_read(struct file *file, char __user *buffer, size_t length, loff_t *pos)
{
	size_t left = sizeof(text) - 1 - min_t(size_t, *pos, sizeof(text) - 1);
	size_t n = min(length, left);

	if (copy_to_user(buffer, text + *pos, n))
		return -EFAULT;
	*pos += n;
	return n;
}

static const struct proc_ops procfs_ops = {
	.proc_read = procfs_read,
};

static int __init procfs_init(void)
{
	if (!proc_create("procfs_1", 0444, NULL, &procfs_ops))
		return -ENOMEM;
	return 0;
}
module_init(procfs_init);

/* Waits for readers that are in procfs_read(), so the module may go even while the file is open. */
static void __exit procfs_exit(void)
{
	remove_proc_entry("procfs_1", NULL);
}
module_exit(procfs_exit);
