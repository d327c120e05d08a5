/*
 * devtmpfs: the device files of drivers, and the way from a device's number to its operations.
 *
 * The tree is a ramfs. Root may make and remove in it what it likes (mount points, links, nodes), and what drivers add
 * and remove comes and goes beside that. A node finds its driver by its number when it is opened, no matter what made
 * the node.
 *
 * Devices of modules are found by their numbers, too, but in another place (char_dev.c), since they may go with the
 * module; here they only have their nodes. The kernel's own come from two sources: the table of those that are
 * registered at compile time (REGISTER_DEVICE), and the array `added` of those that drivers find at run time. Devices
 * that come before the file system is mounted are made when it is (devfs_populate).
 *
 * Locks: devfs_mutex [m] for changes. Openers read without it: nr_added only grows, and each entry is stored after its
 * contents, with release.
 */
#include "devfs.h"
#include "../internal.h"
#include "../ramfs/ramfs.h"

#include <fs/cdev.h>
#include <fs/libfs.h>
#include <kernel/printk.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

DECLARE_TABLE(devices, const struct device_node);

#define MAX_ADDED 64
/* The devices that were given to device_add. Locks: m devfs_mutex. */
static struct {
	const struct device_node *dev;	  /* [m for changes; release, acquire] NULL: the place is free again */
	const char *alias_folder, *alias; /* [m] NULL: no second name */
} added[MAX_ADDED];
static unsigned nr_added;	     /* [m for changes; read with acquire] only grows */
static struct super_block *devfs_sb; /* [devfs_mutex] NULL: not mounted yet */
static DEFINE_MUTEX(devfs_mutex);

/* The device of this number, or NULL. Any context; no lock. */
static const struct device_node *find_device(dev_t rdev)
{
	const struct device_node *dev;
	unsigned n = smp_load_acquire(&nr_added);

	for (unsigned i = 0; i < n; i++) {
		dev = smp_load_acquire(&added[i].dev);
		if (dev && dev->rdev == rdev)
			return dev;
	}
	for_each_in_table(devices, dev)
		if (dev->rdev == rdev)
			return dev;
	return NULL;
}

/* One position counts through both sources, the compiled table first. */
const struct device_node *device_next(unsigned *at)
{
	const struct device_node *const *table = __start_ptrs_devices;
	unsigned nr = __stop_ptrs_devices - __start_ptrs_devices, n = smp_load_acquire(&nr_added);
	const struct device_node *dev = NULL;

	while (!dev && *at < nr + n) {
		dev = *at < nr ? table[*at] : smp_load_acquire(&added[*at - nr].dev);
		++*at;
	}
	return dev;
}

/*
 * The way from a node to its driver: the first open looks the driver up by the number. From then on the file has the
 * driver's operations, and the driver's open decides. -ENXIO: no driver has this number.
 */
static int chrdev_open(struct inode *inode, struct file *f)
{
	const struct device_node *dev = find_device(inode->i_rdev);

	if (!dev)
		return cdev_open(inode, f);
	f->f_op = dev->fop;
	f->private_data = dev->data;
	return dev->fop->open ? dev->fop->open(inode, f) : 0;
}

static const struct file_operations chrdev_fops = {.open = chrdev_open};

/* A node whose device no driver has registered can exist, but cannot be opened. */
static int no_device_open(struct inode *inode, struct file *f)
{
	return -ENXIO;
}

static const struct file_operations no_device_fops = {.open = no_device_open};

/* Sockets get an inode but cannot be opened. */
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

/*
 * [m] Make a root-owned name in a directory of the tree; a link when `target` is given. 0, -EEXIST (the name is taken)
 * or another -errno.
 */
int devfs_make(struct dentry *dir, const char *name, mode_t mode, dev_t rdev, const char *target)
{
	struct inode *inode = dir->d_inode;
	unsigned len = strlen(name);
	struct dentry *d;
	int err;

	mutex_lock(&inode->i_lock);
	d = lookup_one(dir, name, len, name_hash(name, len));
	if (IS_ERR(d))
		err = PTR_ERR(d);
	else if (d->d_inode)
		err = -EEXIST;
	else if (target)
		err = inode->i_op->symlink(inode, d, target);
	else if (S_ISDIR(mode))
		err = inode->i_op->mkdir(inode, d, mode);
	else
		err = inode->i_op->mknod(inode, d, mode, rdev);
	if (!err)
		d->d_inode->i_uid = d->d_inode->i_gid = 0;
	mutex_unlock(&inode->i_lock);
	if (!IS_ERR(d))
		dput(d);
	return err;
}

