/*
 * It writes to an address where there is nothing. The message shows the function of the module, and the process that
 * has written is killed. echo > /proc/oops is enough.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>

MODULE_LICENSE("GPL");

static int *volatile nowhere = (int *)8;

static noinline void oops_here(void)
{
	WRITE_ONCE(*nowhere, 42);
}

static ssize_t oops_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	oops_here();
	return length;
}

static const struct proc_ops oops_ops = {
	.proc_write = oops_write,
};

static int __init oops_init(void)
{
	return proc_create("oops", 0200, NULL, &oops_ops) ? 0 : -ENOMEM;
}
module_init(oops_init);

/* The operation that has died never leaves the file, which would be waited for here: the module stays. */
