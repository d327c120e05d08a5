/*
 * Opening and closing files: open(2) and its family.
 *
 * open reserves a descriptor, walks to the file (open_walk), creates it if that is asked for and needed (open_create),
 * checks the rights (may_open), and lets the file system open it (vfs_open). Only then is the file installed under the
 * descriptor, so another thread never sees a half-open one.
 *
 *     do_sys_openat2
 *       get_unused_fd_flags             a number, without a file yet
 *       path_openat
 *         open_walk  -> open_last       the last component: take it, follow it, or open_create
 *         open_tmpfile                  O_TMPFILE: the walk leads to a directory, in which the file gets no name
 *         may_open                      rights, unless this call has made the file
 *         vfs_open   -> f_op->open      the file system or driver
 *         handle_truncate               O_TRUNC
 *       fd_install                      now other threads find it
 *
 * A file that does not exist is looked up once without and once with the directory's i_lock. When another task makes it
 * in between, an open without O_EXCL must open that file: the walk starts again (OPEN_AGAIN).
 */
#include "internal.h"

#include <asm/uaccess.h>
#include <fs/fsnotify.h>
#include <kernel/export.h>
#include <lib/printf.h>
#include <proc/syscall.h>
#include <uapi/mount.h>

#define O_PATH_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* All that openat2(2) takes. */
#define O_VALID                                                                                                   \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC | O_ASYNC | \
	 O_DIRECT | O_LARGEFILE | O_NOATIME | __O_TMPFILE | O_PATH_FLAGS)

struct user_open_how {
	u64 flags, mode, resolve;
};

/* The operations of an O_PATH file, which names a file and can do nothing with it. */
static const struct file_operations path_only_fops;

/*
 * Fill a fresh file in for `path`, and let the file system open it. A file opened for writing counts as a writer
 * until its last fput (write_access.c), so that a program that runs is not written to. Takes over the path's
 * references when it returns 0; -errno otherwise.
 */
noinline int vfs_open(const struct path *path, struct file *f)
{
	struct inode *inode = path->dentry->d_inode;
	int err = 0;

	f->f_mnt = path->mnt;
	f->f_dentry = path->dentry;
	f->f_inode = inode;
	f->f_op = inode->i_fop ? inode->i_fop : &path_only_fops;
	if (unlikely(f->f_flags & O_PATH))
		f->f_op = &path_only_fops;
	if ((f->f_mode & FMODE_WRITE) && !is_special(inode)) {
		err = get_write_access(inode);
		if (err)
			return err;
		f->f_mode |= FMODE_WRITER;
	}
	if (f->f_op->open)
		err = f->f_op->open(inode, f);
	if (err && (f->f_mode & FMODE_WRITER))
		put_write_access(inode);
	if (!err)
		fsnotify_file(f, IN_OPEN);
	/* These flags concern opening only: open() may look at them (tracefs, terminals); fcntl() hides them. */
	f->f_flags &= ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC);
	return err;
}

/*
 * There is no count of writers, so a remount may make the mount read-only while a file is open for writing; that file
 * can still be written.
 */
int mnt_want_write(const struct path *path)
{
	return path->mnt && (path->mnt->mnt_flags & MS_RDONLY) ? -EROFS : 0;
}

/*
 * May the caller open this existing file with these flags? The order of the checks is Linux's, so that the same error
 * comes first. 0 or -errno.
 */
static int may_open(const struct path *path, int flags)
{
	struct inode *inode = path->dentry->d_inode;
	unsigned access = flags & O_ACCMODE;
	bool write = access != O_RDONLY || (flags & O_TRUNC);
	int mask = 0, err;

	if (unlikely(flags & O_PATH))
		return 0;
	if (S_ISLNK(inode->i_mode))
		return -ELOOP;
	if (S_ISDIR(inode->i_mode) && (write || (flags & (O_CREAT | __FMODE_EXEC))))
		return flags & __FMODE_EXEC ? -EACCES : -EISDIR;
	if ((inode->i_mode & S_IFMT) == S_IFSOCK)
		return -ENXIO;
	if ((S_ISCHR(inode->i_mode) || S_ISBLK(inode->i_mode)) && path->mnt && (path->mnt->mnt_flags & MS_NODEV))
		return -EACCES;
	if ((flags & O_NOATIME) && !inode_owner_or_capable(inode))
		return -EPERM;
	if (write && S_ISREG(inode->i_mode) && mnt_want_write(path))
		return -EROFS;
	if (flags & __FMODE_EXEC) {
		if (!S_ISREG(inode->i_mode) || (path->mnt->mnt_flags & MS_NOEXEC))
			return -EACCES;
		mask |= MAY_EXEC;
	} else if (access != O_WRONLY) {
		mask |= MAY_READ;
	}
	if (write) {
		if (inode->i_sb->s_write_by_mode && !(inode->i_mode & 0222))
			return -EACCES;
		mask |= MAY_WRITE;
	}
	err = inode_permission(inode, mask);
	if (!err && !(inode->i_mode & S_IFMT))
		err = -ENXIO; /* a file that is in no tree (<fs/anon_inode.h>), by way of /proc/<pid>/fd */
	return err;
}