/* [m] The node of a device in the root of the tree. 0 or -errno. */
static int devfs_create(const struct device_node *dev)
{
	return devfs_make(devfs_sb->s_root, dev->name, dev->mode, dev->rdev, NULL);
}

/* [m] A folder in the root, made when it is wanted for the first time, with a reference; ERR_PTR. */
static struct dentry *devfs_folder(const char *name)
{
	int err = devfs_make(devfs_sb->s_root, name, S_IFDIR | 0755, 0, NULL);
	struct dentry *d = NULL;

	if (!err || err == -EEXIST)
		d = d_find_child(devfs_sb->s_root, name, strlen(name));
	if (!d)
		return ERR_PTR(err ? err : -ENOENT);
	if (S_ISDIR(d->d_inode->i_mode))
		return d;
	dput(d);
	return ERR_PTR(-ENOTDIR);
}

/* [m] Make the link of the i'th entry, if it has one: its target is the device's name as seen from the folder. */
static int create_alias(unsigned i)
{
	char target[64];
	struct dentry *folder;
	int err;

	if (!added[i].alias)
		return 0;
	folder = devfs_folder(added[i].alias_folder);
	if (IS_ERR(folder))
		return PTR_ERR(folder);
	snprintf(target, sizeof(target), "../%s", added[i].dev->name);
	err = devfs_make(folder, added[i].alias, S_IFLNK, 0, target);
	dput(folder);
	return err;
}

/*
 * [m] Remove a name if it is still what the kernel made: a node of this number or (rdev 0) a link. Root may have put
 * something else in its place, which stays.
 */
void devfs_remove(struct dentry *dir, const char *name, dev_t rdev)
{
	struct inode *inode = dir->d_inode, *victim;
	unsigned len = strlen(name);
	struct dentry *d;

	mutex_lock(&inode->i_lock);
	d = lookup_one(dir, name, len, name_hash(name, len));
	victim = IS_ERR(d) ? NULL : d->d_inode;
	if (victim && (rdev ? S_ISCHR(victim->i_mode) && victim->i_rdev == rdev : S_ISLNK(victim->i_mode)))
		inode->i_op->unlink(inode, d);
	mutex_unlock(&inode->i_lock);
	if (!IS_ERR(d))
		dput(d);
}

/* [m] Remove the link of the i'th entry, if it has one. */
static void remove_alias(unsigned i)
{
	struct dentry *folder;

	if (!added[i].alias)
		return;
	folder = d_find_child(devfs_sb->s_root, added[i].alias_folder, strlen(added[i].alias_folder));
	if (!folder)
		return;
	if (S_ISDIR(folder->d_inode->i_mode))
		devfs_remove(folder, added[i].alias, 0);
	dput(folder);
}

/*
 * [m] The index of a device, or (NULL) of the first free place, which may be the one behind the last; MAX_ADDED when
 * there is no such place.
 */
static unsigned find_added(const struct device_node *dev)
{
	unsigned i = 0;

	while (i < nr_added && added[i].dev != dev)
		i++;
	return dev && i == nr_added ? MAX_ADDED : i;
}

/* The node is made before the entry is stored, so that nothing has to be undone; an open in between finds no device. */
int device_add(const struct device_node *dev)
{
	int err = -ENOSPC;
	unsigned i;

	mutex_lock(&devfs_mutex);
	i = find_added(NULL);
	if (i < MAX_ADDED)
		err = devfs_sb ? devfs_create(dev) : 0;
	if (!err) {
		added[i].alias = NULL;
		smp_store_release(&added[i].dev, dev);
		if (i == nr_added)
			smp_store_release(&nr_added, nr_added + 1);
	}
	mutex_unlock(&devfs_mutex);
	return err;
}

