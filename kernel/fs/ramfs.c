/* ramfs: directories, links and nodes that live in memory. The root file system, and tmpfs. */
#include "internal.h"
#include "ramfs.h"

#include <fs/libfs.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

static const struct inode_operations ramfs_dir_iops;
static const struct file_operations ramfs_dir_fops = {.iterate = dcache_readdir};

static const char *ramfs_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	return inode->i_private;
}

static const struct inode_operations ramfs_link_iops = {.get_link = ramfs_get_link};
static const struct inode_operations ramfs_node_iops; /* nothing special can be done with a device or fifo */

static struct inode *ramfs_inode(struct super_block *sb, mode_t mode, dev_t dev)
{
	struct inode *inode = new_inode(sb, mode);

	if (!inode)
		return NULL;
	switch (mode & S_IFMT) {
	case S_IFDIR:
		inode->i_op = &ramfs_dir_iops;
		inode->i_fop = &ramfs_dir_fops;
		break;
	case S_IFLNK:
		inode->i_op = &ramfs_link_iops;
		break;
	case S_IFREG:
		if (ramfs_init_file(inode)) {
			iput(inode);
			return NULL;
		}
		break;
	default:
		inode->i_op = &ramfs_node_iops;
		init_special_inode(inode, mode, dev);
	}
	return inode;
}

static void touch_dir(struct inode *dir)
{
	dir->i_mtime = dir->i_ctime = inode_now();
}

/* The dentry is the file's only home, so it is pinned until unlink. [i_lock of dir] */
static void ramfs_attach(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	d_add(dentry, inode);
	d_pin(dentry);
	dir->i_size += 20; /* as tmpfs counts entries */
	touch_dir(dir);
}

static int ramfs_mknod(struct inode *dir, struct dentry *dentry, mode_t mode, dev_t dev)
{
	struct inode *inode = ramfs_inode(dir->i_sb, mode, dev);

	if (!inode)
		return -ENOMEM;
	ramfs_attach(dir, dentry, inode);
	return 0;
}

static int ramfs_create(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	return ramfs_mknod(dir, dentry, mode, 0);
}

static int ramfs_mkdir(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	int err = ramfs_mknod(dir, dentry, mode, 0);

	if (!err)
		dir->i_nlink++;
	return err;
}

static int ramfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct inode *inode = ramfs_inode(dir->i_sb, S_IFLNK | 0777, 0);

	if (!inode)
		return -ENOMEM;
	inode->i_size = strlen(target);
	inode->i_private = kstrdup(target, GFP_KERNEL);
	if (!inode->i_private) {
		iput(inode);
		return -ENOMEM;
	}
	ramfs_attach(dir, dentry, inode);
	return 0;
}

static int ramfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->d_inode;

	__atomic_fetch_add(&inode->i_nlink, 1,
			   __ATOMIC_RELAXED); /* names in other directories change it too */
	inode->i_ctime = inode_now();
	ihold(inode);
	ramfs_attach(dir, dentry, inode);
	return 0;
}

/* A name goes; its file goes with the last name and the last user. [i_lock of dir] */
static void ramfs_detach(struct inode *dir, struct inode *inode)
{
	__atomic_fetch_sub(&inode->i_nlink, 1, __ATOMIC_RELAXED);
	inode->i_ctime = inode_now();
	dir->i_size -= 20;
	touch_dir(dir);
}

static int ramfs_unlink(struct inode *dir, struct dentry *dentry)
{
	ramfs_detach(dir, dentry->d_inode);
	d_delete(dentry);
	return 0;
}

/* [i_lock of dir and of the victim] nlink 0 tells look-ups that nothing can be made in it any more. */
static int ramfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	if (d_has_children(dentry))
		return -ENOTEMPTY;
	ramfs_detach(dir, dentry->d_inode);
	dentry->d_inode->i_nlink = 0;
	dir->i_nlink--;
	d_delete(dentry);
	return 0;
}

/* [both i_locks, and a victim directory's] The caller moves the names. */
static int ramfs_rename(struct inode *olddir, struct dentry *old, struct inode *newdir, struct dentry *new)
{
	bool is_dir = S_ISDIR(old->d_inode->i_mode);
	struct inode *victim = new->d_inode;

	if (victim && is_dir && d_has_children(new))
		return -ENOTEMPTY;
	if (victim) {
		ramfs_detach(newdir, victim);
		if (is_dir) {
			victim->i_nlink = 0;
			newdir->i_nlink--;
		}
	}
	if (is_dir) {
		olddir->i_nlink--;
		newdir->i_nlink++;
	}
	olddir->i_size -= 20;
	newdir->i_size += 20;
	touch_dir(olddir);
	touch_dir(newdir);
	old->d_inode->i_ctime = inode_now();
	return 0;
}

