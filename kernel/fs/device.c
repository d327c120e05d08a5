/* Devices with their nodes in /dev (<fs/device.h>). */
#include "internal.h"

#include <fs/device.h>
#include <fs/libfs.h>
#include <kernel/export.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

static DEFINE_MUTEX(device_mutex);
static LIST_HEAD(device_list); /* [device_mutex] */

struct class *class_create(const char *name)
{
	struct class *class = kzalloc(sizeof(*class), GFP_KERNEL);

	if (!class)
		return ERR_PTR(-ENOMEM);
	class->name = name;
	return class;
}
EXPORT_SYMBOL(class_create);

void class_destroy(const struct class *class)
{
	if (!IS_ERR(class))
		kfree(class);
}
EXPORT_SYMBOL(class_destroy);

/* Takes dev over. */
static struct device *add_device(struct device *dev, mode_t mode)
{
	int err;

	if (dev->class && dev->class->devnode)
		dev->class->devnode(dev, &mode);
	mutex_lock(&device_mutex);
	err = devtmpfs_create_node(dev->name, mode, dev->devt);
	if (!err)
		list_add_tail(&dev->list, &device_list);
	mutex_unlock(&device_mutex);
	if (!err)
		return dev;
	kfree(dev);
	return ERR_PTR(err);
}

/*
 * A name that does not fit is refused, not cut: two cut names could be the same. Returns the device or an error
 * pointer; errors of add_device().
 */
static struct device *make_device(const struct class *class, struct device *parent, dev_t devt, mode_t mode,
				  void *drvdata, const char *fmt, va_list args)
{
	struct device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->class = class;
	dev->parent = parent;
	dev->devt = devt;
	dev->driver_data = drvdata;
	if (vsnprintf(dev->name, sizeof(dev->name), fmt, args) < sizeof(dev->name))
		return add_device(dev, mode);
	kfree(dev);
	return ERR_PTR(-ENAMETOOLONG);
}

struct device *device_create(const struct class *class, struct device *parent, dev_t devt, void *drvdata,
			     const char *fmt, ...)
{
	struct device *dev;
	va_list args;

	va_start(args, fmt);
	dev = make_device(class, parent, devt, 0600, drvdata, fmt, args);
	va_end(args);
	return dev;
}
EXPORT_SYMBOL(device_create);

struct device *device_create_mode(const struct class *class, dev_t devt, mode_t mode, void *drvdata, const char *fmt,
				  ...)
{
	struct device *dev;
	va_list args;

	va_start(args, fmt);
	dev = make_device(class, NULL, devt, mode, drvdata, fmt, args);
	va_end(args);
	return dev;
}

/* [device_mutex] */
static struct device *device_of(const struct class *class, dev_t devt)
{
	struct device *dev;

	list_for_each_entry(dev, &device_list, list)
		if (dev->class == class && dev->devt == devt)
			return dev;
	return NULL;
}

void device_destroy(const struct class *class, dev_t devt)
{
	struct device *dev;

	mutex_lock(&device_mutex);
	dev = device_of(class, devt);
	if (dev) {
		devtmpfs_delete_node(dev->name, devt);
		list_del(&dev->list);
	}
	mutex_unlock(&device_mutex);
	kfree(dev);
}
EXPORT_SYMBOL(device_destroy);
