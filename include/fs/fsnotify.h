/*
 * What happens to files, for a room that wants to know: inotify. The functions below are called where it happens, after
 * it has happened. While nothing is watched each costs a look at one word. Thread context; i_locks of directories may
 * be held, spinlocks not.
 */
#pragma once

#include <fs/vfs.h>
#include <uapi/fcntl.h>
#include <uapi/inotify.h>

/* Each is called while there is a watch, in thread context, and may sleep. mask: IN_* of inotify(7). */
struct fsnotify_ops {
	void (*dentry)(struct dentry *d, u32 mask);
	void (*inode)(struct inode *inode, u32 mask);
	void (*name)(struct inode *dir, const struct inode *what, const char *name, u32 mask);
	void (*moved)(struct inode *from, const char *old, struct inode *to, struct dentry *moved);
	void (*gone)(struct inode *inode);
	void (*unmount)(const struct super_block *sb);
};

/* Watches of the whole system. The room sets the operations at boot, before there is any. */
extern atomic_t fsnotify_watches;
extern const struct fsnotify_ops *fsnotify_ops;
static inline bool fsnotify_active(void)
{
	return unlikely(atomic_read(&fsnotify_watches));
}

/* To the file under this name: told to watches of the file, and with its name to those of its directory. */
static inline void fsnotify_dentry(struct dentry *d, u32 mask)
{
	if (fsnotify_active())
		fsnotify_ops->dentry(d, mask);
}

/* To the file alone: another name of it has come or gone. */
static inline void fsnotify_inode(struct inode *inode, u32 mask)
{
	if (fsnotify_active())
		fsnotify_ops->inode(inode, mask);
}

/* A name has come into a directory, or has left it. [i_lock of dir] */
static inline void fsnotify_name(struct inode *dir, const struct inode *what, const char *name, u32 mask)
{
	if (fsnotify_active())
		fsnotify_ops->name(dir, what, name, mask);
}

/* `moved` had the name `old` in `from`, and has its own name in `to` now. [both i_locks] */
static inline void fsnotify_move(struct inode *from, const char *old, struct inode *to, struct dentry *moved)
{
	if (fsnotify_active())
		fsnotify_ops->moved(from, old, to, moved);
}

/* An open file was read, written, opened, closed. */
static inline void fsnotify_file(const struct file *f, u32 mask)
{
	if (fsnotify_active() && f->f_dentry && !(f->f_flags & O_PATH))
		fsnotify_ops->dentry(f->f_dentry, mask);
}

/* A name of this file goes with its last user; if that was the last name, so does the file. */
static inline void fsnotify_gone(struct inode *inode)
{
	if (fsnotify_active() && !inode->i_nlink)
		fsnotify_ops->gone(inode);
}

/* No mount shows the file system any more. Afterwards no watch holds anything of it. */
static inline void fsnotify_unmount(const struct super_block *sb)
{
	if (unlikely(atomic_read(&sb->s_watches)))
		fsnotify_ops->unmount(sb);
}
