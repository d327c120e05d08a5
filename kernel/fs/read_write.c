/*
 * read(2), write(2), lseek(2), and the calls that differ from them only in where they read and write. They find the
 * file, check how it was opened, and call the file's own read or write with the position to use and to move.
 *
 *     sys_read -> ksys_read      descriptor to file, position, lock; count for /proc/<pid>/io
 *                   vfs_read     opened for reading? a sensible count?
 *                     f_op->read the file system, driver, pipe or control file
 *
 * The file position is guarded by f_pos_lock, which fdget_pos() takes only where another task could move it; pread and
 * pwrite bring a position of their own and need no lock.
 */
#include "files.h"

#include <fs/fsnotify.h>
#include <kernel/export.h>
#include <proc/resource.h>
#include <proc/syscall.h>
#include <uapi/uio.h>

/*
 * May a call reach this memory, and so far from this position? -EFAULT; -EINVAL: no loff_t could tell where the last
 * byte is, or the count is negative as a signed number. No file has to look out for a sum that overflows then.
 */
static __always_inline int check_area(const void __user *buf, size_t n, loff_t pos)
{
	if (unlikely(!access_ok(buf, n)))
		return -EFAULT;
	return unlikely(pos < 0 || n > (size_t)(LONG_MAX - pos)) ? -EINVAL : 0;
}

/*
 * The order of the checks decides which error comes first, and is Linux's. A count that is too large is cut to
 * MAX_RW_COUNT.
 */
noinline ssize_t vfs_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	ssize_t res;

	if (unlikely(!(f->f_mode & FMODE_READ)))
		return -EBADF;
	if (unlikely(!f->f_op->read))
		return S_ISDIR(f->f_inode->i_mode) ? -EISDIR : -EINVAL;
	res = check_area(buf, n, *pos);
	if (unlikely(res))
		return res;
	res = f->f_op->read(f, buf, min(n, MAX_RW_COUNT), pos);
	if (res > 0)
		fsnotify_file(f, IN_ACCESS);
	return res;
}

/* The checks of vfs_read(), for writing. The file's own operation applies RLIMIT_FSIZE (generic_write_checks). */
noinline ssize_t vfs_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	ssize_t res;

	if (unlikely(!(f->f_mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(!f->f_op->write))
		return -EINVAL;
	res = check_area(buf, n, *pos);
	if (unlikely(res))
		return res;
	res = f->f_op->write(f, buf, min(n, MAX_RW_COUNT), pos);
	if (res > 0)
		fsnotify_file(f, IN_MODIFY);
	return res;
}

/*
 * ksys_read and ksys_write are functions of their own because tutorials trace them by these names, which are Linux's.
 * /proc/<pid>/io counts every call, failed ones included, and the bytes of those that succeed.
 */
noinline ssize_t ksys_read(unsigned fd, char __user *buf, size_t n)
{
	struct fd f = fdget_pos(fd);
	ssize_t res;

	if (unlikely(!f.file))
		return -EBADF;
	res = account_read(vfs_read(f.file, buf, n, &f.file->f_pos));
	fdput_pos(f);
	return res;
}

noinline ssize_t ksys_write(unsigned fd, const char __user *buf, size_t n)
{
	struct fd f = fdget_pos(fd);
	ssize_t res;

	if (unlikely(!f.file))
		return -EBADF;
	res = account_write(vfs_write(f.file, buf, n, &f.file->f_pos));
	fdput_pos(f);
	return res;
}

/*
 * Beyond RLIMIT_FSIZE the process gets SIGXFSZ, as if it had sent it to itself; if it survives, the call says -EFBIG.
 */
static int file_too_big(void)
{
	send_sig(SIGXFSZ, current, 0);
	return -EFBIG;
}

/*
 * RLIMIT_FSIZE: a write that crosses the limit becomes shorter, and one that begins at the limit or behind it fails.
 * 0 or -EFBIG.
 */
int generic_write_checks(loff_t pos, size_t *n)
{
	u64 limit = rlimit(RLIMIT_FSIZE);

	if (likely(limit == RLIM_INFINITY) || !*n)
		return 0;
	if ((u64)pos >= limit)
		return file_too_big();
	*n = min(*n, limit - pos);
	return 0;
}

/* Only a file that grows is limited: one that is too large already may be cut. */
int inode_newsize_ok(const struct inode *inode, loff_t size)
{
	return size > READ_ONCE(inode->i_size) && (u64)size > rlimit(RLIMIT_FSIZE) ? file_too_big() : 0;
}

SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf, size_t, count)
{
	return ksys_read(fd, buf, count);
}

SYSCALL_DEFINE3(write, unsigned int, fd, const char __user *, buf, size_t, count)
{
	return ksys_write(fd, buf, count);
}

/* The position is on the stack, so the file's own is not moved and f_pos_lock is not needed. */
SYSCALL_DEFINE4(pread64, unsigned int, fd, char __user *, buf, size_t, count, loff_t, pos)
{
	struct fd f;
	ssize_t res;

	if (pos < 0)
		return -EINVAL;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_NOSEEK ? -ESPIPE : account_read(vfs_read(f.file, buf, count, &pos));
	fdput(f);
	return res;
}

/* As pread64(). The file is asked whether it has a position: pipes and terminals have none. */
SYSCALL_DEFINE4(pwrite64, unsigned int, fd, const char __user *, buf, size_t, count, loff_t, pos)
{
	struct fd f;
	ssize_t res;

	if (pos < 0)
		return -EINVAL;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_NOSEEK ? -ESPIPE : account_write(vfs_write(f.file, buf, count, &pos));
	fdput(f);
	return res;
}

/*
 * Files here do not tell where their holes are: for SEEK_DATA everything is data, and the only hole is at the end. A
 * position behind the end is allowed; a write there leaves a hole. f_pos is stored at the end, so a call that fails
 * moves nothing.
 */
loff_t default_llseek(struct file *f, loff_t off, int whence)
{
	loff_t size = READ_ONCE(f->f_inode->i_size);

	switch (whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		off += f->f_pos;
		break;
	case SEEK_END:
		off += size;
		break;
	case SEEK_DATA:
		if (off < 0 || off >= size)
			return -ENXIO;
		break;
	case SEEK_HOLE:
		if (off < 0 || off >= size)
			return -ENXIO;
		off = size;
		break;
	default:
		return -EINVAL;
	}
	if (off < 0)
		return -EINVAL;
	f->f_pos = off;
	return off;
}
EXPORT_SYMBOL(default_llseek);

/* [f_pos_lock where the file is shared] -ESPIPE for pipes and terminals. */
loff_t vfs_llseek(struct file *f, loff_t off, int whence)
{
	if (f->f_mode & FMODE_NOSEEK)
		return -ESPIPE;
	return f->f_op->llseek ? f->f_op->llseek(f, off, whence) : default_llseek(f, off, whence);
}

SYSCALL_DEFINE3(lseek, unsigned int, fd, off_t, offset, unsigned int, whence)
{
	struct fd f = fdget_pos(fd);
	loff_t res;

	if (!f.file)
		return -EBADF;
	res = vfs_llseek(f.file, offset, whence);
	fdput_pos(f);
	return res;
}
