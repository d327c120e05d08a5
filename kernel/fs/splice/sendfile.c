/* sendfile(2): from a file that the kernel can read to one that it can write, page by page. */
#include "../files.h"

#include <fs/fsnotify.h>
#include <mm/page.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/uio.h>

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
