/*
 * ramfs: directories, links and nodes that live in memory. It serves as the root file system, as tmpfs, and as the tree
 * of devtmpfs. The dentries are the directory (dcache.c): each is pinned from creation to unlink, and a name that is
 * not in the cache does not exist. ramfs_file.c has the contents of files, ramfs_usage.c the limits.
 *
 * Locks: the operations run with the directory's i_lock held, as <fs/vfs.h> says. i_nlink of a file is atomic, because
 * names in other directories change it too.
 */
#include "../internal.h"
#include "ramfs.h"

#include <fs/libfs.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

static const struct inode_operations ramfs_dir_iops;

static int ramfs_readdir(struct file *f, struct dir_context *ctx)
{
	int err = dcache_readdir(f, ctx);

	file_accessed(f);
	return err;
}

static const struct file_operations ramfs_dir_fops = {.iterate = ramfs_readdir};

/* The text was copied when the link was made, and never changes. */
static const char *ramfs_get_link(struct dentry *dentry, struct inode *inode, char *buf)
{
	return inode->i_private;
}

static const struct inode_operations ramfs_link_iops = {.get_link = ramfs_get_link};
static const struct inode_operations ramfs_node_iops; /* a device or fifo has the general operations only */

/*
 * A node of the file system, counted as one; ramfs_evict() gives back what is taken here, also when a caller drops a
 * half-made inode. ERR_PTR: -ENOSPC, -ENOMEM.
 */
static struct inode *ramfs_inode(struct super_block *sb, mode_t mode, dev_t dev)
{
	struct inode *inode;

	if (!ramfs_charge_inode(sb))
		return ERR_PTR(-ENOSPC);
	inode = new_inode(sb, mode);
	if (!inode) {
		ramfs_uncharge_inode(sb);
		return ERR_PTR(-ENOMEM);
	}
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
			return ERR_PTR(-ENOMEM);
		}
		break;
	default:
		inode->i_op = &ramfs_node_iops;
		init_special_inode(inode, mode, dev);
	}
	return inode;
}

/* Each change of its names is a change of the directory. */
static void touch_dir(struct inode *dir)
{
	dir->i_mtime = dir->i_ctime = inode_now();
}

/* [i_lock of dir] The dentry is the file's only home, so it is pinned until unlink. */
static void ramfs_attach(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	d_add(dentry, inode);
	d_pin(dentry);
	dir->i_size += 20; /* as tmpfs counts entries */
	touch_dir(dir);
}

/* [i_lock of dir] A node of any kind, counted, owned by the caller, and named. 0, -ENOSPC, -ENOMEM. */
static int ramfs_mknod(struct inode *dir, struct dentry *dentry, mode_t mode, dev_t dev)
{
	struct inode *inode = ramfs_inode(dir->i_sb, mode, dev);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	inode_init_owner(inode, dir);
	ramfs_attach(dir, dentry, inode);
	return 0;
}

static int ramfs_create(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	return ramfs_mknod(dir, dentry, mode, 0);
}

/* The new directory's ".." is a link to its parent. */
static int ramfs_mkdir(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	int err = ramfs_mknod(dir, dentry, mode, 0);

	if (!err)
		dir->i_nlink++;
	return err;
}

/* O_TMPFILE. The inode has counted already; a first name (ramfs_link) does not count again. */
static struct inode *ramfs_tmpfile(struct inode *dir, mode_t mode)
{
	struct inode *inode = ramfs_inode(dir->i_sb, mode, 0);

	if (!IS_ERR(inode)) {
		inode->i_nlink = 0;
		inode_init_owner(inode, dir);
	}
	return inode;
}

#define SHORT_LINK 128 /* bytes; a text of this length or more counts as a page of the file system (Linux's limit) */

/*
 * The text of a symbolic link. A long one counts as a page, and i_blocks remembers that it does. 0, -ENOSPC or -ENOMEM.
 */
static int ramfs_set_link(struct inode *inode, const char *target)
{
	inode->i_size = strlen(target);
	if (inode->i_size >= SHORT_LINK) {
		if (!ramfs_charge_page(inode->i_sb))
			return -ENOSPC;
		inode->i_blocks = PAGE_SIZE / 512;
	}
	inode->i_private = kstrdup(target, GFP_KERNEL);
	return inode->i_private ? 0 : -ENOMEM;
}

/* The inode is complete before the name becomes visible, so a failure only drops the inode. */
static int ramfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct inode *inode = ramfs_inode(dir->i_sb, S_IFLNK | 0777, 0);
	int err;

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	err = ramfs_set_link(inode, target);
	if (err) {
		iput(inode);
		return err;
	}
	inode_init_owner(inode, dir);
	ramfs_attach(dir, dentry, inode);
	return 0;
}

/*
 * Each further name counts as a node, as on tmpfs, because its dentry takes memory that only an unlink gives back. A
 * file that has no name, of O_TMPFILE or because it has lost the last one meanwhile, gets a first name, which is
 * counted with the inode already.
 */
