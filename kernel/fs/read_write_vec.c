/*
 * Scattered buffers: readv(2), writev(2), preadv(2), pwritev(2). The vector is copied and checked once, and then each
 * part is one ordinary read or write. Other readers and writers of the file may come in between two parts of a call;
 * Linux promises no more for most files.
 */
#include "files.h"

#include <asm/uaccess.h>
#include <mm/slab.h>
#include <proc/syscall.h>
#include <uapi/uio.h>

/* The lengths are checked one by one and cut as they add up, so that the sum fits into what a call returns. */
int import_iovec(const struct iovec __user *uvec, unsigned long n, struct iovec *fast, struct iovec **out)
{
	struct iovec *vec = fast;
	size_t total = 0;

	if (n > UIO_MAXIOV)
		return -EINVAL;
	if (n > UIO_FASTIOV) {
		vec = kmalloc(n * sizeof(*vec), GFP_KERNEL);
		if (!vec)
			return -ENOMEM;
	}
	*out = vec;
	if (copy_from_user(vec, uvec, n * sizeof(*vec)))
		return -EFAULT;
	for (unsigned long i = 0; i < n; i++) {
		/* The analyzer thinks that n * sizeof(*vec) may be 0 with n above 0, so that nothing was copied. */
		/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
		if ((ssize_t)vec[i].iov_len < 0)
			return -EINVAL;
		vec[i].iov_len = min(vec[i].iov_len, MAX_RW_COUNT - total);
		total += vec[i].iov_len;
	}
	return 0;
}

/*
 * Each part is one read or write, and the first one that is short ends the call. As for a plain read or write, an
 * error after some bytes is not reported: the caller learns how many bytes went and meets the error in the next call.
 */
static ssize_t do_iter(struct file *f, const struct iovec *vec, unsigned long n, loff_t *pos, bool write)
{
	ssize_t done = 0;

	for (unsigned long i = 0; i < n; i++) {
		ssize_t res;

		if (!vec[i].iov_len)
			continue;
		res = write ? vfs_write(f, vec[i].iov_base, vec[i].iov_len, pos)
			    : vfs_read(f, vec[i].iov_base, vec[i].iov_len, pos);
		if (res < 0)
			return done ? done : res;
		done += res;
		if (res < vec[i].iov_len)
			break;
	}
	return done;
}

/* The call counts once for /proc/<pid>/io, however many parts it has. */
static ssize_t do_readv_writev(struct file *f, const struct iovec __user *uvec, unsigned long n, loff_t *pos,
			       bool write)
{
	struct iovec fast[UIO_FASTIOV], *vec = fast;
	ssize_t res;

	if (!(f->f_mode & (write ? FMODE_WRITE : FMODE_READ)))
		return -EBADF;
	res = import_iovec(uvec, n, fast, &vec);
	if (!res && f->f_op->read_write_vec)
		res = f->f_op->read_write_vec(f, vec, n, write);
	else if (!res)
		res = do_iter(f, vec, n, pos, write);
	if (write)
		account_write(res);
	else
		account_read(res);
	if (vec != fast)
		kfree(vec);
	return res;
}

/* With the file's own position, which f_pos_lock guards for the whole call if the file is shared. */
static ssize_t do_vec_fd(unsigned fd, const struct iovec __user *vec, unsigned long n, bool write)
{
	struct fd f = fdget_pos(fd);
	ssize_t res;

	if (!f.file)
		return -EBADF;
	res = do_readv_writev(f.file, vec, n, &f.file->f_pos, write);
	fdput_pos(f);
	return res;
}

SYSCALL_DEFINE3(readv, unsigned long, fd, const struct iovec __user *, vec, unsigned long, vlen)
{
	return do_vec_fd(fd, vec, vlen, false);
}

SYSCALL_DEFINE3(writev, unsigned long, fd, const struct iovec __user *, vec, unsigned long, vlen)
{
	return do_vec_fd(fd, vec, vlen, true);
}

/* With a position of the caller's, which files without one (pipes) refuse. */
static ssize_t do_pvec(unsigned fd, const struct iovec __user *vec, unsigned long n, loff_t pos, bool write)
{
	struct fd f;
	ssize_t res;

	if (pos < 0)
		return -EINVAL;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	res = f.file->f_mode & FMODE_NOSEEK ? -ESPIPE : do_readv_writev(f.file, vec, n, &pos, write);
	fdput(f);
	return res;
}

SYSCALL_DEFINE5(preadv, unsigned long, fd, const struct iovec __user *, vec, unsigned long, vlen, unsigned long, pos_l,
		unsigned long, pos_h)
{
	return do_pvec(fd, vec, vlen, pos_l, false);
}

SYSCALL_DEFINE5(pwritev, unsigned long, fd, const struct iovec __user *, vec, unsigned long, vlen, unsigned long, pos_l,
		unsigned long, pos_h)
{
	return do_pvec(fd, vec, vlen, pos_l, true);
}
