/*
 * fcntl(2) and ioctl(2): what a descriptor is told apart from reading and writing. Commands that concern the descriptor
 * or the flags of the open file are handled here; all others go to the file's own ioctl.
 */
#include "files.h"

#include <fs/file_part.h>
#include <proc/syscall.h>
#include <uapi/termios.h>

#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_NOATIME) /* what F_SETFL may change here */

/* A compare-and-exchange, because another thread may change other bits at the same time, and f_flags has no lock. */
void file_set_flags(struct file *f, u32 mask, u32 value)
{
	u32 old = READ_ONCE(f->f_flags);

	while (!__atomic_compare_exchange_n(&f->f_flags, &old, (old & ~mask) | (value & mask), true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

/* O_ASYNC on or off. -ENOTTY: the file sends no signals. */
static int fcntl_set_async(unsigned fd, struct file *f, bool on)
{
	const struct file_part *part;

	for_each_in_table(file_parts, part)
		if (part->set_async)
			return part->set_async(fd, f, on);
	return -ENOTTY;
}

/*
 * F_SETFL. O_NOATIME is for the owner of the file, because it hides that the file is read. O_ASYNC stays as it is where
 * the file sends no signals, which is no error.
 */
static long fcntl_setfl(unsigned fd, struct file *f, unsigned long arg)
{
	int err = 0;

	if ((arg & O_NOATIME & ~f->f_flags) && !inode_owner_or_capable(f->f_inode))
		return -EPERM;
	if ((arg ^ f->f_flags) & O_ASYNC)
		err = fcntl_set_async(fd, f, arg & O_ASYNC);
	if (err && err != -ENOTTY)
		return err;
	file_set_flags(f, SETFL_MASK, arg);
	return 0;
}

long fcntl_part(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	const struct file_part *part;

	for_each_in_table(file_parts, part) {
		long res = part->fcntl ? part->fcntl(fd, f, cmd, arg) : FCNTL_UNKNOWN;

		if (res != FCNTL_UNKNOWN)
			return res;
	}
	return -EINVAL;
}

/* Commands that concern the open file, which several descriptors may share. */
static long fcntl_file(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	return cmd == F_SETFL ? fcntl_setfl(fd, f, arg) : fcntl_part(fd, f, cmd, arg);
}

/* Does another descriptor stand for this open file? 1, 0, -EBADF. */
static long fcntl_is_same(unsigned fd, const struct file *f)
{
	struct fd other = fdget_raw(fd);
	bool same = other.file == f;

	if (!other.file)
		return -EBADF;
	fdput(other);
	return same;
}

/* Commands that concern the descriptor, and F_GETFL, work for one of O_PATH, too; the others do not, as on Linux. */
static long do_fcntl(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return arg > INT_MAX ? -EINVAL : fd_dup(f, arg, cmd == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return fd_get_cloexec(fd);
	case F_SETFD:
		return fd_set_cloexec(fd, arg & FD_CLOEXEC);
	case F_DUPFD_QUERY:
		return fcntl_is_same(arg, f);
	case F_CREATED_QUERY:
		return !!(f->f_mode & FMODE_CREATED);
	case F_GETFL:
		return f->f_flags;
	default:
		return f->f_flags & O_PATH ? -EBADF : fcntl_file(fd, f, cmd, arg);
	}
}

SYSCALL_DEFINE3(fcntl, unsigned int, fd, unsigned int, cmd, unsigned long, arg)
{
	struct fd f = fdget_raw(fd);
	long res;

	if (!f.file)
		return -EBADF;
	res = do_fcntl(fd, f.file, cmd, arg);
	fdput(f);
	return res;
}

/* The older form of F_SETFL with O_NONBLOCK. */
static long ioctl_fionbio(struct file *f, int __user *arg)
{
	int on;

	if (get_user(on, arg))
		return -EFAULT;
	file_set_flags(f, O_NONBLOCK, on ? O_NONBLOCK : 0);
	return 0;
}

/* The older form of F_SETFL with O_ASYNC, which says so where the file sends no signals. */
static long ioctl_fioasync(unsigned fd, struct file *f, int __user *arg)
{
	int on;

	if (get_user(on, arg))
		return -EFAULT;
	return !on == !(f->f_flags & O_ASYNC) ? 0 : fcntl_set_async(fd, f, on);
}

/* How many bytes lie between the position and the end of a regular file; other files answer for themselves. */
static long ioctl_fionread(struct file *f, int __user *arg)
{
	loff_t left = i_size_read(f->f_inode) - f->f_pos;

	return put_user((int)clamp(left, (loff_t)0, (loff_t)INT_MAX), arg);
}

/* A file that has no ioctl function understands no command: -ENOTTY, "not a typewriter", for historical reasons. */
static noinline long vfs_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	return f->f_op->unlocked_ioctl ? f->f_op->unlocked_ioctl(f, cmd, arg) : -ENOTTY;
}

/* FIOCLEX, FIONCLEX, FIONBIO and FIOASYNC work on every file, so they are not passed on. */
SYSCALL_DEFINE3(ioctl, unsigned int, fd, unsigned int, cmd, unsigned long, arg)
{
	struct fd f = fdget(fd);
	long res;

	if (!f.file)
		return -EBADF;
	if (cmd == FIOCLEX || cmd == FIONCLEX)
		res = fd_set_cloexec(fd, cmd == FIOCLEX);
	else if (cmd == FIONBIO)
		res = ioctl_fionbio(f.file, (int __user *)arg);
	else if (cmd == FIOASYNC)
		res = ioctl_fioasync(fd, f.file, (int __user *)arg);
	else if (cmd == FIONREAD && S_ISREG(f.file->f_inode->i_mode))
		res = ioctl_fionread(f.file, (int __user *)arg);
	else
		res = vfs_ioctl(f.file, cmd, arg);
	fdput(f);
	return res;
}
