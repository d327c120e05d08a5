/* read(2), write(2), lseek(2) and the calls that only differ in where they read and write. */
#include "files.h"

#include <proc/resource.h>
#include <proc/syscall.h>
#include <uapi/uio.h>

noinline ssize_t vfs_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	if (unlikely(!(f->f_mode & FMODE_READ)))
		return -EBADF;
	if (unlikely(!f->f_op->read))
		return S_ISDIR(f->f_inode->i_mode) ? -EISDIR : -EINVAL;
	if ((ssize_t)n < 0)
		return -EINVAL;
	return f->f_op->read(f, buf, min(n, MAX_RW_COUNT), pos);
}

noinline ssize_t vfs_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	if (unlikely(!(f->f_mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(!f->f_op->write))
		return -EINVAL;
	if ((ssize_t)n < 0)
		return -EINVAL;
	return f->f_op->write(f, buf, min(n, MAX_RW_COUNT), pos);
}

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

/* SIGXFSZ, as if the process had sent it to itself. */
static int file_too_big(void)
{
	send_sig(SIGXFSZ, current, 0);
	return -EFBIG;
}

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

int inode_newsize_ok(const struct inode *inode, loff_t size)
{
	return size > READ_ONCE(inode->i_size) && (u64)size > rlimit(RLIMIT_FSIZE) ? file_too_big() : 0;
}

SYSCALL_DEFINE3(read, unsigned, fd, char __user *, buf, size_t, n)
{
	return ksys_read(fd, buf, n);
}

SYSCALL_DEFINE3(write, unsigned, fd, const char __user *, buf, size_t, n)
{
	return ksys_write(fd, buf, n);
}

SYSCALL_DEFINE4(pread64, unsigned, fd, char __user *, buf, size_t, n, loff_t, pos)
{
	struct fd f;
	ssize_t res;

	if (pos < 0)
		return -EINVAL;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_NOSEEK ? -ESPIPE : account_read(vfs_read(f.file, buf, n, &pos));
	fdput(f);
	return res;
}

SYSCALL_DEFINE4(pwrite64, unsigned, fd, const char __user *, buf, size_t, n, loff_t, pos)
{
	struct fd f;
	ssize_t res;

	if (pos < 0)
		return -EINVAL;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_NOSEEK ? -ESPIPE : account_write(vfs_write(f.file, buf, n, &pos));
	fdput(f);
	return res;
}

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
	case SEEK_DATA: /* no holes are told of: all is data, the hole is at the end */
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

/* [f_pos_lock where the file is shared] */
loff_t vfs_llseek(struct file *f, loff_t off, int whence)
{
	if (f->f_mode & FMODE_NOSEEK)
		return -ESPIPE;
	return f->f_op->llseek ? f->f_op->llseek(f, off, whence) : default_llseek(f, off, whence);
}

SYSCALL_DEFINE3(lseek, unsigned, fd, loff_t, off, unsigned, whence)
{
	struct fd f = fdget_pos(fd);
	loff_t res;

	if (!f.file)
		return -EBADF;
	res = f.file->f_flags & O_PATH ? -EBADF : vfs_llseek(f.file, off, whence);
	fdput_pos(f);
	return res;
}
