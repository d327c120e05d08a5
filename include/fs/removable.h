/*
 * Files of modules in trees that the kernel makes (/proc, debugfs, sysfs): their operations may go while programs have
 * the file open. kernel/fs/removable explains how.
 *
 * When the file is removed, operations that run are waited for, `release` is called for each open file
 * that is left, and from then on such a file answers -EIO. After that no code of the module is called for it. So an
 * operation that sleeps for ever would make its module wait for ever: it should sleep interruptibly.
 */
#pragma once

#include <fs/poll.h>
#include <fs/text_file.h>
#include <fs/vfs.h>

/* Locks: a atomic; o `lock`; I immutable. */
struct removable_file {
	struct text_file text;		   /* [I] what its inodes have as i_text */
	const struct file_operations *fop; /* [I] the module's */
	atomic_t inodes;		   /* [a] references: the maker's, and one for each tree that shows it */
	atomic_t calls;			   /* [a] that run now; negative: it is being removed, or has been */
	struct completion *idle;	   /* [before the count goes negative] who removes it waits here */
	struct mutex lock;		   /* around `release`, which may sleep */
	struct list_head openers;	   /* [o] files whose release has not been called */
	struct poll_pollers pollers;	   /* tasks that sleep on queues of the module */
};

/*
 * Prepare a file with these operations and this mode, in no tree yet. `r` is the first member of what the caller has
 * allocated with kmalloc, and is freed with its last reference, the caller's or that of an inode. `fop` must stay until
 * the file is removed; each open file holds fop->owner. Any context.
 */
void removable_init(struct removable_file *r, const struct file_operations *fop, mode_t mode);
/* The file of an inode that removable_attach() made. */
static inline struct removable_file *removable_of(const struct inode *inode)
{
	return container_of(inode->i_text, struct removable_file, text);
}
/* Show it in a directory; i_private becomes `data`. The dentry, or ERR_PTR. Thread context. */
struct dentry *removable_attach(struct dentry *dir, const char *name, struct removable_file *r, void *data);
void removable_put(struct removable_file *r);

/*
 * Its names are gone, or are about to go: wait for the operations that run, release the open files, let no operation in
 * any more. Once for each file. Thread context, not from one of its operations.
 */
void removable_end(struct removable_file *r);

/* An inode of a tree with an evict_inode of its own ends. Other kinds of files are passed over. */
void removable_evict(struct inode *inode);
