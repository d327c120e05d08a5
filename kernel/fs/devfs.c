/* devtmpfs: the device files of drivers, and from a device's number to its operations. */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/printk.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

DECLARE_TABLE(devices, const struct device_node);

#define MAX_ADDED 64
static const struct device_node *added[MAX_ADDED]; /* [devfs_mutex for changes] by device_add */
static unsigned nr_added;			   /* [devfs_mutex for changes; read with acquire] */
static struct super_block *devfs_sb;		   /* [devfs_mutex] NULL: not mounted yet */
static DEFINE_MUTEX(devfs_mutex);

static const struct device_node *find_device(dev_t rdev)
{
	const struct device_node *dev;
	unsigned n = smp_load_acquire(&nr_added);

	for (unsigned i = 0; i < n; i++)
		if (added[i]->rdev == rdev)
			return added[i];
	for_each_in_table(devices, dev) if (dev->rdev == rdev) return dev;
	return NULL;
}

/* A device file made by mknod finds its driver when it is opened. */
static int chrdev_open(struct inode *inode, struct file *f)
{
	const struct device_node *dev = find_device(inode->i_rdev);

	if (!dev)
		return -ENXIO;
	f->f_op = dev->fop;
	f->private_data = dev->data;
	return dev->fop->open ? dev->fop->open(inode, f) : 0;
}

static const struct file_operations chrdev_fops = {.open = chrdev_open};

static int no_device_open(struct inode *inode, struct file *f)
{
	return -ENXIO;
}

static const struct file_operations no_device_fops = {.open = no_device_open};

void init_special_inode(struct inode *inode, mode_t mode, dev_t rdev)
{
	inode->i_rdev = rdev;
	if (S_ISCHR(mode))
		inode->i_fop = &chrdev_fops;
	else if (S_ISFIFO(mode))
		inode->i_fop = &fifo_fops;
	else
		inode->i_fop = &no_device_fops; /* there are no block devices; sockets are not opened */
}

static int devfs_create(const struct device_node *dev)
{
	struct dentry *d =
		simple_create_file(devfs_sb->s_root, dev->name, dev->mode, &chrdev_fops, dev->data);

	if (IS_ERR(d))
		return PTR_ERR(d);
	d->d_inode->i_rdev = dev->rdev;
	return 0;
}

int device_add(const struct device_node *dev)
{
	int err = -ENOSPC;

	mutex_lock(&devfs_mutex);
	if (nr_added < MAX_ADDED) {
		added[nr_added] = dev;
		smp_store_release(&nr_added, nr_added + 1);
		err = devfs_sb ? devfs_create(dev) : 0;
	}
	mutex_unlock(&devfs_mutex);
	return err;
}

/* What every /dev has besides devices. */
static const struct {
	const char *name, *target;
} dev_links[] = {
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
};

static int devfs_populate(void)
{
	const struct device_node *dev;
	int err = 0;

	for_each_in_table(devices, dev) if (!err) err = devfs_create(dev);
	for (unsigned i = 0; i < nr_added && !err; i++)
		err = devfs_create(added[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(dev_links) && !err; i++) {
		struct dentry *d =
			simple_create_symlink(devfs_sb->s_root, dev_links[i].name, dev_links[i].target);

		err = IS_ERR(d) ? PTR_ERR(d) : 0;
	}
	return err;
}

static int devfs_fill_super(struct super_block *sb, const char *options)
{
	int err = simple_fill_super(sb, TMPFS_MAGIC, 0755, NULL);

	if (err)
		return err;
	mutex_lock(&devfs_mutex);
	devfs_sb = sb;
	err = devfs_populate();
	if (err)
		devfs_sb = NULL;
	mutex_unlock(&devfs_mutex);
	return err;
}

static const struct file_system_type devtmpfs = {
	.name = "devtmpfs", .single = true, .nodev = true, .fill_super = devfs_fill_super};
REGISTER_FILESYSTEM(devtmpfs);
