/*
 * inotify(7): what happens to files, for programs that watch them. The functions below are called where it happens,
 * after it has happened. While no program watches anything each costs a look at one word. Thread context; i_locks of
 * directories may be held, spinlocks not.
 */
#pragma once

#include <fs/vfs.h>
#include <uapi/fcntl.h>

#define IN_ACCESS	 0x00000001u
#define IN_MODIFY	 0x00000002u
#define IN_ATTRIB	 0x00000004u
#define IN_CLOSE_WRITE	 0x00000008u
#define IN_CLOSE_NOWRITE 0x00000010u
#define IN_OPEN		 0x00000020u
#define IN_MOVED_FROM	 0x00000040u
#define IN_MOVED_TO	 0x00000080u
#define IN_CREATE	 0x00000100u
#define IN_DELETE	 0x00000200u
#define IN_DELETE_SELF	 0x00000400u
#define IN_MOVE_SELF	 0x00000800u
#define IN_UNMOUNT	 0x00002000u
#define IN_Q_OVERFLOW	 0x00004000u
#define IN_IGNORED	 0x00008000u
#define IN_ISDIR	 0x40000000u

extern atomic_t inotify_watches; /* of the whole system */
/* Limits of /proc/sys/fs/inotify: events that wait in an instance made later; instances and watches of a user. */
extern unsigned inotify_max_events, inotify_max_instances, inotify_max_watches; /* [a] */
static inline bool inotify_active(void)
{
	return unlikely(atomic_read(&inotify_watches));
}

/* The rest of the inline functions below, while there is a watch. Thread context; they take locks of instances. */
void __inotify_dentry(struct dentry *d, u32 mask);
void __inotify_inode(struct inode *inode, u32 mask);
void __inotify_name(struct inode *dir, const struct inode *what, const char *name, u32 mask);
void __inotify_moved(struct inode *from, const char *old, struct inode *to, struct dentry *moved);
void __inotify_gone(struct inode *inode);
void __inotify_unmount(const struct super_block *sb);

/* To the file under this name: told to watches of the file, and with its name to those of its directory. */
static inline void inotify_dentry(struct dentry *d, u32 mask)
{
	if (inotify_active())
		__inotify_dentry(d, mask);
}

/* To the file alone: another name of it has come or gone. */
static inline void inotify_inode(struct inode *inode, u32 mask)
{
	if (inotify_active())
		__inotify_inode(inode, mask);
}

/* A name has come into a directory, or has left it. [i_lock of dir] */
static inline void inotify_name(struct inode *dir, const struct inode *what, const char *name, u32 mask)
{
	if (inotify_active())
		__inotify_name(dir, what, name, mask);
}

/* `moved` had the name `old` in `from`, and has its own name in `to` now. [both i_locks] */
static inline void inotify_moved(struct inode *from, const char *old, struct inode *to, struct dentry *moved)
{
	if (inotify_active())
		__inotify_moved(from, old, to, moved);
}

/* An open file was read, written, opened, closed. */
static inline void inotify_file(const struct file *f, u32 mask)
{
	if (inotify_active() && f->f_dentry && !(f->f_flags & O_PATH))
		__inotify_dentry(f->f_dentry, mask);
}

/* A name of this file goes with its last user; if that was the last name, so does the file. */
static inline void inotify_gone(struct inode *inode)
{
	if (inotify_active() && !inode->i_nlink)
		__inotify_gone(inode);
}

/* No mount shows the file system any more. Afterwards no watch holds anything of it. */
static inline void inotify_unmount(const struct super_block *sb)
{
	if (unlikely(atomic_read(&sb->s_watches)))
		__inotify_unmount(sb);
}
