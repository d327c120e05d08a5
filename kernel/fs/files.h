/* Descriptor tables, and the look-up that every system call on a file begins with. */
#pragma once

#include "internal.h"

#define NR_OPEN_DEFAULT 64

/*
 * Locks: l its lock; a atomic; I immutable. Every store is made with the lock held. A table that a single task uses
 * (count 1) is changed by that task alone, and others only look at it with the lock (fget_task); so the task's own
 * look-ups take no lock. The arrays only grow. The structure itself goes after a grace period.
 */
struct files_struct {
	atomic_t count;
	spinlock_t lock;
	unsigned max;		/* [l] entries */
	unsigned next_fd;	/* [l] no descriptor below is free */
	struct file **fd;	/* [l] NULL: free or reserved */
	unsigned long *open;	/* [l] bits: taken */
	unsigned long *cloexec; /* [l] bits: exec closes it */
	struct rcu_head rcu;
	struct file *fd_inline[NR_OPEN_DEFAULT];
	unsigned long bits_inline[2][NR_OPEN_DEFAULT / 64];
};

/* A descriptor for the time of one system call: borrowed from a table that has no other user, else with a reference. */
struct fd {
	struct file *file; /* NULL: -EBADF */
	unsigned flags;	   /* FDPUT_* */
};
#define FDPUT_FPUT	 1u /* fdput drops a reference */
#define FDPUT_POS_UNLOCK 2u /* fdput_pos unlocks f_pos_lock */

/* file.c. An empty table with one user, or NULL. */
struct files_struct *alloc_files(void);
/* Make room for descriptor fd, whatever fs.nr_open says. The lock is not held. 0 or -ENOMEM. */
int grow_files(struct files_struct *files, unsigned fd);

/* The slow paths of fdget_raw and fdget_pos: with a reference, and with f_pos_lock. */
struct fd fdget_shared(unsigned fd);
struct fd fdget_pos_lock(struct fd f);

/* [l, or the only user] The file of a descriptor, or NULL. */
static inline struct file *files_lookup(struct files_struct *files, unsigned fd)
{
	return likely(fd < files->max) ? files->fd[fd] : NULL;
}

/*
 * The file of a descriptor, to be given back by fdput. With one user the file is borrowed without a reference: only
 * this task could add a user that changes the table (by clone), so a count of 1 stays 1 until the system call ends, and
 * the table's own reference keeps the file.
 */
static __always_inline struct fd fdget_raw(unsigned fd)
{
	struct files_struct *files = current->files;

	/* Acquire pairs with put_files_struct() of a task that has closed files: what it took out is seen as gone. */
	if (likely(smp_load_acquire(&files->count.counter) == 1))
		return (struct fd){files_lookup(files, fd), 0};
	return fdget_shared(fd);
}

static inline void fdput(struct fd f)
{
	if (unlikely(f.flags & FDPUT_FPUT) && f.file)
		fput(f.file);
}

/*
 * The same for calls that need more of a file than its name: to them a descriptor of O_PATH is not open, as on Linux.
 */
static __always_inline struct fd fdget(unsigned fd)
{
	struct fd f = fdget_raw(fd);

	if (f.file && (f.file->f_flags & O_PATH)) {
		fdput(f);
		f.file = NULL;
	}
	return f;
}

/*
 * The same for calls that use the file position. f_pos_lock is taken only where another task could move the position: a
 * borrowed file with a single reference is this task's alone.
 */
static __always_inline struct fd fdget_pos(unsigned fd)
{
	struct fd f = fdget(fd);

	if (!f.file || (f.file->f_mode & FMODE_NOSEEK))
		return f;
	if ((f.flags & FDPUT_FPUT) || atomic_read(&f.file->f_count) > 1)
		f = fdget_pos_lock(f);
	return f;
}

/* For /proc/<pid>/io: count a call that has read or written `res` bytes (below 0: it failed). Return res. */
static __always_inline ssize_t account_read(ssize_t res)
{
	current->io.syscr++;
	if (likely(res > 0))
		current->io.rchar += res;
	return res;
}
static __always_inline ssize_t account_write(ssize_t res)
{
	current->io.syscw++;
	if (likely(res > 0))
		current->io.wchar += res;
	return res;
}

/* Set the bits of `mask` in f_flags to `value` (fcntl.c). Any context. */
void file_set_flags(struct file *f, u32 mask, u32 value);

/*
 * Change what a file is (attr.c). The file is found by name (how: LOOKUP_*) or by descriptor. 0 or -errno. Thread
 * context.
 */
int change_path(int dfd, const char __user *name, unsigned how, const struct iattr *attr);
int change_fd(unsigned fd, const struct iattr *attr);

static inline void fdput_pos(struct fd f)
{
	if (unlikely(f.flags & FDPUT_POS_UNLOCK))
		mutex_unlock(&f.file->f_pos_lock);
	fdput(f);
}

/* How many bytes lie behind a position. What has pages and no size, as /dev/zero, does not end. */
static inline loff_t bytes_behind(const struct file *f, loff_t pos)
{
	return (S_ISREG(f->f_inode->i_mode) ? i_size_read(f->f_inode) : S64_MAX) - pos;
}
