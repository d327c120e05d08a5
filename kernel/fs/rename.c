/*
 * rename(2): moving a name, with the locks of two directories.
 *
 * Two things could go wrong. Two renames could lock the same two directories in opposite order, and two renames could
 * together move a directory into itself. rename_mutex prevents both: only one rename between different directories runs
 * at a time, so nothing else changes which directory lies below which. A rename within one directory needs only that
 * directory's lock.
 *
 * The names are looked up under the locks, the rights checked (may_rename), the file system counts (i_op->rename), and
 * then the dentries exchange their places (d_move).
 */
#include "internal.h"

#include <fs/fsnotify.h>
#include <proc/syscall.h>

/*
 * Lock both directories. Between two, rename_mutex keeps ancestry still, and the ancestor is locked first, as every
 * other path down the tree does (rmdir locks the parent, then the victim). Unrelated directories may be locked in any
 * order: a deadlock would need a second task that holds one of them and waits for the other, and only a renamer holds
 * two unrelated ones.
 */
static void lock_rename(struct dentry *a, struct dentry *b)
{
	if (a == b) {
		mutex_lock(&a->d_inode->i_lock);
		return;
	}
	mutex_lock(&rename_mutex);
	if (d_is_ancestor(b, a))
		swap(a, b);
	mutex_lock(&a->d_inode->i_lock);
	mutex_lock(&b->d_inode->i_lock);
}

/* The opposite order of lock_rename(). */
static void unlock_rename(struct dentry *a, struct dentry *b)
{
	mutex_unlock(&a->d_inode->i_lock);
	if (a == b)
		return;
	mutex_unlock(&b->d_inode->i_lock);
	mutex_unlock(&rename_mutex);
}

/*
 * [both i_locks] The old name is removed and the new one made or replaced, so both rules apply. A directory that gets
 * another parent is written, because its ".." changes. 0 or -errno.
 */
static int may_rename(struct dentry *olddir, struct dentry *old, struct dentry *newdir, struct dentry *new,
		      unsigned flags)
{
	bool is_dir = S_ISDIR(old->d_inode->i_mode);
	int err = may_delete(olddir->d_inode, old, is_dir);

	if (err)
		return err;
	if (!new->d_inode)
		err = may_create(newdir->d_inode, new);
	else if (flags & RENAME_NOREPLACE)
		err = -EEXIST;
	else if (flags & RENAME_EXCHANGE)
		err = may_delete(newdir->d_inode, new, S_ISDIR(new->d_inode->i_mode));
	else
		err = may_delete(newdir->d_inode, new, is_dir);
	if (err)
		return err;
	if (old->d_sb != newdir->d_sb)
		return -EXDEV;
	if (olddir != newdir && is_dir)
		err = inode_permission(old->d_inode, MAY_WRITE);
	if (!err && olddir != newdir && (flags & RENAME_EXCHANGE) && S_ISDIR(new->d_inode->i_mode))
		err = inode_permission(new->d_inode, MAY_WRITE);
	if (err)
		return err;
	return olddir->d_inode->i_op->rename ? 0 : -EPERM;
}

/*
 * [both i_locks] Two names of one file: nothing happens, as POSIX wants it.
 *
 * inotify gets the old name from `new`, whose name it is after d_move(). The file system does its part, which an
 * exchange may be too much for (-EINVAL), and unlinks what `new` was. A victim directory's own lock is held
 * meanwhile, so that no name is made in it between the check that it is empty and its end; its cached negative
 * entries are freed afterwards, for each holds a reference to it.
 */
static noinline int vfs_rename(struct dentry *olddir, struct dentry *old, struct dentry *newdir, struct dentry *new,
			       unsigned flags)
{
	struct inode *target = new->d_inode;
	int err = may_rename(olddir, old, newdir, new, flags);

	if (err || old->d_inode == target)
		return err;
	if (flags & RENAME_EXCHANGE) {
		err = olddir->d_inode->i_op->rename(olddir->d_inode, old, newdir->d_inode, new, flags);
		if (err)
			return err;
		d_exchange(old, new);
		fsnotify_move(olddir->d_inode, new->d_name.name, newdir->d_inode, old);
		fsnotify_inode(old->d_inode, IN_MOVE_SELF);
		fsnotify_move(newdir->d_inode, old->d_name.name, olddir->d_inode, new);
		fsnotify_inode(new->d_inode, IN_MOVE_SELF);
		return 0;
	}
	if (target && S_ISDIR(target->i_mode))
		mutex_lock(&target->i_lock);
	err = olddir->d_inode->i_op->rename(olddir->d_inode, old, newdir->d_inode, new, flags);
	if (!err) {
		d_move(old, new);
		fsnotify_move(olddir->d_inode, new->d_name.name, newdir->d_inode, old);
		if (target)
			fsnotify_inode(target, IN_ATTRIB);
		fsnotify_inode(old->d_inode, IN_MOVE_SELF);
	}
	if (target && S_ISDIR(target->i_mode)) {
		mutex_unlock(&target->i_lock);
		if (!err)
			shrink_negative_children(new);
	}
	return err;
}

