/*
 * Character devices of modules: ranges of numbers, and which operations a number leads to (kernel/fs/dev/char_dev.c).
 * register_chrdev() is both at once; the nodes in /dev are device_create()'s (<fs/device.h>).
 *
 * An open file holds the module whose operations it uses: fops->owner, else cdev->owner, else the module in whose
 * memory the operations lie. So a module with an open device cannot be unloaded (-EWOULDBLOCK), and an open that comes
 * when it is on its way out finds no device (-ENXIO).
 *
 * Thread context, all of it.
 */
#pragma once

#include <fs/libfs.h>
#include <fs/vfs.h>

#define MINORBITS 20

/* Locks: c cdev_mutex; u its user, before cdev_add. */
struct cdev {
	struct module *owner;		   /* [u] NULL: see above */
	const struct file_operations *ops; /* [u] */
	struct list_head list;		   /* [c] */
	dev_t dev;			   /* [c] the first number */
	unsigned count;			   /* [c] how many; 0: not added */
	void *private_data;		   /* [u] what file->private_data is before ops->open */
	bool allocated;			   /* [u] cdev_alloc's: cdev_del frees it */
};

/* A struct of the caller's own, before cdev_add(). Any context. */
void cdev_init(struct cdev *cdev, const struct file_operations *fops);
struct cdev *cdev_alloc(void); /* NULL: out of memory */
/* From now on `count` numbers from `dev` on lead to it. 0; -EBUSY: one of them leads elsewhere; -EINVAL. */
int cdev_add(struct cdev *cdev, dev_t dev, unsigned count);
/* They lead nowhere any more. Files that are open stay so. */
void cdev_del(struct cdev *cdev);

/*
 * Numbers, as /proc/devices lists them. alloc_: of a major that is free. 0, -EBUSY: taken; -EINVAL, -ENOMEM. `name` is
 * copied.
 */
int register_chrdev_region(dev_t from, unsigned count, const char *name);
int alloc_chrdev_region(dev_t *dev, unsigned first_minor, unsigned count, const char *name);
void unregister_chrdev_region(dev_t from, unsigned count);
/* Minors 0 to 255 of a major and a device for them. major 0: a free one, which is returned; else 0. -errno. */
int register_chrdev(unsigned major, const char *name, const struct file_operations *fops);
void unregister_chrdev(unsigned major, const char *name);

/* For a node whose number is not the kernel's own. -ENXIO, or what the module's open says. */
int cdev_open(struct inode *inode, struct file *f);
/* Lines of /proc/devices. */
void chrdev_show(struct seq_file *m);

static inline unsigned iminor(const struct inode *inode)
{
	return MINOR(inode->i_rdev);
}
static inline unsigned imajor(const struct inode *inode)
{
	return MAJOR(inode->i_rdev);
}
