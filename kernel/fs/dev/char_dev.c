/*
 * Character devices of modules (<fs/cdev.h>): the list of ranges of numbers, and that of devices.
 *
 * An open looks its device up and takes a reference to the module under cdev_mutex [c], which cdev_del() takes, too. A
 * module deletes its devices in its exit, when it gives no reference any more: so an open either has the module before
 * that, and delete_module(2) is refused, or it finds no device.
 */
#include "../internal.h"

#include <fs/cdev.h>
#include <fs/miscdevice.h>
#include <fs/seq_file.h>
#include <kernel/export.h>
#include <kernel/kmod.h>
#include <kernel/module.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/preempt.h>

/* Majors that are given away, from the first one down: Linux's range for local use and dynamic majors. */
#define FIRST_DYNAMIC 254
#define LAST_DYNAMIC  128
#define MAX_MAJOR     511 /* as Linux's; major 0 is that of file systems */

/* A range. Locks: c cdev_mutex; I immutable. */
struct region {
	struct list_head list; /* [c] by number */
	dev_t from;	       /* [I] */
	unsigned count;	       /* [I] */
	struct cdev *cdev;     /* [I] register_chrdev's own; else NULL */
	char name[32];	       /* [I] */
};

static DEFINE_MUTEX(cdev_mutex);
static LIST_HEAD(regions); /* [c] */
static LIST_HEAD(cdevs);   /* [c] */

/* ---- Ranges */

static bool overlap(dev_t a, unsigned count_a, dev_t b, unsigned count_b)
{
	return a < b + count_b && b < a + count_a;
}

/* Does a device of the kernel itself have a number of this major? */
static bool is_major_of_kernel(unsigned major)
{
	const struct device_node *dev;

	for (unsigned at = 0; (dev = device_next(&at));)
		if (MAJOR(dev->rdev) == major)
			return true;
	return false;
}

/* [c] */
static bool region_taken(dev_t from, unsigned count)
{
	const struct region *r;

	list_for_each_entry(r, &regions, list)
		if (overlap(from, count, r->from, r->count))
			return true;
	return false;
}

/* [c] 0: there is none */
static unsigned free_major(void)
{
	for (unsigned major = FIRST_DYNAMIC; major >= LAST_DYNAMIC; major--)
		if (!is_major_of_kernel(major) && !region_taken(MKDEV(major, 0), 1U << MINORBITS))
			return major;
	return 0;
}

/* [c] In the order of numbers. 0 or -EBUSY. */
static int insert_region(struct region *r)
{
	struct region *other;

	if (is_major_of_kernel(MAJOR(r->from)) || region_taken(r->from, r->count))
		return -EBUSY;
	list_for_each_entry(other, &regions, list)
		if (other->from > r->from)
			break;
	list_add_tail(&r->list, &other->list);
	return 0;
}

/* major 0: a free one. The number where it begins is *dev. */
static int add_region(unsigned major, unsigned minor, unsigned count, const char *name, struct cdev *cdev, dev_t *dev)
{
	struct region *r;
	int err = -EBUSY;

	if (major > MAX_MAJOR || !count || minor >= 1U << MINORBITS || count > (1U << MINORBITS) - minor)
		return -EINVAL;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	strscpy(r->name, name, sizeof(r->name));
	r->count = count;
	r->cdev = cdev;
	mutex_lock(&cdev_mutex);
	if (!major)
		major = free_major();
	r->from = MKDEV(major, minor);
	if (major)
		err = insert_region(r);
	mutex_unlock(&cdev_mutex);
	*dev = MKDEV(major, minor);
	if (err)
		kfree(r);
	return err;
}

int register_chrdev_region(dev_t from, unsigned count, const char *name)
{
	return MAJOR(from) ? add_region(MAJOR(from), MINOR(from), count, name, NULL, &from) : -EINVAL;
}
EXPORT_SYMBOL(register_chrdev_region);

int alloc_chrdev_region(dev_t *dev, unsigned first_minor, unsigned count, const char *name)
{
	return add_region(0, first_minor, count, name, NULL, dev);
}
EXPORT_SYMBOL(alloc_chrdev_region);

/* Returns the device that register_chrdev() has made for it. */
static struct cdev *remove_region(dev_t from, unsigned count)
{
	struct cdev *cdev = NULL;
	struct region *r, *next;

	mutex_lock(&cdev_mutex);
	list_for_each_entry_safe(r, next, &regions, list)
		if (r->from == from && r->count == count) {
			cdev = r->cdev;
			list_del(&r->list);
			kfree(r);
		}
	mutex_unlock(&cdev_mutex);
	return cdev;
}

void unregister_chrdev_region(dev_t from, unsigned count)
{
	remove_region(from, count);
}
EXPORT_SYMBOL(unregister_chrdev_region);

unsigned (*misc_devices_show)(struct seq_file *m);

/* A major is shown once for each name that it has, as in Linux. */
void chrdev_show(struct seq_file *m)
{
	const struct region *r;

	mutex_lock(&cdev_mutex);
	list_for_each_entry(r, &regions, list)
		seq_printf(m, "%3u %s\n", MAJOR(r->from), r->name);
	mutex_unlock(&cdev_mutex);
}

