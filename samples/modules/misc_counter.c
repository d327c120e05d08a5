/* The shortest way to a device: /dev/misc_counter counts what is written to it, and ioctl(2) sets the count. */
#include <linux/atomic.h>
#include <linux/ioctl.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

#define COUNTER_GET _IOR('c', 1, unsigned int) /* the count, to an unsigned int */
#define COUNTER_SET _IOW('c', 2, unsigned int) /* the count becomes that unsigned int */

static atomic_t count = ATOMIC_INIT(0);

static ssize_t counter_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	atomic_add(length, &count);
	return length;
}

/* Two commands; the argument is a pointer of the program's. */
static long counter_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	unsigned int __user *user = (unsigned int __user *)argument;
	unsigned int value;

	switch (command) {
	case COUNTER_GET:
		return put_user((unsigned int)atomic_read(&count), user);
	case COUNTER_SET:
		if (get_user(value, user))
			return -EFAULT;
		atomic_set(&count, value);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations counter_fops = {
	.owner = THIS_MODULE,
	.write = counter_write,
	.unlocked_ioctl = counter_ioctl,
};

static struct miscdevice counter = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "misc_counter",
	.fops = &counter_fops,
	.mode = 0666,
};
module_misc_device(counter);
