/*
 * For tests of the loader's lock: rmmod calls a parameter's `free` with it, and that dies once the file /tmp/die is
 * there. A write to the parameter waits until /tmp/go is there.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

MODULE_LICENSE("GPL");

static bool is_there(const char *path)
{
	struct file *f = filp_open(path, O_RDONLY, 0);

	if (IS_ERR(f))
		return false;
	filp_close(f, NULL);
	return true;
}

static bool deadly;
static int *volatile nowhere = (int *)8;

static int dying_set(const char *val, const struct kernel_param *kp)
{
	if (*val == 'd') {
		deadly = true;
		return 0;
	}
	while (!is_there("/tmp/go"))
		msleep(10);
	return 0;
}

static void dying_free(void *arg)
{
	if (!deadly)
		return;
	while (!is_there("/tmp/die"))
		msleep(10);
	*nowhere = 1;
}

static const struct kernel_param_ops dying_ops = {
	.set = dying_set,
	.free = dying_free,
};
module_param_cb(how, &dying_ops, NULL, 0200);
