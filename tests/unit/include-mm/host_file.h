/* A file of FILE_PAGES pages (of which the test says how many) that lives in memory. Include behind host_user_mm.h. */
#pragma once

static struct page *file_pages[FILE_PAGES]; /* the test makes them */
static unsigned file_end = FILE_PAGES;	    /* pages that it has now */

static struct page *file_get_page(struct file *file, unsigned long pgoff)
{
	if (pgoff >= file_end)
		return ERR_PTR(-EIO);
	get_page(file_pages[pgoff]);
	return file_pages[pgoff];
}

static unsigned file_find_pages(struct file *file, unsigned long pgoff, struct page **pages, unsigned n)
{
	unsigned found = 0;

	for (; found < n && pgoff + found < file_end; found++)
		get_page(pages[found] = file_pages[pgoff + found]);
	return found;
}

static const struct file_operations file_ops = {.get_page = file_get_page, .find_pages = file_find_pages};
static struct super_block file_sb = {.s_dev = 3 << 20 | 1};
static struct inode file_inode = {.i_ino = 77, .i_sb = &file_sb};
static struct file test_file = {
	.f_mode = FMODE_READ | FMODE_WRITE, .f_op = &file_ops, .f_inode = &file_inode, .f_count = ATOMIC_INIT(1)};
