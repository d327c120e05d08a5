/*
 * fallocate(2): give a range of a file its memory before it is written, so that a write there does not fail for want of
 * it, or take the memory of a range away (PUNCH_HOLE). The system call checks what all files have in common; ramfs does
 * the rest, and other file systems have no such operation.
 */
#include "../../files.h"
#include "../ramfs.h"

#include <fs/fsnotify.h>
#include <fs/libfs.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/signal.h>
#include <proc/syscall.h>

/* [i_lock] Bytes at..end - 1 of one page become zeros, if there is a page. */
static void clear_part(struct inode *inode, loff_t at, loff_t end)
{
	struct page *page = at < end ? ramfs_find_page(inode, at >> PAGE_SHIFT) : NULL;

	if (!page)
		return;
	memset((char *)page_to_virt(page) + (at & (PAGE_SIZE - 1)), 0, end - at);
	flush_dcache_page(page);
	put_page(page);
}

/*
 * [i_lock] Whole pages leave the file and then the mappings, so that a fault in between finds the hole
 * (unmap_file_pages). The rest, at both ends, is cleared.
 */
static int punch_hole(struct inode *inode, loff_t off, loff_t end)
{
	loff_t first = ALIGN(off, PAGE_SIZE), last = ALIGN_DOWN(end, PAGE_SIZE);

	if (*ramfs_seals(inode) & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	clear_part(inode, off, min(first, end));
	if (last >= first)
		clear_part(inode, last, end);
	if (last > first) {
		ramfs_drop_range(inode, first >> PAGE_SHIFT, last >> PAGE_SHIFT);
		unmap_file_pages(inode, first >> PAGE_SHIFT, last >> PAGE_SHIFT);
	}
	return 0;
}

/*
 * [i_lock] Pages for all holes of the range. When memory runs out, or a signal comes, those that were made behind the
 * end of the file go again: only a truncation could free them otherwise. Those inside the file may be mapped by now and
 * stay.
 */
static int fill_holes(struct inode *inode, unsigned long first, unsigned long last)
{
	unsigned long behind = max(first, DIV_ROUND_UP((u64)inode->i_size, PAGE_SIZE)), made_from = last;
	int err = 0;

	for (unsigned long index = first; index < last && !err; index++) {
		struct page *page = ramfs_find_page(inode, index);

		if (!page) {
			page = ramfs_new_page(inode, index);
			if (index >= behind)
				made_from = min(made_from, index);
		}
		if (IS_ERR(page))
			err = PTR_ERR(page);
		else
			put_page(page);
		if (!err && signal_pending(current))
			err = -EINTR;
		if (err && made_from < last)
			ramfs_drop_range(inode, made_from, index + 1);
	}
	return err;
}

/* [i_lock] The limit of the process comes first, then the seal, which forbids room behind the end, too; as on Linux. */
static int allocate(struct inode *inode, int mode, loff_t off, loff_t end)
{
	bool grow = !(mode & FALLOC_FL_KEEP_SIZE) && end > inode->i_size;
	int err = inode_newsize_ok(inode, end);

	if (!err && end > inode->i_size && *ramfs_seals(inode) & F_SEAL_GROW)
		err = -EPERM;
	if (!err)
		err = fill_holes(inode, off >> PAGE_SHIFT, DIV_ROUND_UP((u64)end, PAGE_SIZE));
	if (!err && grow)
		__atomic_store_n(&inode->i_size, end, __ATOMIC_RELEASE);
	return err;
}

/* A change of what is in the file, as a write is: it takes set-id bits away and changes the times. */
static int ramfs_fallocate(struct file *f, int mode, loff_t off, loff_t len)
{
	struct inode *inode = f->f_inode;
	int err;

	if (off + len > RAMFS_MAX_SIZE)
		return -EFBIG;
	mutex_lock(&inode->i_lock);
	if (mode & FALLOC_FL_PUNCH_HOLE)
		err = punch_hole(inode, off, off + len);
	else
		err = allocate(inode, mode, off, off + len);
	if (!err) {
		file_remove_privs(inode);
		inode->i_mtime = inode->i_ctime = inode_now();
	}
	mutex_unlock(&inode->i_lock);
	return err;
}

/* The order of the checks is Linux's. */
static int vfs_fallocate(struct file *f, int mode, loff_t off, loff_t len)
{
	mode_t type = f->f_inode->i_mode & S_IFMT;
	int err;

	if (off < 0 || len <= 0)
		return -EINVAL;
	if (mode != 0 && mode != FALLOC_FL_KEEP_SIZE && mode != (FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	if (!(f->f_mode & FMODE_WRITE))
		return -EBADF;
	if (type == S_IFIFO)
		return -ESPIPE;
	if (type != S_IFREG)
		return type == S_IFDIR ? -EISDIR : -ENODEV;
	if (off > LONG_MAX - len)
		return -EFBIG;
	err = ramfs_seals(f->f_inode) ? ramfs_fallocate(f, mode, off, len) : -EOPNOTSUPP;
	if (!err)
		fsnotify_file(f, IN_MODIFY);
	return err;
}

SYSCALL_DEFINE4(fallocate, int, fd, int, mode, loff_t, offset, loff_t, len)
{
	struct fd f = fdget(fd);
	long res;

	if (!f.file)
		return -EBADF;
	res = vfs_fallocate(f.file, mode, offset, len);
	fdput(f);
	return res;
}
