/*
 * A file below a directory of its own in /proc, with an owner, a size, and data: /proc/procfs_3/buffer. While it is
 * open the module holds itself, so rmmod finds it in use.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

struct buffer {
	size_t size;
	char bytes[100];
};
static struct buffer buffer = {.size = 4, .bytes = "old\n"};

static ssize_t buffer_read(struct file *file, char __user *to, size_t length, loff_t *pos)
{
	struct buffer *b = pde_data(file_inode(file));

	return simple_read_from_buffer(to, length, pos, b->bytes, b->size);
}

static ssize_t buffer_write(struct file *file, const char __user *from, size_t length, loff_t *pos)
{
	struct buffer *b = pde_data(file_inode(file));
	ssize_t n = simple_write_to_buffer(b->bytes, sizeof(b->bytes), pos, from, length);

	if (n > 0)
		b->size = *pos;
	return n;
}

static int buffer_open(struct inode *inode, struct file *file)
{
	return try_module_get(THIS_MODULE) ? 0 : -ENODEV;
}

static int buffer_release(struct inode *inode, struct file *file)
{
	module_put(THIS_MODULE);
	return 0;
}

static const struct proc_ops buffer_ops = {
	.proc_open = buffer_open,
	.proc_release = buffer_release,
	.proc_read = buffer_read,
	.proc_write = buffer_write,
};

static struct proc_dir_entry *dir;

/* A folder and a file in it; size and owner are what `ls -l` shows. -ENOMEM, with nothing left behind. */
static int __init procfs_init(void)
{
	struct proc_dir_entry *file;

	dir = proc_mkdir("procfs_3", NULL);
	if (!dir)
		return -ENOMEM;
	file = proc_create_data("buffer", 0644, dir, &buffer_ops, &buffer);
	if (!file) {
		proc_remove(dir);
		return -ENOMEM;
	}
	proc_set_size(file, sizeof(buffer.bytes));
	proc_set_user(file, GLOBAL_ROOT_UID, GLOBAL_ROOT_GID);
	return 0;
}
module_init(procfs_init);

static void __exit procfs_exit(void)
{
	proc_remove(dir); /* with what is in it */
}
module_exit(procfs_exit);
