/* Devices of major 10 that come and go (<fs/miscdevice.h>). Each is a cdev of one number. */
#include "../../fs/internal.h"

#include <fs/miscdevice.h>
#include <fs/seq_file.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <lib/string.h>

#define FIRST_DYNAMIC_MINOR 127 /* and down, as in Linux */

static DEFINE_MUTEX(misc_mutex);
static LIST_HEAD(misc_devices); /* [misc_mutex] in the order of registering */

/* [misc_mutex] Is the minor a device's, the kernel's own included? */
static bool minor_taken(unsigned minor)
{
	const struct miscdevice *misc;
	const struct device_node *dev;

	list_for_each_entry(misc, &misc_devices, list)
		if (misc->minor == minor)
			return true;
	for (unsigned at = 0; (dev = device_next(&at));)
		if (dev->rdev == MKDEV(MISC_MAJOR, minor))
			return true;
	return false;
}

/* [misc_mutex] The minor that it wants, or -EBUSY. */
static int choose_minor(const struct miscdevice *misc)
{
	if (misc->minor != MISC_DYNAMIC_MINOR)
		return minor_taken(misc->minor) ? -EBUSY : misc->minor;
	for (int minor = FIRST_DYNAMIC_MINOR; minor >= 0; minor--)
		if (!minor_taken(minor))
			return minor;
	return -EBUSY;
}

/* [misc_mutex] The device is there before its node is, so that an open finds it. */
static int add_misc(struct miscdevice *misc, unsigned minor)
{
	dev_t dev = MKDEV(MISC_MAJOR, minor);
	int err;

	cdev_init(&misc->cdev, misc->fops);
	misc->cdev.private_data = misc;
	err = cdev_add(&misc->cdev, dev, 1);
	if (err)
		return err;
	misc->this_device = device_create_mode(NULL, dev, misc->mode ?: 0600, misc, "%s", misc->name);
	if (IS_ERR(misc->this_device)) {
		cdev_del(&misc->cdev);
		return PTR_ERR(misc->this_device);
	}
	misc->minor = minor;
	list_add_tail(&misc->list, &misc_devices);
	return 0;
}

int misc_register(struct miscdevice *misc)
{
	int err;

	mutex_lock(&misc_mutex);
	err = choose_minor(misc);
	if (err >= 0)
		err = add_misc(misc, err);
	mutex_unlock(&misc_mutex);
	return err;
}
EXPORT_SYMBOL(misc_register);

void misc_deregister(struct miscdevice *misc)
{
	mutex_lock(&misc_mutex);
	list_del(&misc->list);
	device_destroy(NULL, MKDEV(MISC_MAJOR, misc->minor));
	cdev_del(&misc->cdev);
	mutex_unlock(&misc_mutex);
}
EXPORT_SYMBOL(misc_deregister);

static unsigned show_misc_devices(struct seq_file *m)
{
	const struct miscdevice *misc;
	unsigned n = 0;

	mutex_lock(&misc_mutex);
	list_for_each_entry(misc, &misc_devices, list) {
		n++;
		if (m)
			seq_printf(m, "%3d %s\n", misc->minor, misc->name);
	}
	mutex_unlock(&misc_mutex);
	return n;
}

static int misc_init(void)
{
	misc_devices_show = show_misc_devices;
	return 0;
}
fs_initcall(misc_init);