/*
 * The strings are kept by pointer, so they must last as long as the device. Before the first mount the alias is only
 * noted, and devfs_populate() makes the link.
 */
int device_alias(const struct device_node *dev, const char *folder, const char *name)
{
	int err = -ENODEV;
	unsigned i;

	mutex_lock(&devfs_mutex);
	i = find_added(dev);
	if (i < MAX_ADDED) {
		added[i].alias_folder = folder;
		added[i].alias = name;
		err = devfs_sb ? create_alias(i) : 0;
		if (err)
			added[i].alias = NULL;
	}
	mutex_unlock(&devfs_mutex);
	return err;
}

/* The name goes before the entry, so that no new open finds it. */
void device_remove(const struct device_node *dev)
{
	unsigned i;

	mutex_lock(&devfs_mutex);
	i = find_added(dev);
	if (i < MAX_ADDED) {
		if (devfs_sb) {
			remove_alias(i);
			devfs_remove(devfs_sb->s_root, dev->name, dev->rdev);
		}
		smp_store_release(&added[i].dev, NULL);
	}
	mutex_unlock(&devfs_mutex);
}

/* The name without its folder, and the folder, with a reference, which is made if `make`; ERR_PTR. [m] */
static struct dentry *split_name(const char **name, bool make)
{
	const char *slash = strchr(*name, '/');
	struct dentry *folder;
	char text[32];

	if (!slash)
		return dget(devfs_sb->s_root);
	if (slash - *name >= sizeof(text))
		return ERR_PTR(-ENAMETOOLONG);
	strscpy(text, *name, slash - *name + 1);
	*name = slash + 1;
	if (make)
		return devfs_folder(text);
	folder = d_find_child(devfs_sb->s_root, text, strlen(text));
	return folder ?: ERR_PTR(-ENOENT);
}

/*
 * A character device in /dev, with the folders of its name, which are made as needed. Before the file system is mounted
 * for the first time there is nothing to do it in, and single_super() makes it. 0, -ENOMEM, -EEXIST, -ENOENT. Thread
 * context.
 */
int devtmpfs_create_node(const char *name, mode_t mode, dev_t rdev)
{
	struct super_block *sb = single_super("devtmpfs");
	struct dentry *folder;
	int err;

	if (IS_ERR(sb))
		return PTR_ERR(sb);
	mutex_lock(&devfs_mutex);
	folder = split_name(&name, true);
	err = IS_ERR(folder) ? PTR_ERR(folder) : devfs_make(folder, name, S_IFCHR | (mode & 07777), rdev, NULL);
	if (!IS_ERR(folder))
		dput(folder);
	mutex_unlock(&devfs_mutex);
	return err;
}

void devtmpfs_delete_node(const char *name, dev_t rdev)
{
	struct dentry *folder;

	mutex_lock(&devfs_mutex);
	folder = split_name(&name, false);
	if (!IS_ERR(folder)) {
		devfs_remove(folder, name, rdev);
		dput(folder);
	}
	mutex_unlock(&devfs_mutex);
}

/* Links that every /dev has besides devices. */
static const struct {
	const char *name, *target;
} dev_links[] = {
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
};

/*
 * [m] The first mount: make the nodes of all devices so far, and the links. A second name that cannot be made is only
 * reported.
 */
static int devfs_populate(void)
{
	const struct device_node *dev;
	int err = 0;

	for_each_in_table(devices, dev)
		if (!err)
			err = devfs_create(dev);
	for (unsigned i = 0; i < nr_added && !err; i++) {
		if (!added[i].dev)
			continue;
		err = devfs_create(added[i].dev);
		if (!err && create_alias(i))
			pr_warn("devtmpfs: no second name %s for %s\n", added[i].alias, added[i].dev->name);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(dev_links) && !err; i++)
		err = devfs_make(devfs_sb->s_root, dev_links[i].name, S_IFLNK, 0, dev_links[i].target);
	return err;
}

/*
 * devfs_sb is set under the lock together with the nodes, so a driver's device_add comes either before and is found in
 * the table, or after and makes its node itself.
 */
static int devfs_fill_super(struct super_block *sb, const char *options)
{
	int err = ramfs_fill_super(sb, options);

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
