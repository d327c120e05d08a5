/* Text for readers, record by record. */
#pragma once

#include <fs/seq_file.h>
#include <linux/fs.h>
#include <linux/list.h>

/* A file of one show function: NAME_show() makes NAME_fops, or NAME_proc_ops. */
#define DEFINE_SHOW_ATTRIBUTE(name)                                              \
	static int name##_open(struct inode *inode, struct file *file)           \
	{                                                                        \
		return single_open(file, name##_show, inode->i_private);         \
	}                                                                        \
	static const struct file_operations name##_fops = {.owner = THIS_MODULE, \
							   .open = name##_open,  \
							   .read = seq_read,     \
							   .llseek = seq_lseek,  \
							   .release = single_release}
#define DEFINE_PROC_SHOW_ATTRIBUTE(name)                                          \
	static int name##_open(struct inode *inode, struct file *file)            \
	{                                                                         \
		return single_open(file, name##_show, inode->i_private);          \
	}                                                                         \
	static const struct proc_ops name##_proc_ops = {.proc_open = name##_open, \
							.proc_read = seq_read,    \
							.proc_lseek = seq_lseek,  \
							.proc_release = single_release}
/* Of an iterator, NAME_sops makes NAME_fops. */
#define DEFINE_SEQ_ATTRIBUTE(name)                                                           \
	static int name##_open(struct inode *inode, struct file *file)                       \
	{                                                                                    \
		int err = seq_open(file, &name##_sops);                                      \
		if (!err)                                                                    \
			((struct seq_file *)file->private_data)->private = inode->i_private; \
		return err;                                                                  \
	}                                                                                    \
	static const struct file_operations name##_fops = {.owner = THIS_MODULE,             \
							   .open = name##_open,              \
							   .read = seq_read,                 \
							   .llseek = seq_lseek,              \
							   .release = seq_release}
#define SEQ_START_TOKEN ((void *)1)

/* What start and next return for a list of records, whose lock the caller holds; _head: the head of the table first. */
static inline struct list_head *seq_list_start(struct list_head *head, loff_t pos)
{
	struct list_head *p;

	list_for_each(p, head)
		if (pos-- == 0)
			return p;
	return NULL;
}
static inline struct list_head *seq_list_start_head(struct list_head *head, loff_t pos)
{
	return pos ? seq_list_start(head, pos - 1) : head;
}
static inline struct list_head *seq_list_next(void *v, struct list_head *head, loff_t *pos)
{
	struct list_head *p = ((struct list_head *)v)->next;

	++*pos;
	return p == head ? NULL : p;
}
