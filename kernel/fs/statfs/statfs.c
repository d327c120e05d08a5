/*
 * statfs(2), and sync(2) with its family. A file system says how much it holds and has free; this file adds the flags
 * of the mount. What was written is never kept back here: it is in memory for good, or with the server of a file system
 * that has one. So only fsync(2) has work to do, and only when a server is to be told.
 */
#include "../files.h"

#include <mm/page.h>
#include <proc/syscall.h>
#include <uapi/mount.h>
#include <uapi/statfs.h>

/* Bits of f_flags, with Linux's values; the others are those of mount(2). */
#define ST_VALID   0x0020 /* f_flags means something */
#define ST_NOATIME 0x0400

/*
 * A file system that does not count what it holds leaves its sizes 0, as procfs does on Linux. Blocks are pages. 0 or
 * -EFAULT.
 */
static long do_statfs(const struct path *path, struct statfs __user *to)
{
	const struct super_block *sb = path->dentry->d_sb;
	struct statfs out = {
		.f_type = sb->s_magic,
		.f_bsize = PAGE_SIZE,
		.f_frsize = PAGE_SIZE,
		.f_namelen = NAME_MAX,
		.f_fsid = {sb->s_dev, 0},
		.f_flags = ST_VALID,
	};
	int err = 0;

	if (sb->s_op && sb->s_op->statfs)
		err = sb->s_op->statfs(sb, &out);
	if (err)
		return err;
	if (path->mnt) {
		out.f_flags |= path->mnt->mnt_flags & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
		if (path->mnt->mnt_flags & MS_NOATIME)
			out.f_flags |= ST_NOATIME;
	}
	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

/* No right to the file is needed except to reach it. */
SYSCALL_DEFINE2(statfs, const char __user *, pathname, struct statfs __user *, buf)
{
	struct path path;
	long res = user_path_at(AT_FDCWD, pathname, LOOKUP_FOLLOW, &path);

	if (res)
		return res;
	res = do_statfs(&path, buf);
	path_put(&path);
	return res;
}

/* A file without a mount (a pipe) has a file system all the same. */
SYSCALL_DEFINE2(fstatfs, unsigned int, fd, struct statfs __user *, buf)
{
	struct fd f = fdget_raw(fd);
	struct path path;
	long res;

	if (!f.file)
		return -EBADF;
	path = file_path(f.file);
	res = do_statfs(&path, buf);
	fdput(f);
	return res;
}

/* Written data has no other place than memory to go to, so it is in its place already. */
SYSCALL_DEFINE0(sync)
{
	return 0;
}

/*
 * fsync and fdatasync: a file system with a server is asked to write back; all others only check the descriptor. As on
 * Linux, only files and directories can be synchronised.
 */
static long do_fsync(unsigned fd, bool datasync)
{
	struct fd f = fdget(fd);
	long res;

	if (!f.file)
		return -EBADF;
	res = S_ISREG(f.file->f_inode->i_mode) || S_ISDIR(f.file->f_inode->i_mode) ? 0 : -EINVAL;
	if (!res && f.file->f_op->fsync)
		res = f.file->f_op->fsync(f.file, datasync);
	fdput(f);
	return res;
}

SYSCALL_DEFINE1(fsync, unsigned int, fd)
{
	return do_fsync(fd, false);
}

SYSCALL_DEFINE1(fdatasync, unsigned int, fd)
{
	return do_fsync(fd, true);
}

/* Any open file names its file system. */
SYSCALL_DEFINE1(syncfs, int, fd)
{
	struct fd f = fdget(fd);

	if (!f.file)
		return -EBADF;
	fdput(f);
	return 0;
}
