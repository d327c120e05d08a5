/*
 * The stat(2) family and readlink(2): what a file is. Nothing is locked: the attributes are read one by one, so an
 * answer may mix moments a little apart, as on Linux. vfs_getattr() fills a struct kstat in, which has all there is in
 * the kernel's own units; this file finds the path or descriptor and brings the answer into the form that each call
 * has.
 */
#include "../files.h"

#include <asm/uapi_stat.h>
#include <mm/page.h>
#include <proc/syscall.h>

/* The attributes of an open file. It needs no right but the descriptor. */
static int vfs_fstat(unsigned fd, struct kstat *stat)
{
	struct fd f = fdget_raw(fd);
	struct path path;
	int err;

	if (!f.file)
		return -EBADF;
	path = file_path(f.file);
	err = vfs_getattr(&path, stat);
	fdput(f);
	return err;
}

/*
 * The attributes of a file that is found by name. Only the way to the file needs rights: the file itself need not be
 * readable. With AT_EMPTY_PATH and an empty name, or NULL, it is the open file. 0 or -errno.
 */
static int vfs_statx(int dfd, const char __user *name, int flags, struct kstat *stat)
{
	unsigned how = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	struct path path;
	char first;
	int err;

	if (flags & AT_EMPTY_PATH) {
		if (dfd >= 0 && (!name || (!get_user(first, name) && !first)))
			return vfs_fstat(dfd, stat);
		how |= LOOKUP_EMPTY;
	}
	err = user_path_at(dfd, name, how, &path);
	if (err)
		return err;
	err = vfs_getattr(&path, stat);
	path_put(&path);
	return err;
}

/*
 * A device number in the form that programs know. The 12 bits of the major lie in the middle of the 20 bits of the
 * minor, because both were once 8 bits, and numbers of that time keep their form:
 *
 *     31        20 19      8 7       0
 *     minor 19..8   major     minor 7..0
 */
static u64 encode_dev(dev_t dev)
{
	u64 major = dev >> 20, minor = dev & 0xfffff;

	return (minor & 0xff) | (major << 8) | ((minor & ~0xffUL) << 12);
}

/*
 * The layout of struct stat is the machine's (<asm/uapi_stat.h>), its fields are the same everywhere. Padding is zeroed
 * with the rest, so that no stack memory reaches the user.
 */
static void fill_stat(struct stat *out, const struct kstat *k)
{
	*out = (struct stat){
		.st_dev = encode_dev(k->dev),
		.st_ino = k->ino,
		.st_mode = k->mode,
		.st_nlink = k->nlink,
		.st_uid = k->uid,
		.st_gid = k->gid,
		.st_rdev = encode_dev(k->rdev),
		.st_size = k->size,
		.st_blksize = k->blksize,
		.st_blocks = k->blocks,
		.st_atime = k->atime / NSEC_PER_SEC,
		.st_atime_nsec = k->atime % NSEC_PER_SEC,
		.st_mtime = k->mtime / NSEC_PER_SEC,
		.st_mtime_nsec = k->mtime % NSEC_PER_SEC,
		.st_ctime = k->ctime / NSEC_PER_SEC,
		.st_ctime_nsec = k->ctime % NSEC_PER_SEC,
	};
}

/* Filled in on the stack and copied as a whole, so that one check covers all fields. */
static long stat_to_user(const struct kstat *stat, struct stat __user *to)
{
	struct stat out;

	fill_stat(&out, stat);
	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

SYSCALL_DEFINE4(newfstatat, int, dfd, const char __user *, filename, struct stat __user *, statbuf, int, flag)
{
	struct kstat stat;
	int err;

	if (flag & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH))
		return -EINVAL;
	err = vfs_statx(dfd, filename, flag, &stat);
	return err ? err : stat_to_user(&stat, statbuf);
}

SYSCALL_DEFINE2(newfstat, unsigned int, fd, struct stat __user *, statbuf)
{
	struct kstat stat;
	int err = vfs_fstat(fd, &stat);

	return err ? err : stat_to_user(&stat, statbuf);
}

