/*
 * Changing what a file is (chmod, chown, truncate) and asking what one may do with it (access). These system calls find
 * the file, by name or by descriptor, check that its mount may be written, and leave the decision to notify_change()
 * (setattr.c), which takes the file's i_lock.
 */
#include "../files.h"

#include <proc/cred.h>
#include <proc/syscall.h>
#include <uapi/mount.h>

/*
 * The mount is asked here, and the rights inside notify_change(): so a read-only mount is reported before a lack of
 * rights, as on Linux. 0 or -errno.
 */
int change_path(int dfd, const char __user *name, unsigned how, const struct iattr *attr)
{
	struct path path;
	int err = user_path_at(dfd, name, how, &path);

	if (err)
		return err;
	err = mnt_want_write(&path);
	if (!err)
		err = notify_change(path.dentry, attr);
	path_put(&path);
	return err;
}

/* The descriptor need not be open for writing: what counts is who the caller is, as with a name. */
int change_fd(unsigned fd, const struct iattr *attr)
{
	struct fd f = fdget(fd);
	struct path path;
	int err;

	if (!f.file)
		return -EBADF;
	path = file_path(f.file);
	err = mnt_want_write(&path);
	if (!err)
		err = notify_change(path.dentry, attr);
	fdput(f);
	return err;
}

/* Only the permission bits can be changed; the type of a file is for ever. */
SYSCALL_DEFINE3(fchmodat, int, dfd, const char __user *, filename, umode_t, mode)
{
	struct iattr attr = {.valid = ATTR_MODE, .mode = mode & 07777};

	return change_path(dfd, filename, LOOKUP_FOLLOW, &attr);
}

/* With AT_SYMLINK_NOFOLLOW a link itself is meant, which has no mode that could be changed: -EOPNOTSUPP. */
SYSCALL_DEFINE4(fchmodat2, int, dfd, const char __user *, filename, umode_t, mode, unsigned int, flags)
{
	struct iattr attr = {.valid = ATTR_MODE, .mode = mode & 07777};
	unsigned how = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return change_path(dfd, filename, how | (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &attr);
}

SYSCALL_DEFINE2(chmod, const char __user *, filename, umode_t, mode)
{
	return sys_fchmodat(AT_FDCWD, (unsigned long)filename, mode);
}

/* By descriptor: no path is walked, so only the rights to change the file count. */
SYSCALL_DEFINE2(fchmod, unsigned int, fd, umode_t, mode)
{
	struct iattr attr = {.valid = ATTR_MODE, .mode = mode & 07777};

	return change_fd(fd, &attr);
}

/*
 * An id of -1 leaves that id as it is. ATTR_KILL_PRIV clears the set-id bits: they gave whoever ran the file the old
 * owner's rights, and must not give the new owner's.
 */
static struct iattr chown_attr(uid_t uid, gid_t gid)
{
	return (struct iattr){
		.valid = ATTR_KILL_PRIV | (uid != (uid_t)-1 ? ATTR_UID : 0) | (gid != (gid_t)-1 ? ATTR_GID : 0),
		.uid = uid,
		.gid = gid,
	};
}

/* Without AT_SYMLINK_NOFOLLOW the file behind a link changes its owner. */
SYSCALL_DEFINE5(fchownat, int, dfd, const char __user *, filename, uid_t, user, gid_t, group, int, flag)
{
	struct iattr attr = chown_attr(user, group);
	unsigned how = flag & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

	if (flag & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return change_path(dfd, filename, how | (flag & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &attr);
}

SYSCALL_DEFINE3(chown, const char __user *, filename, uid_t, user, gid_t, group)
{
	return sys_fchownat(AT_FDCWD, (unsigned long)filename, user, group, 0);
}

SYSCALL_DEFINE3(lchown, const char __user *, filename, uid_t, user, gid_t, group)
{
	return sys_fchownat(AT_FDCWD, (unsigned long)filename, user, group, AT_SYMLINK_NOFOLLOW);
}

SYSCALL_DEFINE3(fchown, unsigned int, fd, uid_t, user, gid_t, group)
{
	struct iattr attr = chown_attr(user, group);

	return change_fd(fd, &attr);
}

/*
 * The call is a writer of the file while it lasts, so a running program cannot be cut. A wrong length is told before
 * the path is looked at, as on Linux.
 */
SYSCALL_DEFINE2(truncate, const char __user *, path, long, length)
{
	struct path found;
	int err = length < 0 ? -EINVAL : user_path_at(AT_FDCWD, path, LOOKUP_FOLLOW, &found);

	if (err)
		return err;
	err = mnt_want_write(&found);
	if (!err && S_ISREG(found.dentry->d_inode->i_mode))
		err = inode_permission(found.dentry->d_inode, MAY_WRITE);
	if (!err)
		err = get_write_access(found.dentry->d_inode);
	if (!err) {
		err = vfs_truncate(found.dentry->d_inode, found.dentry, length);
		put_write_access(found.dentry->d_inode);
	}
	path_put(&found);
	return err;
}

/*
 * The open file has been a writer since its open. What is no regular file, or is not open for writing, is -EINVAL, as
 * on Linux.
 */
SYSCALL_DEFINE2(ftruncate, unsigned int, fd, off_t, length)
{
	struct fd f = fdget(fd);
	int err = -EINVAL;

	if (!f.file)
		return -EBADF;
	if ((f.file->f_mode & FMODE_WRITE) && S_ISREG(f.file->f_inode->i_mode))
		err = vfs_truncate(f.file->f_inode, f.file->f_dentry, length);
	fdput(f);
	return err;
}

/*
 * May the caller, with the ids for files as they are now, do `mode` (R_OK, W_OK, X_OK) with this name? What cannot be
 * written at all is told before a lack of rights. Device files and fifos may be written on a read-only mount, since the
 * writing goes elsewhere.
 */
static int access_path(int dfd, const char __user *name, unsigned how, int mode)
{
	struct path path;
	struct inode *inode;
	int err = user_path_at(dfd, name, how, &path);

	if (err)
		return err;
	inode = path.dentry->d_inode;
	if ((mode & X_OK) && S_ISREG(inode->i_mode) && path.mnt && (path.mnt->mnt_flags & MS_NOEXEC))
		err = -EACCES;
	if (!err && (mode & W_OK) && !is_special(inode))
		err = mnt_want_write(&path);
	if (!err)
		err = inode_permission(inode, mode);
	path_put(&path);
	return err;
}

/*
 * access(2) asks for the real user, and so on the way to the file as well: the ids for files are exchanged for the
 * whole walk, and given back after it. AT_EACCESS keeps the effective ones. The answer may be wrong a moment later;
 * programs that act on it must be ready for that.
 */
static long do_faccessat(int dfd, const char __user *name, int mode, int flags)
{
	unsigned how = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	struct fsids old;
	long err;

	if ((mode & ~(R_OK | W_OK | X_OK)) || (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)))
		return -EINVAL;
	how |= flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0;
	if (flags & AT_EACCESS)
		return access_path(dfd, name, how, mode);
	old = override_fsids();
	err = access_path(dfd, name, how, mode);
	revert_fsids(old);
	return err;
}

SYSCALL_DEFINE3(faccessat, int, dfd, const char __user *, filename, int, mode)
{
	return do_faccessat(dfd, filename, mode, 0);
}

SYSCALL_DEFINE4(faccessat2, int, dfd, const char __user *, filename, int, mode, int, flags)
{
	return do_faccessat(dfd, filename, mode, flags);
}

SYSCALL_DEFINE2(access, const char __user *, filename, int, mode)
{
	return do_faccessat(AT_FDCWD, filename, mode, 0);
}