static int ramfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->d_inode;

	if (!ramfs_charge_inode(dir->i_sb))
		return -ENOSPC;
	if (!__atomic_fetch_add(&inode->i_nlink, 1, __ATOMIC_RELAXED))
		ramfs_uncharge_inode(dir->i_sb);
	inode->i_ctime = inode_now();
	ihold(inode);
	ramfs_attach(dir, dentry, inode);
	return 0;
}

/* [i_lock of dir] A name goes. Its file goes with the last name and the last user. */
static void ramfs_detach(struct inode *dir, struct inode *inode)
{
	u32 names = __atomic_fetch_sub(&inode->i_nlink, 1, __ATOMIC_RELAXED);

	if (names > 1 && !S_ISDIR(inode->i_mode))
		ramfs_uncharge_inode(dir->i_sb);
	inode->i_ctime = inode_now();
	dir->i_size -= 20;
	touch_dir(dir);
}

/* d_delete() drops the pin; the file goes when its last reference does. */
static int ramfs_unlink(struct inode *dir, struct dentry *dentry)
{
	ramfs_detach(dir, dentry->d_inode);
	d_delete(dentry);
	return 0;
}

/*
 * [i_lock of dir and of the victim] A link count of 0 tells look-ups that nothing can be made in the directory any
 * more.
 */
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

/*
 * [both i_locks] An exchange concerns the dentries, the link that ".." of a directory is to its parent, and the times
 * of all four.
 */
static int ramfs_exchange(struct inode *olddir, struct dentry *old, struct inode *newdir, struct dentry *new)
{
	int moved = S_ISDIR(old->d_inode->i_mode) - S_ISDIR(new->d_inode->i_mode);

	newdir->i_nlink += moved;
	olddir->i_nlink -= moved;
	touch_dir(olddir);
	touch_dir(newdir);
	old->d_inode->i_ctime = new->d_inode->i_ctime = inode_now();
	return 0;
}

/*
 * [both i_locks, and that of a victim directory] Count what changes; the caller moves the names. A victim that is a
 * directory must be empty, and its link count becomes 0 as in rmdir. A directory that moves takes the link of its ".."
 * from the old parent to the new one.
 */
static int ramfs_rename(struct inode *olddir, struct dentry *old, struct inode *newdir, struct dentry *new,
			unsigned flags)
{
	bool is_dir = S_ISDIR(old->d_inode->i_mode);
	struct inode *victim = new->d_inode;

	if (flags & RENAME_EXCHANGE)
		return ramfs_exchange(olddir, old, newdir, new);
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

/* What is not in the cache does not exist: a negative dentry remembers that. */
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
	.tmpfile = ramfs_tmpfile,
	.symlink = ramfs_symlink,
	.link = ramfs_link,
	.unlink = ramfs_unlink,
	.rmdir = ramfs_rmdir,
	.rename = ramfs_rename,
};

/*
 * The last reference is gone: free the contents and give the counts back. A regular file without a page tree is one
 * whose creation failed.
 */
static void ramfs_evict(struct inode *inode)
{
	if (S_ISREG(inode->i_mode))
		ramfs_free_file(inode);
	else if (S_ISLNK(inode->i_mode))
		kfree(inode->i_private);
	if (S_ISLNK(inode->i_mode) && inode->i_blocks)
		ramfs_uncharge_pages(inode->i_sb, 1);
	ramfs_uncharge_inode(inode->i_sb);
}

static const struct super_operations ramfs_super_ops = {
	.evict_inode = ramfs_evict,
	.show_options = ramfs_show_options,
	.put_super = ramfs_put_super,
	.statfs = ramfs_statfs,
	.remount = ramfs_remount,
};

struct inode *ramfs_file_inode(struct super_block *sb, mode_t mode)
{
	return ramfs_inode(sb, S_IFREG | mode, 0);
}

/* On failure the caller destroys the super block, which frees what was made so far. */
int ramfs_fill_super(struct super_block *sb, const char *options)
{
	const struct iattr *wanted;
	struct inode *root;
	int err;

	sb->s_op = &ramfs_super_ops;
	sb->s_magic = TMPFS_MAGIC;
	err = ramfs_init_usage(sb, options);
	if (err)
		return err;
	wanted = &((struct ramfs_usage *)sb->s_fs_info)->root;
	root = ramfs_inode(sb, S_IFDIR | wanted->mode, 0);
	if (IS_ERR(root))
		return PTR_ERR(root);
	if (wanted->valid & ATTR_UID)
		root->i_uid = wanted->uid;
	if (wanted->valid & ATTR_GID)
		root->i_gid = wanted->gid;
	sb->s_root = d_make_root(sb, root);
	return sb->s_root ? 0 : -ENOMEM;
}

static const struct file_system_type rootfs_type = {.name = "rootfs", .nodev = true, .fill_super = ramfs_fill_super};
static const struct file_system_type ramfs_type = {.name = "ramfs", .nodev = true, .fill_super = ramfs_fill_super};
static const struct file_system_type tmpfs_type = {.name = "tmpfs", .nodev = true, .fill_super = ramfs_fill_super};
REGISTER_FILESYSTEM(rootfs_type);
REGISTER_FILESYSTEM(ramfs_type);
REGISTER_FILESYSTEM(tmpfs_type);
