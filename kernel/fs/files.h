/* Descriptor tables, and the look-up that every system call on a file begins with. */
#pragma once

#include "internal.h"

#define NR_OPEN_DEFAULT 64

/*
 * Locks: l its lock; a atomic. A table that one task uses is changed and read by that task alone, others only
 * look (fget_task), with the lock; so its own look-ups take no lock, and every store to it is made with the
 * lock held. The arrays only grow; old ones go after a grace period.
 */
struct files_struct {
	atomic_t count;
	spinlock_t lock;
	unsigned max;		/* [l] entries */
	unsigned next_fd;	/* [l] no free one below */
	struct file **fd;	/* [l] */
	unsigned long *open;	/* [l] bits: taken */
	unsigned long *cloexec; /* [l] bits */
	struct rcu_head rcu;
	struct file *fd_inline[NR_OPEN_DEFAULT];
	unsigned long bits_inline[2][NR_OPEN_DEFAULT / 64];
};

/* A descriptor for the time of one system call: borrowed from a table nobody else uses, else with a
 * reference. */
struct fd {
	struct file *file; /* NULL: -EBADF */
	unsigned flags;	   /* FDPUT_* */
};
#define FDPUT_FPUT	 1u
#define FDPUT_POS_UNLOCK 2u

struct fd fdget_shared(unsigned fd);
struct fd fdget_pos_lock(struct fd f);

/* [lock, or the only user] */
static inline struct file *files_lookup(struct files_struct *files, unsigned fd)
{
	return likely(fd < files->max) ? files->fd[fd] : NULL;
}

static __always_inline struct fd fdget(unsigned fd)
{
	struct files_struct *files = current->files;

	/* Only we can add a user that changes it (clone), so 1 stays 1 until this system call ends. */
	if (likely(atomic_read(&files->count) == 1))
		return (struct fd){files_lookup(files, fd), 0};
	return fdget_shared(fd);
}

/* Also serialises the file position, where somebody else could move it: one reference, borrowed, is ours
 * alone. */
static __always_inline struct fd fdget_pos(unsigned fd)
{
	struct fd f = fdget(fd);

	if (!f.file || (f.file->f_mode & FMODE_NOSEEK))
		return f;
	if (unlikely((f.flags & FDPUT_FPUT) || atomic_read(&f.file->f_count) > 1))
		f = fdget_pos_lock(f);
	return f;
}

/* For /proc/<pid>/io: a call has read or written (res < 0: or not). Returns res. */
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

static inline void fdput(struct fd f)
{
	if (unlikely(f.flags & FDPUT_FPUT) && f.file)
		fput(f.file);
}

/* Change what a file is (attr.c): found by name, how: LOOKUP_*, or by descriptor. 0 or -errno. Thread context. */
int change_path(int dfd, const char __user *name, unsigned how, const struct iattr *attr);
int change_fd(unsigned fd, const struct iattr *attr);

static inline void fdput_pos(struct fd f)
{
	if (unlikely(f.flags & FDPUT_POS_UNLOCK))
		mutex_unlock(&f.file->f_pos_lock);
	fdput(f);
}
