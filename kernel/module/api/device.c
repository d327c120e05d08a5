/*
 * Devices (<fs/device.h>): their nodes in /dev, and in /sys what programs look there for: /sys/class/CLASS/DEVICE leads
 * to /sys/devices/virtual/CLASS/DEVICE, with the files `dev` and `uevent`. Devices without a class are in /dev alone.
 */
#include "../../fs/internal.h"

#include <fs/device.h>
#include <fs/libfs.h>
#include <fs/text_file.h>
#include <kernel/export.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

static DEFINE_MUTEX(device_mutex);
static LIST_HEAD(device_list); /* [device_mutex] */

/* What is behind a class and a device of <fs/device.h>. Locks: I immutable once made. */
struct owned_class {
	struct class class;
	struct dentry *dir;	/* [I] /sys/class/NAME: a link for each device */
	struct dentry *devices; /* [I] /sys/devices/virtual/NAME: a directory for each device */
};
struct owned_device {
	struct device dev;
	struct dentry *dir, *link; /* [I] NULL: it has no class */
};

/* ---- /sys */

/* What the files of a device show. It belongs to their inodes, as a file may be open when the device goes. */
struct device_text {
	dev_t devt;
	char name[sizeof(((struct device *)NULL)->name)];
};

static int device_dev_show(struct seq_file *m, void *data)
{
	const struct device_text *text = data;

	seq_printf(m, "%u:%u\n", MAJOR(text->devt), MINOR(text->devt));
	return 0;
}

static int device_uevent_show(struct seq_file *m, void *data)
{
	const struct device_text *text = data;

	seq_printf(m, "MAJOR=%u\nMINOR=%u\nDEVNAME=%s\n", MAJOR(text->devt), MINOR(text->devt), text->name);
	return 0;
}
static const struct text_kind device_kind = {.owns_data = true};
static const struct text_file device_files[] = {
	{.path = "dev", .mode = 0444, .show = device_dev_show, .kind = &device_kind},
	{.path = "uevent", .mode = 0444, .show = device_uevent_show, .kind = &device_kind},
};

/*
 * A directory of this name in /sys/PARENT/BELOW, or in /sys/PARENT when `below` is NULL. ERR_PTR: -EEXIST; -ENOENT:
 * there is no BELOW; -ENOMEM.
 */
static struct dentry *make_dir_in(const char *parent, const char *below, const char *name)
{
	struct dentry *top = single_fs_dir("sysfs", parent), *at = top, *dir;

	if (IS_ERR(top))
		return top;
	if (below)
		at = d_find_child(top, below, strlen(below));
	dir = at ? simple_create_dir(at, name, 0755, NULL) : ERR_PTR(-ENOENT);
	if (at && below)
		dput(at);
	dput(top);
	return dir;
}

/* The directory with its files, and the link of the class. What was made before an error stays for hide_device(). */
static int show_device(struct owned_device *own)
{
	const struct owned_class *class = container_of(own->dev.class, struct owned_class, class);
	struct device_text text = {.devt = own->dev.devt};
	char name[sizeof(text.name)], target[96];
	struct dentry *d;

	strscpy(text.name, own->dev.name, sizeof(text.name));
	strscpy(name, own->dev.name, sizeof(name));
	for (char *slash = strchr(name, '/'); slash; slash = strchr(name, '/'))
		*slash = '!'; /* as in Linux: a folder of /dev is none in /sys */
	d = simple_create_dir(class->devices, name, 0755, NULL);
	if (IS_ERR(d))
		return PTR_ERR(d);
	own->dir = d;
	for (unsigned i = 0; i < ARRAY_SIZE(device_files); i++) {
		const struct text_file *file = &device_files[i];
		struct device_text *copy = kmemdup(&text, sizeof(text), GFP_KERNEL);

		d = copy ? text_file_attach_as(own->dir, file->path, file->mode, file, copy) : ERR_PTR(-ENOMEM);
		if (IS_ERR(d))
			return PTR_ERR(d);
	}
	snprintf(target, sizeof(target), "../../devices/virtual/%s/%s", class->class.name, name);
	d = simple_create_symlink(class->dir, name, target);
	if (!IS_ERR(d))
		own->link = d;
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}

