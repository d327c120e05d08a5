/*
 * Inodes: their life, their attributes, and the check of who may read, write and execute a file.
 *
 * An inode lives as long as something refers to it: dentries (names) and open files through their dentries. File
 * systems in memory keep its contents in i_private and free them in evict_inode().
 *
 * Locks: i_count is atomic; fields marked [i] in <fs/vfs.h> are written under i_lock and read without it where a look
 * is enough.
 */
#include "internal.h"

#include <fs/fsnotify.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <time/clock.h>
#include <uapi/mount.h>

atomic_t fsnotify_watches;
const struct fsnotify_ops *fsnotify_ops;
static struct kmem_cache *inode_cache;

u64 inode_now(void)
{
	return ktime_get_real_ns();
}

/*
 * The caller's ids for files become the owner. A directory begins with two links: its name and its own ".". NULL: no
 * memory.
 */
struct inode *new_inode(struct super_block *sb, mode_t mode)
{
	struct inode *inode = kmem_cache_zalloc(inode_cache, GFP_KERNEL);

	if (!inode)
		return NULL;
	inode->i_ino = atomic64_inc_return(&sb->s_next_ino);
	inode->i_mode = mode;
	inode->i_nlink = S_ISDIR(mode) ? 2 : 1;
	inode->i_uid = current->fsuid;
	inode->i_gid = current->fsgid;
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

/*
 * Only dentries hold inodes, and files hold dentries. So when the last reference goes, there is no name and no user
 * left, and the file system frees the contents (evict_inode). Thread context, may sleep.
 */
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

/* The file-system group or a supplementary one. */
bool in_group_p(gid_t gid)
{
	const struct group_info *g = current->groups;

	if (current->fsgid == gid)
		return true;
	for (unsigned i = 0; g && i < g->ngroups; i++)
		if (g->gid[i] == gid)
			return true;
	return false;
}

/*
 * The bits of the one class (owner, group, others) that the caller belongs to decide; those of the classes behind it do
 * not count, even if they allow more.
 */
static bool mode_allows(const struct inode *inode, unsigned mask)
{
	mode_t mode = READ_ONCE(inode->i_mode);

	if (current->fsuid == READ_ONCE(inode->i_uid))
		mode >>= 6;
	else if (in_group_p(READ_ONCE(inode->i_gid)))
		mode >>= 3;
	return !(mask & ~mode & 7);
}

int mode_permission(const struct inode *inode, int mask)
{
	mode_t mode = READ_ONCE(inode->i_mode);

	if (mode_allows(inode, mask))
		return 0;
	if (capable(CAP_DAC_OVERRIDE) && (!(mask & MAY_EXEC) || S_ISDIR(mode) || mode & 0111))
		return 0;
	if (capable(CAP_DAC_READ_SEARCH) && !(mask & MAY_WRITE) && (mask == MAY_READ || S_ISDIR(mode)))
		return 0;
	return -EACCES;
}

/* Without i_lock: each value is right, but they may be of slightly different moments. */
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

/*
 * The file system may answer by itself; otherwise the inode's own fields are the answer. Everything that is not filled
 * in is 0.
 */
int vfs_getattr(const struct path *path, struct kstat *stat)
{
	struct inode *inode = path->dentry->d_inode;

	memset(stat, 0, sizeof(*stat));
	if (inode->i_op && inode->i_op->getattr)
		return inode->i_op->getattr(path->dentry, stat);
	generic_fillattr(inode, stat);
	return 0;
}

/* The first access after a change, of contents or of attributes, moves the time, and one after a day. */
void file_accessed(const struct file *f)
{
	struct inode *inode = f->f_inode;
	u64 atime = READ_ONCE(inode->i_atime), now;

	if (f->f_flags & O_NOATIME || (f->f_mnt && f->f_mnt->mnt_flags & (MS_NOATIME | MS_RDONLY)))
		return;
	now = inode_now();
	if (atime <= READ_ONCE(inode->i_mtime) || atime <= READ_ONCE(inode->i_ctime) ||
	    (s64)(now - atime) >= 24 * 60 * 60 * NSEC_PER_SEC)
		WRITE_ONCE(inode->i_atime, now);
}

void inode_init(void)
{
	inode_cache = kmem_cache_create("inode_cache", sizeof(struct inode), 0, SLAB_PANIC, NULL);
}
