/* Opening and closing files: open(2) and its family. */
#include "internal.h"

#include <asm/uaccess.h>
#include <proc/syscall.h>
#include <uapi/mount.h>

static const struct file_operations path_only_fops; /* O_PATH: names a file, does nothing with it */

/* Fills a fresh file in for `path` and lets the file system open it. */
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
	/* What concerns opening only: open() may look at it (tracefs, terminals), fcntl() does not show it. */
	f->f_flags &= ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC);
	return err;
}

int mnt_want_write(const struct path *path)
{
	return path->mnt && (path->mnt->mnt_flags & MS_RDONLY) ? -EROFS : 0;
}

/* May the caller open this existing file so? */
static int may_open(const struct path *path, int flags)
{
	struct inode *inode = path->dentry->d_inode;
	unsigned access = flags & O_ACCMODE;
	bool write = access != O_RDONLY || (flags & O_TRUNC);
	int mask = 0;

	if (unlikely(flags & O_PATH))
		return 0;
	if (S_ISLNK(inode->i_mode))
		return -ELOOP;
	if (S_ISDIR(inode->i_mode) && (write || (flags & __FMODE_EXEC)))
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
	if (write)
		mask |= MAY_WRITE;
	return inode_permission(inode, mask);
}

/*
 * The name was not there: make it. [dcache_lock, dropped for good; the walk's references still held]
 * Returns 0 with the new file's place in *out; -EEXIST when somebody was quicker.
 */
static int open_create(struct nameidata *nd, mode_t mode, struct path *out)
{
	struct dentry *parent, *d;
	struct inode *dir;
	int err;

	walk_unlock(nd); /* nd->base is the directory now */
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

/* The last component of an open: follow, create or take it. 0: nd->path is it; 1: created, *out has it.
 * [dcache_lock] */
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
			if (nd->last_type == LAST_DOTDOT)
				walk_dotdot(nd);
			return flags & O_CREAT ? (flags & O_EXCL ? -EEXIST : -EISDIR) : 0;
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
				return -EAGAIN;
			return err ? err : 1;
		}
		if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
			return -EEXIST;
		if (likely(!S_ISLNK(d->d_inode->i_mode)) || (nofollow && !nd->trailing)) {
			step_into(nd, d);
			return 0;
		}
		err = follow_link(nd, d);
		if (err)
			return err < 0 ? err : 0;
	}
}

/* Walk to the file, with references in *out. *created: it is ours, permissions do not matter. */
static int open_walk(int dfd, const char *name, int flags, mode_t mode, struct path *out, bool *created)
{
	struct nameidata nd;
	int err = path_init(&nd, dfd, name);

	if (err)
		return err;
	err = open_last(&nd, flags, mode, out);
	*created = err == 1;
	if (!err && ((flags & O_DIRECTORY) || nd.trailing) && !S_ISDIR(nd.path.dentry->d_inode->i_mode))
		err = -ENOTDIR;
	if (!err) {
		*out = nd.path;
		path_get(out);
	}
	path_finish(&nd);
	return err < 0 ? err : 0;
}

/* O_TRUNC: the file is emptied. One that is not open for writing counts as a writer for this time only. */
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

static noinline struct file *path_openat(int dfd, const char *name, int flags, mode_t mode)
{
	struct file *f;
	struct path path = {};
	bool created = false;
	int err;

	do {
		err = open_walk(dfd, name, flags, mode, &path, &created);
	} while (err == -EAGAIN); /* somebody made it between our look and our attempt */
	if (err)
		return ERR_PTR(err);
	err = created ? 0 : may_open(&path, flags);
	if (err)
		goto put_path;
	f = alloc_empty_file(flags);
	err = IS_ERR(f) ? PTR_ERR(f) : 0;
	if (err)
		goto put_path;
	if (flags & __FMODE_EXEC)
		f->f_mode |= FMODE_EXEC;
	err = vfs_open(&path, f);
	if (err) {
		free_empty_file(f);
		goto put_path;
	}
	if ((flags & O_TRUNC) && !created)
		err = handle_truncate(f);
	if (err) {
		fput(f);
		return ERR_PTR(err);
	}
	return f;
put_path:
	path_put(&path);
	return ERR_PTR(err);
}

noinline struct file *do_filp_open(int dfd, const char *name, int flags, mode_t mode)
{
	return path_openat(dfd, name, flags, mode);
}

struct file *filp_open(const char *path, int flags, mode_t mode)
{
	return *path ? do_filp_open(AT_FDCWD, path, flags, mode) : ERR_PTR(-ENOENT);
}

static int check_open_flags(int flags)
{
	if ((flags & O_DIRECTORY) && (flags & O_CREAT))
		return -EINVAL;
	return 0;
}

noinline long do_sys_openat2(int dfd, const char __user *filename, int flags, mode_t mode)
{
	struct filename name;
	struct file *f;
	long fd = check_open_flags(flags);

	flags &= ~__FMODE_EXEC; /* execve's own, not for callers */
	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	if (!fd)
		fd = getname(&name, filename, false);
	if (fd)
		return fd;
	fd = get_unused_fd_flags(flags);
	if (fd >= 0) {
		f = do_filp_open(dfd, name.name, flags, mode);
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

noinline long do_sys_open(int dfd, const char __user *filename, int flags, mode_t mode)
{
	return do_sys_openat2(dfd, filename, flags, mode);
}

SYSCALL_DEFINE4(openat, int, dfd, const char __user *, filename, int, flags, mode_t, mode)
{
	return do_sys_open(dfd, filename, flags, mode);
}

SYSCALL_DEFINE3(open, const char __user *, filename, int, flags, mode_t, mode)
{
	return do_sys_open(AT_FDCWD, filename, flags, mode);
}

SYSCALL_DEFINE2(creat, const char __user *, filename, mode_t, mode)
{
	return do_sys_open(AT_FDCWD, filename, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

SYSCALL_DEFINE1(close, unsigned, fd)
{
	struct file *f = fd_take(fd);

	return f ? filp_close(f) : -EBADF;
}

/* close_range(2): all descriptors first..last, or only mark them for exec. */
#define CLOSE_RANGE_CLOEXEC 4u
SYSCALL_DEFINE3(close_range, unsigned, first, unsigned, last, unsigned, flags)
{
	if ((flags & ~CLOSE_RANGE_CLOEXEC) || first > last)
		return -EINVAL;
	for (;;) {
		struct file *f = fget_task_next(current, &first);

		if (!f)
			return 0;
		fput(f);
		if (first > last)
			return 0;
		if (flags)
			fd_set_cloexec(first, true);
		else if ((f = fd_take(first)))
			filp_close(f);
		first++;
	}
}
