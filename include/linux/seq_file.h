/* Text for readers, record by record. */
#pragma once

#include <fs/seq_file.h>
#include <linux/fs.h>

/* A file of one show function: NAME_show() makes NAME_fops, or NAME_proc_ops. */
#define DEFINE_SHOW_ATTRIBUTE(name)                                                  \
	static int name##_open(struct inode *inode, struct file *file)               \
	{                                                                            \
		return single_open(file, name##_show, inode->i_private);             \
	}                                                                            \
	static const struct file_operations name##_fops = {.owner = THIS_MODULE,     \
							   .open = name##_open,      \
							   .read = seq_read,         \
							   .llseek = seq_lseek,      \
							   .release = single_release}
#define DEFINE_PROC_SHOW_ATTRIBUTE(name)                                             \
	static int name##_open(struct inode *inode, struct file *file)               \
	{                                                                            \
		return single_open(file, name##_show, inode->i_private);             \
	}                                                                            \
	static const struct proc_ops name##_proc_ops = {.proc_open = name##_open,    \
							.proc_read = seq_read,       \
							.proc_lseek = seq_lseek,     \
							.proc_release = single_release}
/* Of an iterator, NAME_sops makes NAME_fops. */
#define DEFINE_SEQ_ATTRIBUTE(name)                                                   \
	static int name##_open(struct inode *inode, struct file *file)               \
	{                                                                            \
		int err = seq_open(file, &name##_sops);                              \
		if (!err)                                                            \
			((struct seq_file *)file->private_data)->private = inode->i_private; \
		return err;                                                          \
	}                                                                            \
	static const struct file_operations name##_fops = {.owner = THIS_MODULE,     \
							   .open = name##_open,      \
							   .read = seq_read,         \
							   .llseek = seq_lseek,      \
							   .release = seq_release}
#define SEQ_START_TOKEN ((void *)1)