/*
 * [dcache_lock, which is released and taken again] The name did not exist: make it, with the directory's i_lock.
 * Returns 0 with the new file's place in *out, -EEXIST when another task was faster, or another -errno.
 */
static int open_create(struct nameidata *nd, mode_t mode, struct path *out)
{
	struct dentry *parent, *d;
	struct inode *dir;
	int err;

	walk_unlock(nd); /* from here on nd->base is the directory */
	parent = nd->base.dentry;
	dir = parent->d_inode;
	mutex_lock(&dir->i_lock);
	d = lookup_one(parent, nd->last, nd->last_len, nd->last_hash);
	if (IS_ERR(d)) {
		err = PTR_ERR(d);
	} else {
		err = d->d_inode ? -EEXIST : mnt_want_write(&nd->base);
		if (!err)
			err = vfs_create(dir, d, apply_umask(mode & 07777) | S_IFREG);
	}
	mutex_unlock(&dir->i_lock);
	if (!err) {
		*out = (struct path){nd->base.mnt, d};
		path_get(out);
	}
	if (!IS_ERR(d))
		dput(d);
	spin_lock(&dcache_lock);
	return err;
}

/* What open_last() returns beside 0 and -errno. */
#define OPEN_CREATED 1 /* the file was created, and *out has it */
#define OPEN_AGAIN   2 /* another task has just made it. No error: -EAGAIN is one of openat2(2) */

/* [dcache_lock] The last component of an open: follow it, create it, or take it. 0: nd->path is the file. */
static int open_last(struct nameidata *nd, int flags, mode_t mode, struct path *out)
{
	bool nofollow = flags & O_NOFOLLOW;
	struct dentry *d;
	int err;

	for (;;) {
		err = link_path_walk(nd);
		if (unlikely(err))
			return err;
		if (unlikely(nd->last_type != LAST_NORM)) {
			err = nd->last_type == LAST_DOTDOT ? walk_dotdot(nd) : 0;
			return !err && flags & O_CREAT ? (flags & O_EXCL ? -EEXIST : -EISDIR) : err;
		}
		d = walk_last(nd);
		if (IS_ERR(d))
			return PTR_ERR(d);
		if ((flags & O_CREAT) && nd->trailing)
			return -EISDIR;
		if (!d) {
			if (!(flags & O_CREAT))
				return -ENOENT;
			err = open_create(nd, mode, out);
			if (err == -EEXIST && !(flags & O_EXCL))
				return OPEN_AGAIN;
			return err ? err : OPEN_CREATED;
		}
		if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
			return -EEXIST;
		if (likely(!S_ISLNK(d->d_inode->i_mode)) || (nofollow && !nd->trailing)) {
			return step_within(nd, d);
		}
		err = follow_link(nd, d);
		if (err)
			return err < 0 ? err : 0;
	}
}

/*
 * Walk to the file, with references in *out; with an empty name it is dfd's own. *created: this call has made it, so
 * its mode does not restrict this open. 0, OPEN_AGAIN or -errno.
 */
static int open_walk(int dfd, const char *name, struct open_how how, struct path *out, bool *created)
{
	struct nameidata nd;
	int err = path_init_resolve(&nd, dfd, name, how.resolve);

	if (err)
		return err;
	err = *name ? open_last(&nd, how.flags, how.mode, out) : 0;
	*created = err == OPEN_CREATED;
	if (!err && ((how.flags & O_DIRECTORY) || nd.trailing) && !S_ISDIR(nd.path.dentry->d_inode->i_mode))
		err = -ENOTDIR;
	if (!err) {
		*out = nd.path;
		path_get(out);
	}
	path_finish(&nd);
	return *created ? 0 : err;
}