/* What is not in the cache does not exist: remember that. */
static int ramfs_lookup(struct inode *dir, struct dentry *dentry)
{
	d_add(dentry, NULL);
	return 0;
}

static const struct inode_operations ramfs_dir_iops = {
	.lookup = ramfs_lookup,
	.create = ramfs_create,
	.mkdir = ramfs_mkdir,
	.mknod = ramfs_mknod,
	.symlink = ramfs_symlink,
	.link = ramfs_link,
	.unlink = ramfs_unlink,
	.rmdir = ramfs_rmdir,
	.rename = ramfs_rename,
};

static void ramfs_evict(struct inode *inode)
{
	if (S_ISREG(inode->i_mode))
		ramfs_free_file(inode);
	else if (S_ISLNK(inode->i_mode))
		kfree(inode->i_private);
}

static int ramfs_show_options(struct seq_file *m, struct super_block *sb)
{
	const struct ramfs_usage *usage = sb->s_fs_info;

	if (usage->limit != U64_MAX)
		seq_printf(m, ",size=%luk", (unsigned long)usage->limit * (PAGE_SIZE / 1024));
	return 0;
}

static void ramfs_put_super(struct super_block *sb)
{
	kfree(sb->s_fs_info);
}

/* Free: what neither its own limit nor the machine forbids. */
static void ramfs_statfs(const struct super_block *sb, struct statfs *to)
{
	struct ramfs_usage *usage = sb->s_fs_info;
	u64 pages = atomic64_read(&usage->pages), room = usage->limit - min_t(u64, pages, usage->limit);

	to->f_blocks = min_t(u64, usage->limit, totalram_pages());
	to->f_bfree = to->f_bavail = min_t(u64, room, nr_free_pages());
}

static const struct super_operations ramfs_super_ops = {
	.evict_inode = ramfs_evict,
	.show_options = ramfs_show_options,
	.put_super = ramfs_put_super,
	.statfs = ramfs_statfs,
};

/* Bytes, with a unit or not, or a share of memory; rounded up to pages. 0: no size, or one that nothing fits into. */
static u64 parse_size(const char *text)
{
	char *end;
	u64 bytes = memparse(text, &end);

	if (*end == '%' && bytes <= 100) {
		bytes = totalram_pages() * bytes / 100 * PAGE_SIZE;
		end++;
	}
	return *end || end == text || bytes > (u64)1 << 62 ? 0 : DIV_ROUND_UP(bytes, PAGE_SIZE);
}

/* mode=, the root directory's permissions, and, of tmpfs, size=: what files may have together. */
static int ramfs_option(struct super_block *sb, const char *option, mode_t *mode)
{
	struct ramfs_usage *usage = sb->s_fs_info;
	unsigned v;

	if (!strncmp(option, "mode=", 5)) {
		if (kstrtouint(option + 5, 8, &v) || v > 07777)
			return -EINVAL;
		*mode = v;
		return 0;
	}
	if (strncmp(option, "size=", 5) || strcmp(sb->s_type->name, "tmpfs"))
		return -EINVAL;
	usage->limit = parse_size(option + 5);
	return usage->limit ? 0 : -EINVAL;
}

static int ramfs_options(struct super_block *sb, const char *options, mode_t *mode)
{
	char *copy = kstrdup(options, GFP_KERNEL), *rest = copy, *option;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (option = strsep(&rest, ",")))
		if (*option)
			err = ramfs_option(sb, option, mode);
	kfree(copy);
	return err;
}

static int ramfs_fill_super(struct super_block *sb, const char *options)
{
	struct ramfs_usage *usage = kzalloc(sizeof(*usage), GFP_KERNEL);
	mode_t mode = 0755;
	int err;

	if (!usage)
		return -ENOMEM;
	usage->limit = U64_MAX;
	sb->s_fs_info = usage;
	sb->s_op = &ramfs_super_ops;
	sb->s_magic = TMPFS_MAGIC;
	err = ramfs_options(sb, options, &mode);
	if (err)
		return err;
	sb->s_root = d_make_root(sb, ramfs_inode(sb, S_IFDIR | mode, 0));
	return sb->s_root ? 0 : -ENOMEM;
}

static const struct file_system_type rootfs_type = {
	.name = "rootfs", .nodev = true, .fill_super = ramfs_fill_super};
static const struct file_system_type ramfs_type = {
	.name = "ramfs", .nodev = true, .fill_super = ramfs_fill_super};
static const struct file_system_type tmpfs_type = {
	.name = "tmpfs", .nodev = true, .fill_super = ramfs_fill_super};
REGISTER_FILESYSTEM(rootfs_type);
REGISTER_FILESYSTEM(ramfs_type);
REGISTER_FILESYSTEM(tmpfs_type);
