/*
 * copy_file_range(2): bytes go from one regular file to another, or to another place of the same one, without passing
 * through the program's memory. They are copied through a page; no file system here can share pages between files.
 */
#include "../files.h"

#include <fs/fsnotify.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/uio.h>

/*
 * May so many bytes be copied, and how many are there? The checks come in Linux's order, so that the same error comes
 * first; *n is cut to the end of the input. A file of /proc or sysfs has the size 0, and nothing is copied from it. 0,
 * -EISDIR, -EINVAL (no regular file, or the ranges overlap), -EBADF, -EXDEV, -EOVERFLOW.
 */
static int copy_range_check(struct file *in, loff_t pos_in, struct file *out, loff_t pos_out, size_t *n)
{
	struct inode *from = in->f_inode, *to = out->f_inode;
	loff_t size;

	if (S_ISDIR(from->i_mode) || S_ISDIR(to->i_mode))
		return -EISDIR;
	if (!S_ISREG(from->i_mode) || !S_ISREG(to->i_mode))
		return -EINVAL;
	if (!(in->f_mode & FMODE_READ) || !(out->f_mode & FMODE_WRITE) || out->f_flags & O_APPEND)
		return -EBADF;
	if (from->i_sb != to->i_sb)
		return -EXDEV;
	if ((u64)pos_in + *n < (u64)pos_in || (u64)pos_out + *n < (u64)pos_out)
		return -EOVERFLOW;
	if (pos_in < 0 || pos_out < 0)
		return -EINVAL;
	size = i_size_read(from);
	*n = pos_in < size ? min_t(u64, *n, size - pos_in) : 0;
	return from == to && (u64)pos_out + *n > (u64)pos_in && (u64)pos_out < (u64)pos_in + *n ? -EINVAL : 0;
}

/* One piece, by way of `page`. A short write moves both positions by what was written. Bytes, 0 at the end, -errno. */
static ssize_t copy_range_piece(struct file *in, loff_t *pos_in, struct file *out, loff_t *pos_out, char *page,
				size_t n)
{
	loff_t pos = *pos_in;
	ssize_t res = kernel_read(in, page, n, &pos);

	if (res > 0)
		res = kernel_write(out, page, res, pos_out);
	if (res > 0)
		*pos_in += res;
	return res;
}

/* Bytes, or -errno when none were copied. A signal ends the call after what is done. */
static ssize_t copy_range(struct file *in, loff_t *pos_in, struct file *out, loff_t *pos_out, size_t n)
{
	ssize_t done = 0, res = copy_range_check(in, *pos_in, out, *pos_out, &n);
	char *page;

	if (res || !n)
		return res;
	n = min(n, MAX_RW_COUNT);
	page = get_free_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	while (done < n) {
		res = copy_range_piece(in, pos_in, out, pos_out, page, min_t(size_t, n - done, PAGE_SIZE));
		if (res <= 0)
			break;
		done += res;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	free_page(page);
	if (done)
		fsnotify_file(in, IN_ACCESS);
	return done ? done : res;
}

/* Where to begin: at the caller's position or the file's own. 0 or -EFAULT. */
static int copy_range_pos(const struct file *f, const loff_t __user *user, loff_t *pos)
{
	*pos = READ_ONCE(f->f_pos);
	return user && copy_from_user(pos, user, sizeof(*pos)) ? -EFAULT : 0;
}

static int copy_range_put_pos(struct file *f, loff_t __user *user, loff_t pos)
{
	if (user)
		return copy_to_user(user, &pos, sizeof(pos)) ? -EFAULT : 0;
	f->f_pos = pos;
	return 0;
}

/* The call for two open files: positions, flags, the copy, and the positions again, which move only if bytes have. */
static ssize_t copy_range_files(struct file *in, loff_t __user *off_in, struct file *out, loff_t __user *off_out,
				size_t n, unsigned flags)
{
	loff_t pos_in, pos_out;
	ssize_t res = copy_range_pos(in, off_in, &pos_in) ?: copy_range_pos(out, off_out, &pos_out);
	int err;

	if (res)
		return res;
	if (flags)
		return -EINVAL;
	res = account_write(account_read(copy_range(in, &pos_in, out, &pos_out, n)));
	if (res <= 0)
		return res;
	err = copy_range_put_pos(in, off_in, pos_in) ?: copy_range_put_pos(out, off_out, pos_out);
	return err ? err : res;
}

/* References, not borrowed files, as in splice(2): the call may take long while other threads close descriptors. */
SYSCALL_DEFINE6(copy_file_range, int, fd_in, loff_t __user *, off_in, int, fd_out, loff_t __user *, off_out, size_t,
		len, unsigned int, flags)
{
	struct file *in = fget(fd_in), *out = fget(fd_out);
	ssize_t res = -EBADF;

	if (in && out)
		res = copy_range_files(in, off_in, out, off_out, len, flags);
	if (in)
		fput(in);
	if (out)
		fput(out);
	return res;
}