/*
 * The dentry of a file without a name, a child of the directory that is in no list. Paths show it as Linux does:
 * "/tmp/#17 (deleted)". Takes over the inode's reference. NULL: no memory.
 */
static struct dentry *nameless_dentry(struct dentry *dir, struct inode *inode)
{
	char name[24];
	int len = scnprintf(name, sizeof(name), "#%llu", (unsigned long long)inode->i_ino);
	struct dentry *d = d_alloc(dir, name, len);

	if (!d) {
		iput(inode);
		return NULL;
	}
	d->d_inode = inode;
	d->d_flags = DCACHE_UNLINKED;
	return d;
}

/*
 * O_TMPFILE: make a file without a name in the file system of the directory *path, and put it in the directory's place.
 * linkat(2) may name it later, unless O_EXCL forbids that. The errors come in Linux's order: -EROFS, -EACCES,
 * -EOPNOTSUPP (the file system cannot do it), -ENOSPC, -ENOMEM.
 */
static int open_tmpfile(struct path *path, struct open_how how)
{
	struct inode *dir = path->dentry->d_inode, *inode;
	int err = mnt_want_write(path);
	struct dentry *d;

	if (!err)
		err = inode_permission(dir, MAY_WRITE | MAY_EXEC);
	if (err)
		return err;
	if (!dir->i_op || !dir->i_op->tmpfile)
		return -EOPNOTSUPP;
	inode = dir->i_op->tmpfile(dir, apply_umask(how.mode & 07777) | S_IFREG);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	inode->i_linkable = !(how.flags & O_EXCL);
	d = nameless_dentry(path->dentry, inode);
	if (!d)
		return -ENOMEM;
	dput(path->dentry);
	path->dentry = d;
	return 0;
}

/*
 * O_TRUNC: empty the file. The call counts as a writer while this lasts, since O_TRUNC may come with O_RDONLY. 0 or
 * -errno.
 */
static int handle_truncate(struct file *f)
{
	struct inode *inode = f->f_inode;
	int err;

	if (!S_ISREG(inode->i_mode) || !inode->i_op || !inode->i_op->setattr)
		return 0;
	err = get_write_access(inode);
	if (err)
		return err;
	err = vfs_truncate(inode, f->f_dentry, 0);
	put_write_access(inode);
	return err;
}

/*
 * The whole of an open except for the descriptor: walk, rights, file, the file system's open, truncation. A file that
 * this call has created is not asked for rights: its mode is for later opens. The struct comes before the walk, because
 * a new name cannot be taken back when there is no memory for the struct behind it. ERR_PTR.
 */
static noinline struct file *path_openat(int dfd, const char *name, struct open_how how)
{
	int flags = how.flags;
	struct file *f = alloc_empty_file(flags);
	struct path path = {};
	bool created = false;
	int err;

	if (IS_ERR(f))
		return f;
	do {
		err = open_walk(dfd, name, how, &path, &created);
	} while (err == OPEN_AGAIN);
	if (err)
		goto free_file;
	if (unlikely(flags & __O_TMPFILE))
		err = open_tmpfile(&path, how);
	else if (created)
		f->f_mode |= FMODE_CREATED;
	else
		err = may_open(&path, flags);
	if (err)
		goto put_path;
	if (flags & __FMODE_EXEC)
		f->f_mode |= FMODE_EXEC;
	err = vfs_open(&path, f);
	if (err)
		goto put_path;
	if ((flags & O_TRUNC) && !created)
		err = handle_truncate(f);
	if (err) {
		fput(f);
		return ERR_PTR(err);
	}
	return f;
put_path:
	path_put(&path);
free_file:
	free_empty_file(f);
	return ERR_PTR(err);
}

/*
 * A function of its own because tutorials trace it by this name, which is Linux's. -ESTALE: others have put another
 * file under the name during the open. Then the new file is wanted, and its open is tried once.
 */
noinline struct file *do_filp_open(int dfd, const char *name, struct open_how how)
{
	struct file *f = path_openat(dfd, name, how);

	return likely(f != ERR_PTR(-ESTALE)) ? f : path_openat(dfd, name, how);
}

