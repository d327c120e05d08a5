/* Inodes: their life, their attributes, and who may do what with them. */
#include "internal.h"

#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <time/clock.h>

static struct kmem_cache *inode_cache;

u64 inode_now(void)
{
	return ktime_get_real_ns();
}

struct inode *new_inode(struct super_block *sb, mode_t mode)
{
	struct inode *inode = kmem_cache_zalloc(inode_cache, GFP_KERNEL);

	if (!inode)
		return NULL;
	inode->i_ino = atomic64_inc_return(&sb->s_next_ino);
	inode->i_mode = mode;
	inode->i_nlink = S_ISDIR(mode) ? 2 : 1;
	inode->i_uid = current->euid;
	inode->i_gid = current->egid;
	inode->i_atime = inode->i_mtime = inode->i_ctime = inode_now();
	atomic_set(&inode->i_count, 1);
	mutex_init(&inode->i_lock);
	inode->i_sb = sb;
	return inode;
}

void ihold(struct inode *inode)
{
	atomic_inc(&inode->i_count);
}

/* Only dentries and files hold inodes, so the last reference means that no name and no user is left. Thread
 * context. */
void iput(struct inode *inode)
{
	const struct super_operations *op;

	if (!inode || !atomic_dec_and_test(&inode->i_count))
		return;
	op = inode->i_sb->s_op;
	if (op && op->evict_inode)
		op->evict_inode(inode);
	kmem_cache_free(inode_cache, inode);
}

static bool in_group(gid_t gid)
{
	const struct group_info *g = current->groups;

	if (current->egid == gid)
		return true;
	for (unsigned i = 0; g && i < g->ngroups; i++)
		if (g->gid[i] == gid)
			return true;
	return false;
}

/* Mode bits of the class (owner, group, others) that the caller belongs to. */
static bool mode_allows(const struct inode *inode, unsigned mask)
{
	mode_t mode = READ_ONCE(inode->i_mode);

	if (current->euid == READ_ONCE(inode->i_uid))
		mode >>= 6;
	else if (in_group(READ_ONCE(inode->i_gid)))
		mode >>= 3;
	return !(mask & ~mode & 7);
}

int mode_permission(const struct inode *inode, int mask)
{
	mode_t mode = READ_ONCE(inode->i_mode);

	if (current->euid == 0) {
		/* CAP_DAC_OVERRIDE: everything but executing a file that nobody may execute. */
		if ((mask & MAY_EXEC) && !S_ISDIR(mode) && !(mode & 0111))
			return -EACCES;
		return 0;
	}
	return mode_allows(inode, mask) ? 0 : -EACCES;
}

void generic_fillattr(const struct inode *inode, struct kstat *stat)
{
	stat->ino = inode->i_ino;
	stat->dev = inode->i_sb->s_dev;
	stat->rdev = S_ISCHR(inode->i_mode) || S_ISBLK(inode->i_mode) ? inode->i_rdev : 0;
	stat->mode = inode->i_mode;
	stat->nlink = inode->i_nlink;
	stat->uid = inode->i_uid;
	stat->gid = inode->i_gid;
	stat->size = READ_ONCE(inode->i_size);
	stat->blocks = inode->i_blocks;
	stat->blksize = 4096;
	stat->atime = inode->i_atime;
	stat->mtime = inode->i_mtime;
	stat->ctime = inode->i_ctime;
}

int vfs_getattr(const struct path *path, struct kstat *stat)
{
	struct inode *inode = path->dentry->d_inode;

	memset(stat, 0, sizeof(*stat));
	if (inode->i_op && inode->i_op->getattr)
		return inode->i_op->getattr(path->dentry, stat);
	generic_fillattr(inode, stat);
	return 0;
}

int simple_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;

	if (attr->valid & ATTR_SIZE)
		return -EINVAL;
	if (attr->valid & ATTR_MODE)
		inode->i_mode = (inode->i_mode & S_IFMT) | (attr->mode & 07777);
	if (attr->valid & ATTR_UID)
		inode->i_uid = attr->uid;
	if (attr->valid & ATTR_GID)
		inode->i_gid = attr->gid;
	if (attr->valid & ATTR_ATIME)
		inode->i_atime = attr->atime;
	if (attr->valid & ATTR_MTIME)
		inode->i_mtime = attr->mtime;
	inode->i_ctime = inode_now();
	return 0;
}

/* Does the caller's identity allow the change? Root may all; others what is theirs. [i_lock] */
static int setattr_prepare(const struct inode *inode, const struct iattr *attr)
{
	bool owner = current->euid == inode->i_uid;

	if (current->euid == 0)
		return 0;
	if ((attr->valid & ATTR_UID) && !(owner && attr->uid == inode->i_uid))
		return -EPERM;
	if ((attr->valid & ATTR_GID) && !(owner && in_group(attr->gid)))
		return -EPERM;
	if ((attr->valid & ATTR_TOUCH) && !owner)
		return inode_permission(inode, MAY_WRITE);
	if ((attr->valid & (ATTR_MODE | ATTR_ATIME | ATTR_MTIME)) && !owner)
		return -EPERM;
	return 0;
}

int notify_change(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	int err;

	mutex_lock(&inode->i_lock);
	err = setattr_prepare(inode, attr);
	if (!err && inode->i_op && inode->i_op->setattr)
		err = inode->i_op->setattr(dentry, attr);
	else if (!err)
		err = simple_setattr(dentry, attr);
	mutex_unlock(&inode->i_lock);
	return err;
}

/* Regular files only: others have no size to set. */
int vfs_truncate(struct inode *inode, struct dentry *dentry, loff_t size)
{
	struct iattr attr = {.valid = ATTR_SIZE, .size = size};

	if (size < 0)
		return -EINVAL;
	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	return notify_change(dentry, &attr);
}

void inode_init(void)
{
	inode_cache = kmem_cache_create("inode_cache", sizeof(struct inode), 0, SLAB_PANIC, NULL);
}
