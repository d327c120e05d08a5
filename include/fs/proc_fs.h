/*
 * Files of modules in /proc, made and removed at run time. (What the kernel itself shows is registered when it is
 * compiled: <fs/text_file.h>.) Every mount of proc shows them.
 *
 * Removal waits for operations that run, and closes what is open (<fs/removable.h>): after it no code of the module is
 * called. So a module may go while programs have its files open, and struct proc_ops has no owner.
 *
 * Thread context, all of it. Makers return NULL when the name exists, its directory does not, or memory is short.
 */
#pragma once

#include <fs/seq_file.h>
#include <fs/vfs.h>

struct proc_dir_entry;

/* Missing operations answer as those of struct file_operations. */
struct proc_ops {
	unsigned proc_flags; /* 0: this kernel has no flag */
	int (*proc_open)(struct inode *inode, struct file *file);
	ssize_t (*proc_read)(struct file *file, char __user *buf, size_t n, loff_t *pos);
	ssize_t (*proc_write)(struct file *file, const char __user *buf, size_t n, loff_t *pos);
	loff_t (*proc_lseek)(struct file *file, loff_t off, int whence);
	int (*proc_release)(struct inode *inode, struct file *file);
	unsigned (*proc_poll)(struct file *file, struct poll_table *pt);
	long (*proc_ioctl)(struct file *file, unsigned cmd, unsigned long arg);
};

/*
 * A file, in the directory `parent` (NULL: /proc) under a name that may have directories before it. mode 0: 0444. `ops`
 * is copied. pde_data() of its inode is `data`.
 */
struct proc_dir_entry *proc_create_data(const char *name, mode_t mode, struct proc_dir_entry *parent,
					const struct proc_ops *ops, void *data);
struct proc_dir_entry *proc_create(const char *name, mode_t mode, struct proc_dir_entry *parent,
				   const struct proc_ops *ops);
/* A file of one text; m->private is `data`. */
struct proc_dir_entry *proc_create_single_data(const char *name, mode_t mode, struct proc_dir_entry *parent,
					       int (*show)(struct seq_file *m, void *v), void *data);
#define proc_create_single(name, mode, parent, show) proc_create_single_data(name, mode, parent, show, NULL)
/* A file of records. */
struct proc_dir_entry *proc_create_seq_data(const char *name, mode_t mode, struct proc_dir_entry *parent,
					    const struct seq_operations *ops, void *data);
#define proc_create_seq(name, mode, parent, ops) proc_create_seq_data(name, mode, parent, ops, NULL)
struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent);

static inline void *pde_data(const struct inode *inode)
{
	return inode->i_private;
}
/*
 * What `ls -l` shows of the entry, from the next look-up on. Before users can find it, or under a lock of the caller's.
 */
void proc_set_size(struct proc_dir_entry *e, loff_t size);
void proc_set_user(struct proc_dir_entry *e, uid_t uid, gid_t gid);

/* With all below it. NULL is allowed. Not from an operation of one of these files. */
void proc_remove(struct proc_dir_entry *e);
/* The same by name; a name that is not there is only reported. */
void remove_proc_entry(const char *name, struct proc_dir_entry *parent);
int remove_proc_subtree(const char *name, struct proc_dir_entry *parent);
