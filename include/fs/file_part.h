/* Rooms that keep something for open files, and are not known to kernel/fs. */
#pragma once

#include <lib/types.h>

struct file;
struct seq_file;

/* Each member may be NULL. Thread context, no lock held; all may sleep. */
struct file_part {
	/*
	 * The last reference to a file is gone, and f_ep, f_fown, or i_locks of its inode is set: take away what hangs
	 * there. Its names and its operations are there still.
	 */
	void (*release)(struct file *f);
	/* A descriptor of the table `owner` was closed, not one of O_PATH, and i_locks of its inode is set. */
	void (*close)(struct file *f, const void *owner);
	/* A command of fcntl(2) that kernel/fs does not know. FCNTL_UNKNOWN: not of this part. */
	long (*fcntl)(unsigned fd, struct file *f, unsigned cmd, unsigned long arg);
	/* Switch O_ASYNC: signals name the descriptor `fd`. 0, also where it is so; -ENOTTY: the file sends none. */
	int (*set_async)(unsigned fd, struct file *f, bool on);
	/* Lines for fdinfo of a descriptor of the table `owner`. */
	void (*show)(struct seq_file *m, const struct file *f, const void *owner);
};
#define FCNTL_UNKNOWN	      LONG_MIN /* F_GETOWN has a negative result, so no number of an error will do */
#define REGISTER_FILE_PART(p) REGISTER_IN(file_parts, p)
DECLARE_TABLE(file_parts, const struct file_part);

/* Such a command, for all parts. -EINVAL: it is of none. Thread context. */
long fcntl_part(unsigned fd, struct file *f, unsigned cmd, unsigned long arg);