SYSCALL_DEFINE2(newstat, const char __user *, filename, struct stat __user *, statbuf)
{
	return sys_newfstatat(AT_FDCWD, (unsigned long)filename, (unsigned long)statbuf, 0);
}

/* As stat, but a link at the end is not followed. */
SYSCALL_DEFINE2(newlstat, const char __user *, filename, struct stat __user *, statbuf)
{
	return sys_newfstatat(AT_FDCWD, (unsigned long)filename, (unsigned long)statbuf, AT_SYMLINK_NOFOLLOW);
}

/* statx has seconds and nanoseconds in fields of their own, on both machines alike. */
static struct statx_timestamp statx_time(u64 ns)
{
	return (struct statx_timestamp){.tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC};
}

/* statx(2)'s layout is the same on all machines and has the halves of device numbers in separate fields. */
static void fill_statx(struct statx *x, const struct kstat *k)
{
	*x = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_blksize = k->blksize,
		.stx_nlink = k->nlink,
		.stx_uid = k->uid,
		.stx_gid = k->gid,
		.stx_mode = k->mode,
		.stx_ino = k->ino,
		.stx_size = k->size,
		.stx_blocks = k->blocks,
		.stx_atime = statx_time(k->atime),
		.stx_mtime = statx_time(k->mtime),
		.stx_ctime = statx_time(k->ctime),
		.stx_rdev_major = k->rdev >> 20,
		.stx_rdev_minor = k->rdev & 0xfffff,
		.stx_dev_major = k->dev >> 20,
		.stx_dev_minor = k->dev & 0xfffff,
	};
}

/* Everything that is known is returned, whatever `mask` asks for; stx_mask says what that is. */
SYSCALL_DEFINE5(statx, int, dfd, const char __user *, filename, unsigned, flags, unsigned int, mask,
		struct statx __user *, buffer)
{
	struct kstat stat;
	struct statx x;
	int err;

	if (mask & STATX__RESERVED)
		return -EINVAL;
	if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE)) ||
	    (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE)
		return -EINVAL;
	err = vfs_statx(dfd, filename, flags, &stat);
	if (err)
		return err;
	fill_statx(&x, &stat);
	return copy_to_user(buffer, &x, sizeof(x)) ? -EFAULT : 0;
}

/*
 * The text of a link, without a terminating zero and cut without notice when it does not fit, as readlink(2) has it.
 * The file system may make the text on the fly (/proc/self), so it gets a page to write in.
 */
static long do_readlink(struct dentry *link, char __user *buf, size_t size)
{
	char *page = get_free_page(GFP_KERNEL);
	const char *target;
	long len;

	if (!page)
		return -ENOMEM;
	target = link->d_inode->i_op->get_link(link, link->d_inode, page);
	if (IS_ERR(target)) {
		len = PTR_ERR(target);
	} else {
		len = min(strlen(target), size);
		if (copy_to_user(buf, target, len))
			len = -EFAULT;
	}
	free_page(page);
	return len;
}

/* What readlink says of a file that is not a link: an empty name names no link either, so as on Linux it is -ENOENT. */
static long not_a_link(const char __user *name)
{
	char first;

	if (get_user(first, name))
		return -EFAULT;
	return first ? -EINVAL : -ENOENT;
}

/* An empty name means the link that dfd is open on (with O_PATH), as on Linux. */
SYSCALL_DEFINE4(readlinkat, int, dfd, const char __user *, pathname, char __user *, buf, int, bufsiz)
{
	struct path path;
	long res;

	if (bufsiz <= 0)
		return -EINVAL;
	res = user_path_at(dfd, pathname, LOOKUP_EMPTY, &path);
	if (res)
		return res;
	res = S_ISLNK(path.dentry->d_inode->i_mode) ? do_readlink(path.dentry, buf, bufsiz) : not_a_link(pathname);
	path_put(&path);
	return res;
}

/* A link that is the last component is read, and those before it are followed as always. */
SYSCALL_DEFINE3(readlink, const char __user *, path, char __user *, buf, int, bufsiz)
{
	return sys_readlinkat(AT_FDCWD, (unsigned long)path, (unsigned long)buf, bufsiz);
}
