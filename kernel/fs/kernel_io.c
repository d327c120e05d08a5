/* Reading and writing files from inside the kernel, and sendfile(2). */
#include "files.h"

#include <mm/page.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/uio.h>

ssize_t kernel_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	ssize_t done = 0;

	if (!f->f_op->get_page)
		return -EINVAL;
	while (done < n) {
		loff_t left = READ_ONCE(f->f_inode->i_size) - *pos;
		unsigned off = *pos & (PAGE_SIZE - 1);
		size_t part = min_t(u64, n - done, PAGE_SIZE - off);
		struct page *page;

		if (left <= 0)
			break;
		part = min_t(u64, part, left);
		page = f->f_op->get_page(f, *pos >> PAGE_SHIFT);
		if (IS_ERR(page))
			return done ? done : PTR_ERR(page);
		memcpy((char *)buf + done, (char *)page_to_virt(page) + off, part);
		put_page(page);
		done += part;
		*pos += part;
	}
	return done;
}

ssize_t kernel_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	if (!(f->f_mode & FMODE_WRITE))
		return -EBADF;
	return f->f_op->write_kernel ? f->f_op->write_kernel(f, buf, n, pos) : -EINVAL;
}

/* One page or less from `in` at *pos to `out`. 0: end of file. */
static ssize_t send_page(struct file *out, struct file *in, loff_t *pos, size_t n)
{
	loff_t left = READ_ONCE(in->f_inode->i_size) - *pos;
	unsigned off = *pos & (PAGE_SIZE - 1);
	struct page *page;
	ssize_t res;

	if (left <= 0)
		return 0;
	page = in->f_op->get_page(in, *pos >> PAGE_SHIFT);
	if (IS_ERR(page))
		return PTR_ERR(page);
	n = min_t(u64, min_t(u64, n, PAGE_SIZE - off), left);
	res = kernel_write(out, (char *)page_to_virt(page) + off, n, &out->f_pos);
	put_page(page);
	if (res > 0)
		*pos += res;
	return res;
}

static ssize_t do_sendfile(struct file *out, struct file *in, loff_t *pos, size_t n)
{
	ssize_t done = 0;

	if (!(in->f_mode & FMODE_READ) || !(out->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!in->f_op->get_page || !out->f_op->write_kernel || (out->f_flags & O_APPEND) || *pos < 0)
		return -EINVAL;
	while (done < n) {
		ssize_t res = send_page(out, in, pos, n - done);

		if (res <= 0)
			return done ? done : res;
		done += res;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

SYSCALL_DEFINE4(sendfile64, unsigned, out_fd, unsigned, in_fd, loff_t __user *, upos, size_t, n)
{
	struct file *in = fget(in_fd), *out = fget(out_fd);
	loff_t pos = 0;
	ssize_t res = -EBADF;

	if (!in || !out)
		goto put;
	pos = in->f_pos;
	res = -EFAULT;
	if (upos && copy_from_user(&pos, upos, sizeof(pos)))
		goto put;
	res = account_write(account_read(do_sendfile(out, in, &pos, min(n, MAX_RW_COUNT))));
	if (!upos)
		in->f_pos = pos;
	else if (put_user(pos, upos))
		res = -EFAULT;
put:
	if (in)
		fput(in);
	if (out)
		fput(out);
	return res;
}