static void hide_device(struct owned_device *own)
{
	if (own->link)
		simple_remove(own->link);
	if (own->dir)
		simple_remove(own->dir);
}

/* ---- Classes */

/* Two directories: one for links to the devices of the class, and one in which the devices themselves are shown. */
struct class *class_create(const char *name)
{
	struct owned_class *own = kzalloc(sizeof(*own), GFP_KERNEL);
	int err;

	if (!own)
		return ERR_PTR(-ENOMEM);
	own->class.name = name;
	own->dir = make_dir_in("class", NULL, name);
	if (IS_ERR(own->dir)) {
		err = PTR_ERR(own->dir);
		goto free_class;
	}
	own->devices = make_dir_in("devices", "virtual", name);
	if (!IS_ERR(own->devices))
		return &own->class;
	err = PTR_ERR(own->devices);
	simple_remove(own->dir);
free_class:
	kfree(own);
	return ERR_PTR(err);
}
EXPORT_SYMBOL(class_create);

void class_destroy(const struct class *class)
{
	struct owned_class *own = container_of(class, struct owned_class, class);

	if (IS_ERR(class) || !class)
		return;
	simple_remove(own->dir);
	simple_remove(own->devices);
	kfree(own);
}
EXPORT_SYMBOL(class_destroy);

/* ---- Devices */

/* Takes `own` over. The node comes last, so a program that finds it finds the device in /sys as well. */
static struct device *device_publish(struct owned_device *own, mode_t mode)
{
	struct device *dev = &own->dev;
	int err;

	if (dev->class && dev->class->devnode)
		dev->class->devnode(dev, &mode);
	mutex_lock(&device_mutex);
	err = dev->class ? show_device(own) : 0;
	if (!err)
		err = devtmpfs_create_node(dev->name, mode, dev->devt);
	if (!err)
		list_add_tail(&dev->list, &device_list);
	else
		hide_device(own);
	mutex_unlock(&device_mutex);
	if (!err)
		return dev;
	kfree(own);
	return ERR_PTR(err);
}

/*
 * A name that does not fit is refused, not cut: two cut names could be the same. Returns the device or an error
 * pointer; errors of device_publish().
 */
static struct device *device_make(const struct class *class, struct device *parent, dev_t devt, mode_t mode,
				  void *drvdata, const char *fmt, va_list args)
{
	struct owned_device *own = kzalloc(sizeof(*own), GFP_KERNEL);
	struct device *dev = &own->dev;

	if (!own)
		return ERR_PTR(-ENOMEM);
	dev->class = class;
	dev->parent = parent;
	dev->devt = devt;
	dev->driver_data = drvdata;
	if (vsnprintf(dev->name, sizeof(dev->name), fmt, args) < sizeof(dev->name))
		return device_publish(own, mode);
	kfree(own);
	return ERR_PTR(-ENAMETOOLONG);
}

struct device *device_create(const struct class *class, struct device *parent, dev_t devt, void *drvdata,
			     const char *fmt, ...)
{
	struct device *dev;
	va_list args;

	va_start(args, fmt);
	dev = device_make(class, parent, devt, 0600, drvdata, fmt, args);
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
	dev = device_make(class, NULL, devt, mode, drvdata, fmt, args);
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
		hide_device(container_of(dev, struct owned_device, dev));
		list_del(&dev->list);
	}
	mutex_unlock(&device_mutex);
	if (dev)
		kfree(container_of(dev, struct owned_device, dev));
}
EXPORT_SYMBOL(device_destroy);

static const struct text_file class_directory = {.path = "class", .mode = S_IFDIR | 0755};
REGISTER_SYSFS(class_directory);
static const struct text_file virtual_directory = {.path = "devices/virtual", .mode = S_IFDIR | 0755};
REGISTER_SYSFS(virtual_directory);
