/* A character device with a message that is read, written, and asked for by ioctl(2). Its own cdev, in a structure. */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "chardev2.h"

MODULE_LICENSE("GPL");

struct message {
	struct cdev cdev;
	struct mutex lock;
	char text[BUF_LEN]; /* [lock] ends with a zero */
};
static struct message message;
static struct class *class;

/* From the inode to the structure that the device is part of. */
static int device_open(struct inode *inode, struct file *file)
{
	file->private_data = container_of(inode->i_cdev, struct message, cdev);
	return 0;
}

static ssize_t device_read(struct file *file, char __user *buffer, size_t length, loff_t *pos)
{
	struct message *m = file->private_data;
	ssize_t n;

	mutex_lock(&m->lock);
	n = simple_read_from_buffer(buffer, length, pos, m->text, strlen(m->text));
	mutex_unlock(&m->lock);
	return n;
}

static ssize_t device_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	struct message *m = file->private_data;
	char text[BUF_LEN] = "";

	if (length >= BUF_LEN)
		return -ENOSPC;
	if (copy_from_user(text, buffer, length))
		return -EFAULT;
	mutex_lock(&m->lock);
	memcpy(m->text, text, BUF_LEN);
	mutex_unlock(&m->lock);
	return length;
}

static long set_message(struct message *m, const char __user *from)
{
	char text[BUF_LEN] = "";
	long n = strncpy_from_user(text, from, BUF_LEN);

	if (n < 0)
		return n;
	if (n == BUF_LEN)
		return -ENOSPC;
	memcpy(m->text, text, BUF_LEN);
	return 0;
}

/*
 * Three commands in one function; what travels is a pointer for two of them and a number for the third. The lock keeps
 * a message whole against writers.
 */
static long device_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct message *m = file->private_data;
	long ret;

	mutex_lock(&m->lock);
	switch (command) {
	case IOCTL_SET_MSG:
		ret = set_message(m, (const char __user *)argument);
		break;
	case IOCTL_GET_MSG:
		ret = copy_to_user((char __user *)argument, m->text, strlen(m->text) + 1) ? -EFAULT : 0;
		break;
	case IOCTL_GET_NTH_BYTE:
		ret = argument < BUF_LEN ? m->text[argument] : -EINVAL;
		break;
	default:
		ret = -ENOTTY; /* what every ioctl answers to a command that it does not know */
	}
	mutex_unlock(&m->lock);
	return ret;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.read = device_read,
	.write = device_write,
	.unlocked_ioctl = device_ioctl,
};

/*
 * As chardev_init(), with the numbers and the device registered apart. An error jumps to where the last step that
 * succeeded is undone.
 */
static int __init chardev2_init(void)
{
	struct device *device;
	dev_t dev;
	int err = alloc_chrdev_region(&dev, 0, 1, "chardev2");

	if (err)
		return err;
	mutex_init(&message.lock);
	cdev_init(&message.cdev, &fops);
	message.cdev.owner = THIS_MODULE;
	err = cdev_add(&message.cdev, dev, 1);
	if (err)
		goto region;
	class = class_create("chardev2");
	if (IS_ERR(class)) {
		err = PTR_ERR(class);
		goto cdev;
	}
	device = device_create(class, NULL, dev, NULL, "chardev2");
	if (!IS_ERR(device))
		return 0;
	err = PTR_ERR(device);
	class_destroy(class);
cdev:
	cdev_del(&message.cdev);
region:
	unregister_chrdev_region(dev, 1);
	return err;
}
module_init(chardev2_init);

static void __exit chardev2_exit(void)
{
	dev_t dev = message.cdev.dev;

	device_destroy(class, dev);
	class_destroy(class);
	cdev_del(&message.cdev);
	unregister_chrdev_region(dev, 1);
}
module_exit(chardev2_exit);