/*
 * [both i_locks] Would a directory end up inside itself, or would a directory that is not empty be replaced? Within one
 * directory neither can happen; and ancestry must not be walked then, because rename_mutex is not held and an ancestor
 * could be moved away and freed during the walk.
 */
static int check_ancestry(struct dentry *olddir, struct dentry *old, struct dentry *newdir, struct dentry *new,
			  unsigned flags)
{
	if (olddir == newdir)
		return 0;
	if (d_is_ancestor(old, newdir))
		return -EINVAL;
	if (d_is_ancestor(new, olddir))
		return flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	return 0;
}

/*
 * [both i_locks] Look both names up and rename. Slashes behind a name demand a directory: behind the new name they
 * speak of the file that is moved there, or, in an exchange, of the one that is there already.
 */
static int rename_locked(struct nameidata *from, struct path *olddir, struct nameidata *to, struct path *newdir,
			 unsigned flags)
{
	struct dentry *old, *new;
	int err;

	old = lookup_one(olddir->dentry, from->last, from->last_len, from->last_hash);
	if (IS_ERR(old))
		return PTR_ERR(old);
	new = lookup_one(newdir->dentry, to->last, to->last_len, to->last_hash);
	err = IS_ERR(new) ? PTR_ERR(new) : 0;
	if (err)
		goto put_old;
	err = -ENOENT;
	if (!old->d_inode || (!new->d_inode && (flags & RENAME_EXCHANGE)))
		goto put_new;
	err = -ENOTDIR;
	if ((from->trailing && !S_ISDIR(old->d_inode->i_mode)) ||
	    (to->trailing && !S_ISDIR((flags & RENAME_EXCHANGE ? new : old)->d_inode->i_mode)))
		goto put_new;
	err = check_ancestry(olddir->dentry, old, newdir->dentry, new, flags);
	if (!err)
		err = vfs_rename(olddir->dentry, old, newdir->dentry, new, flags);
put_new:
	dput(new);
put_old:
	dput(old);
	return err;
}

/* Walk to both parents and lock them. Both must be seen through one mount. "." and ".." cannot be renamed: -EBUSY. */
static int do_renameat2(int olddfd, const char *from, int newdfd, const char *to, unsigned flags)
{
	struct nameidata old, new;
	struct path olddir, newdir;
	int err;

	err = path_parentat(&old, olddfd, from, &olddir);
	if (err)
		return err;
	err = path_parentat(&new, newdfd, to, &newdir);
	if (err)
		goto put_old;
	err = -EXDEV;
	if (olddir.mnt != newdir.mnt)
		goto put_new;
	err = -EBUSY;
	if (old.last_type != LAST_NORM)
		goto put_new;
	err = flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (new.last_type != LAST_NORM)
		goto put_new;
	err = mnt_want_write(&olddir);
	if (err)
		goto put_new;
	lock_rename(olddir.dentry, newdir.dentry);
	err = rename_locked(&old, &olddir, &new, &newdir, flags);
	unlock_rename(olddir.dentry, newdir.dentry);
put_new:
	path_put(&newdir);
	path_free_names(&new);
put_old:
	path_put(&olddir);
	path_free_names(&old);
	return err;
}

/* The two flags contradict each other. Both names are copied before anything is locked, because the copy may fault. */
SYSCALL_DEFINE5(renameat2, int, olddfd, const char __user *, oldname, int, newdfd, const char __user *, newname,
		unsigned int, flags)
{
	struct filename from, to;
	int err;

	if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE)) || flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	err = getname(&from, oldname, false);
	if (err)
		return err;
	err = getname(&to, newname, false);
	if (!err) {
		err = do_renameat2(olddfd, from.name, newdfd, to.name, flags);
		putname(&to);
	}
	putname(&from);
	return err;
}

SYSCALL_DEFINE4(renameat, int, olddfd, const char __user *, oldname, int, newdfd, const char __user *, newname)
{
	return sys_renameat2(olddfd, (unsigned long)oldname, newdfd, (unsigned long)newname, 0);
}

SYSCALL_DEFINE2(rename, const char __user *, oldname, const char __user *, newname)
{
	return sys_renameat2(AT_FDCWD, (unsigned long)oldname, AT_FDCWD, (unsigned long)newname, 0);
}
