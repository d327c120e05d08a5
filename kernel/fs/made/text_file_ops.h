/*
 * The operations of <fs/text_file.h>'s files one by one, for a file system whose own files have another one among them.
 * Context of all: a thread that may sleep. The write is text_file_write().
 */
#pragma once

#include <fs/vfs.h>

struct text_file;

/* A file without `show` can be opened for reading as well; the read is refused. 0, -ENOMEM. */
int text_file_open(struct inode *inode, struct file *f);
/* What text_file_open() has made goes. 0. */
int text_file_release(struct inode *inode, struct file *f);
/* Bytes read, -EINVAL for a file without `show`, and what seq_read() returns. */
ssize_t text_file_read(struct file *f, char __user *buf, size_t n, loff_t *pos);
/* The new position, -EINVAL. */
loff_t text_file_llseek(struct file *f, loff_t off, int whence);

/* text_file_create() with these operations in place of text_file_operations(), unless the file has its own (fop). */
int text_file_create_with(struct dentry *root, const struct text_file *t, mode_t dir_mode,
			  const struct file_operations *fop);