/* For the kernel itself; the path is a kernel string. */
struct file *filp_open(const char *path, int flags, mode_t mode)
{
	return *path ? do_filp_open(AT_FDCWD, path, (struct open_how){flags, mode, 0}) : ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(filp_open);

/*
 * O_DIRECTORY with O_CREAT would ask for a directory to be made, which open(2) does not do. O_TMPFILE contains
 * O_DIRECTORY, so that a kernel that does not know it opens a directory, and asks for a file that can be written.
 */
static bool flags_agree(int flags)
{
	if (unlikely(flags & __O_TMPFILE) && (!(flags & O_DIRECTORY) || (flags & O_ACCMODE) == O_RDONLY))
		return false;
	return (flags & (O_DIRECTORY | O_CREAT)) != (O_DIRECTORY | O_CREAT);
}

/* The descriptor comes first: a table that is full must not leave a created or emptied file behind. */
noinline long do_sys_openat2(int dfd, const char __user *filename, struct open_how how)
{
	struct filename name;
	struct file *f;
	long fd;

	if (!flags_agree(how.flags))
		return -EINVAL;
	fd = getname(&name, filename, false);
	if (fd)
		return fd;
	fd = get_unused_fd_flags(how.flags);
	if (fd >= 0) {
		f = do_filp_open(dfd, name.name, how);
		if (IS_ERR(f)) {
			put_unused_fd(fd);
			fd = PTR_ERR(f);
		} else {
			fd_install(fd, f);
		}
	}
	putname(&name);
	return fd;
}

/*
 * This function also has Linux's name: it is the part that open, openat and creat share. They ignore flags that they do
 * not know.
 */
noinline long do_sys_open(int dfd, const char __user *filename, int flags, mode_t mode)
{
	flags &= ~__FMODE_EXEC; /* for execve only, not for callers */
	if (flags & O_PATH)
		flags &= O_PATH_FLAGS;
	return do_sys_openat2(dfd, filename, (struct open_how){flags, mode, 0});
}

/*
 * openat2(2)'s argument, which may be longer in a program that is newer: what this kernel does not know must be 0. 0,
 * -EINVAL: too short; -E2BIG, -EFAULT.
 */
static int copy_how(struct user_open_how *how, const char __user *from, size_t size)
{
	char rest;

	if (size < sizeof(*how))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	for (size_t at = sizeof(*how); at < size; at++) {
		if (get_user(rest, from + at))
			return -EFAULT;
		if (rest)
			return -E2BIG;
	}
	return copy_from_user(how, from, sizeof(*how)) ? -EFAULT : 0;
}

/* Unlike open(2) it refuses flags that are unknown or mean nothing together. 0, -EINVAL or -EAGAIN. */
static int check_how(const struct user_open_how *how)
{
	bool scoped_twice = (how->resolve & RESOLVE_BENEATH) && (how->resolve & RESOLVE_IN_ROOT);
	u64 path_only = how->flags & O_PATH ? O_PATH_FLAGS : ~0ULL;

	if (how->flags & ~(u64)O_VALID || how->resolve & ~(u64)RESOLVE_ALL || scoped_twice || how->flags & ~path_only)
		return -EINVAL;
	if (how->mode & ~(how->flags & (O_CREAT | __O_TMPFILE) ? 07777ULL : 0))
		return -EINVAL;
	if (!flags_agree(how->flags))
		return -EINVAL;
	return how->resolve & RESOLVE_CACHED && how->flags & (O_CREAT | O_TRUNC | __O_TMPFILE) ? -EAGAIN : 0;
}

SYSCALL_DEFINE4(openat2, int, dfd, const char __user *, filename, struct user_open_how __user *, how, size_t, usize)
{
	struct user_open_how h;
	int err = copy_how(&h, (const char __user *)how, usize);

	if (!err)
		err = check_how(&h);
	return err ? err : do_sys_openat2(dfd, filename, (struct open_how){h.flags, h.mode, h.resolve});
}

SYSCALL_DEFINE4(openat, int, dfd, const char __user *, filename, int, flags, umode_t, mode)
{
	return do_sys_open(dfd, filename, flags, mode);
}

SYSCALL_DEFINE3(open, const char __user *, filename, int, flags, umode_t, mode)
{
	return do_sys_open(AT_FDCWD, filename, flags, mode);
}

SYSCALL_DEFINE2(creat, const char __user *, pathname, umode_t, mode)
{
	return do_sys_open(AT_FDCWD, pathname, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

SYSCALL_DEFINE1(close, unsigned int, fd)
{
	return close_fd(fd);
}