/* ---- Devices */

void cdev_init(struct cdev *cdev, const struct file_operations *fops)
{
	*cdev = (struct cdev){.ops = fops};
}
EXPORT_SYMBOL(cdev_init);

struct cdev *cdev_alloc(void)
{
	struct cdev *cdev = kzalloc(sizeof(*cdev), GFP_KERNEL);

	if (cdev)
		cdev->allocated = true;
	return cdev;
}
EXPORT_SYMBOL(cdev_alloc);

/* [c] */
static struct cdev *find_cdev(dev_t dev, unsigned count)
{
	struct cdev *cdev;

	list_for_each_entry(cdev, &cdevs, list)
		if (overlap(dev, count, cdev->dev, cdev->count))
			return cdev;
	return NULL;
}

/* From here on opens find the device. -EINVAL: no numbers or no operations; -EBUSY: one of the numbers has a device. */
int cdev_add(struct cdev *cdev, dev_t dev, unsigned count)
{
	int err = 0;

	if (!count || !cdev->ops)
		return -EINVAL;
	mutex_lock(&cdev_mutex);
	if (find_cdev(dev, count)) {
		err = -EBUSY;
	} else {
		cdev->dev = dev;
		cdev->count = count;
		list_add(&cdev->list, &cdevs);
	}
	mutex_unlock(&cdev_mutex);
	return err;
}
EXPORT_SYMBOL(cdev_add);

void cdev_del(struct cdev *cdev)
{
	mutex_lock(&cdev_mutex);
	if (cdev->count)
		list_del(&cdev->list);
	cdev->count = 0;
	mutex_unlock(&cdev_mutex);
	if (cdev->allocated)
		kfree(cdev);
}
EXPORT_SYMBOL(cdev_del);

/* All 256 minors of a major, which may be 0: then the free one that is found is returned. -ENOMEM, -EBUSY, -EINVAL. */
int register_chrdev(unsigned major, const char *name, const struct file_operations *fops)
{
	struct cdev *cdev = cdev_alloc();
	dev_t dev;
	int err;

	if (!cdev)
		return -ENOMEM;
	cdev->ops = fops;
	err = add_region(major, 0, 256, name, cdev, &dev);
	if (err) {
		kfree(cdev);
		return err;
	}
	err = cdev_add(cdev, dev, 256);
	if (!err)
		return major ? 0 : MAJOR(dev);
	remove_region(dev, 256);
	kfree(cdev);
	return err;
}
EXPORT_SYMBOL(register_chrdev);

void unregister_chrdev(unsigned major, const char *name)
{
	struct cdev *cdev = remove_region(MKDEV(major, 0), 256);

	if (cdev)
		cdev_del(cdev);
}
EXPORT_SYMBOL(unregister_chrdev);

/* ---- Opening */

/* Take the module whose code the device runs. False: it is on its way out. */
static bool get_owner(const struct cdev *cdev, struct module **owner)
{
	bool there;

	*owner = cdev->ops->owner ?: cdev->owner;
	preempt_disable(); /* a module that is found by its address stays as long */
	if (!*owner)
		*owner = __module_address((unsigned long)cdev->ops);
	there = try_module_get(*owner);
	preempt_enable();
	if (!there)
		*owner = NULL;
	return there;
}

/* [c] Everything of the device that the file needs, as it may be deleted at once afterwards. -ENXIO: there is none. */
static int take_cdev(struct inode *inode, struct file *f)
{
	struct cdev *cdev = find_cdev(inode->i_rdev, 1);

	if (!cdev || !get_owner(cdev, &f->f_owner))
		return -ENXIO;
	inode->i_cdev = cdev;
	f->f_op = cdev->ops;
	f->private_data = cdev->private_data;
	return 0;
}

static int find_and_take(struct inode *inode, struct file *f)
{
	int err;

	mutex_lock(&cdev_mutex);
	err = take_cdev(inode, f);
	mutex_unlock(&cdev_mutex);
	return err;
}

/*
 * An open of a node in /dev. What is found takes over the open file: its operations and a reference to its module. A
 * device that no driver has is asked for once, by modprobe, and looked for again; so a node may be older than its
 * driver. -ENXIO: no driver; the driver's own errors.
 */
int cdev_open(struct inode *inode, struct file *f)
{
	int err;

	err = find_and_take(inode, f);
	if (err == -ENXIO) {
		/* Linux's two names for the module of a device: the first is that of one minor. */
		if (request_module("char-major-%u-%u", MAJOR(inode->i_rdev), MINOR(inode->i_rdev)) > 0)
			request_module("char-major-%u", MAJOR(inode->i_rdev));
		err = find_and_take(inode, f);
	}
	if (err)
		return err;
	err = f->f_op->open ? f->f_op->open(inode, f) : 0;
	if (err) { /* f_op is not called any more, not even its release */
		module_put(f->f_owner);
		f->f_owner = NULL;
	}
	return err;
}
