/* A character device that says how often it was opened, for one program at a time: cat /dev/chardev */
#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

#define DEVICE_NAME "chardev"

static int major;
static struct class *class;
static atomic_t in_use = ATOMIC_INIT(0);
static int counter;   /* [in_use] */
static char text[80]; /* [in_use] */

static int device_open(struct inode *inode, struct file *file)
{
	if (atomic_cmpxchg(&in_use, 0, 1))
		return -EBUSY;
	sprintf(text, "opened %d times before\n", counter++);
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	atomic_set(&in_use, 0);
	return 0;
}

static ssize_t device_read(struct file *file, char __user *buffer, size_t length, loff_t *pos)
{
	return simple_read_from_buffer(buffer, length, pos, text, strlen(text));
}

static ssize_t device_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	pr_alert("chardev: it is read only\n");
	return -EINVAL;
}

/* The owner is held by each open file: rmmod fails until the last one is closed. */
static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.read = device_read,
	.write = device_write,
};

/*
 * Three steps, each of which the later ones rely on: a number, a class, a node in /dev. An error undoes those before
 * it, in reverse.
 */
static int __init chardev_init(void)
{
	struct device *device;

	major = register_chrdev(0, DEVICE_NAME, &fops);
	if (major < 0)
		return major;
	class = class_create(DEVICE_NAME);
	if (IS_ERR(class)) {
		unregister_chrdev(major, DEVICE_NAME);
		return PTR_ERR(class);
	}
	device = device_create(class, NULL, MKDEV(major, 0), NULL, DEVICE_NAME);
	if (IS_ERR(device)) {
		class_destroy(class);
		unregister_chrdev(major, DEVICE_NAME);
		return PTR_ERR(device);
	}
	pr_info("chardev: major %d, /dev/%s\n", major, DEVICE_NAME);
	return 0;
}
module_init(chardev_init);

static void __exit chardev_exit(void)
{
	device_destroy(class, MKDEV(major, 0));
	class_destroy(class);
	unregister_chrdev(major, DEVICE_NAME);
}
module_exit(chardev_exit);
