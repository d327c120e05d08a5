/*
 * Reading and writing files from inside the kernel, and sendfile(2). Reading goes page by page through the file's
 * get_page, the way mmap takes, so it works for files that have pages (ramfs) and needs no buffer of its own. A file
 * for which that would be slow has a read_kernel. Writing goes through write_kernel.
 */
#include "files.h"

#include <fs/fsnotify.h>
#include <kernel/export.h>
#include <mm/page.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/uio.h>

/* How many bytes lie behind a position. What has pages and no size, as /dev/zero, does not end. */
static loff_t bytes_behind(const struct file *f, loff_t pos)
{
	return (S_ISREG(f->f_inode->i_mode) ? i_size_read(f->f_inode) : S64_MAX) - pos;
}

/*
 * Page by page. The size is looked at for each page, so that a file that is cut meanwhile ends early and no page
 * behind its end is read.
 */
ssize_t kernel_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	ssize_t done = 0;

	if (f->f_op->read_kernel)
		return f->f_op->read_kernel(f, buf, n, pos);
	if (!f->f_op->get_page)
		return -EINVAL;
	while (done < n) {
		loff_t left = bytes_behind(f, *pos);
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
EXPORT_SYMBOL(kernel_read);

/* f_mode is asked because the kernel also writes to files that a user has opened (sendfile). */
ssize_t kernel_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	ssize_t res = -EINVAL;

	if (!(f->f_mode & FMODE_WRITE))
		return -EBADF;
	if (f->f_op->write_kernel)
		res = f->f_op->write_kernel(f, buf, n, pos);
	if (res > 0)
		fsnotify_file(f, IN_MODIFY);
	return res;
}
EXPORT_SYMBOL(kernel_write);

/*
 * Send what lies in one page of `in` at *pos to `out`, at most n bytes. Bytes sent, 0 at the end of the file, or
 * -errno.
 */
static ssize_t send_page(struct file *out, struct file *in, loff_t *pos, size_t n)
{
	loff_t left = bytes_behind(in, *pos);
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

/*
 * The same from a file that the kernel can read, by way of a page of memory. The file's own idea of its position
 * counts: /dev/zero stays where it is.
 */
static ssize_t send_read(struct file *out, struct file *in, loff_t *pos, size_t n)
{
	char *page = get_free_page(GFP_KERNEL);
	loff_t at = *pos;
	ssize_t res = -ENOMEM;

	if (page)
		res = in->f_op->read_kernel(in, page, min(n, PAGE_SIZE), &at);
	if (res > 0)
		res = kernel_write(out, page, res, &out->f_pos);
	free_page(page);
	if (res > 0 && at != *pos)
		*pos += res;
	return res;
}

/*
 * Page by page, so that a signal or a full pipe ends the call after what is done. An output that is opened for
 * appending is refused, as on Linux.
 */
static ssize_t do_sendfile(struct file *out, struct file *in, loff_t *pos, size_t n)
{
	ssize_t done = 0;

	if (!(in->f_mode & FMODE_READ) || !(out->f_mode & FMODE_WRITE))
		return -EBADF;
	if ((!in->f_op->get_page && !in->f_op->read_kernel) || !out->f_op->write_kernel || (out->f_flags & O_APPEND) ||
	    *pos < 0)
		return -EINVAL;
	while (done < n) {
		ssize_t res =
			in->f_op->read_kernel ? send_read(out, in, pos, n - done) : send_page(out, in, pos, n - done);

		if (res <= 0)
			return done ? done : res;
		done += res;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	if (done)
		fsnotify_file(in, IN_ACCESS);
	return done;
}

/*
 * Without a position of the caller's, the input's own is used and moved. Input and output count in /proc/<pid>/io, as
 * one read and one write.
 */
SYSCALL_DEFINE4(sendfile64, int, out_fd, int, in_fd, loff_t __user *, offset, size_t, count)
{
	struct file *in = fget(in_fd), *out = fget(out_fd);
	loff_t pos = 0;
	ssize_t res = -EBADF;

	if (!in || !out)
		goto put;
	pos = in->f_pos;
	res = -EFAULT;
	if (offset && copy_from_user(&pos, offset, sizeof(pos)))
		goto put;
	res = account_write(account_read(do_sendfile(out, in, &pos, min(count, MAX_RW_COUNT))));
	if (!offset)
		in->f_pos = pos;
	else if (put_user(pos, offset))
		res = -EFAULT;
put:
	if (in)
		fput(in);
	if (out)
		fput(out);
	return res;
}
