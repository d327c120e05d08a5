/*
 * Reading and writing files from inside the kernel. Reading goes page by page through the file's
 * get_page, the way mmap takes, so it works for files that have pages (ramfs) and needs no buffer of its own. A file
 * for which that would be slow has a read_kernel. Writing goes through write_kernel.
 */
#include "files.h"

#include <fs/fsnotify.h>
#include <kernel/export.h>
#include <mm/page.h>

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
