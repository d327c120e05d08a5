/* The inside of a pipe, for pipe.c and for what moves pages into and out of one (splice.c). */
#pragma once

#include "../files.h"

#include <mm/page.h>
#include <proc/signal.h>
#include <sched/wait.h>

#define PIPE_PAGES 16
#define PIPE_SIZE  (PIPE_PAGES * PAGE_SIZE) /* bytes: 64 KiB, as Linux */
#define SMALL_PIPE (2 * PAGE_SIZE) /* bytes: a new pipe of a user whose pipes hold pipe-user-pages-soft already */
static_assert(PIPE_BUF >= PAGE_SIZE, "a task that waits for room for a page is woken");

/*
 * head and tail count bytes since the pipe was made; byte number n lies in pages[(n / PAGE_SIZE) & mask]. Locks: l
 * lock; I immutable. Sleepers queue themselves before they release the lock, so waitqueue_active() under it is exact.
 */
struct pipe_inode_info {
	struct mutex lock;
	u64 head, tail;		       /* [l] written, read */
	char **pages;		       /* [l] NULL: no page is there yet */
	unsigned mask;		       /* [l] places in pages, a power of two, less 1 */
	unsigned readers, writers;     /* [l] open ends */
	unsigned r_counter, w_counter; /* [l] ends ever opened; a fifo's open waits for the other side */
	unsigned files;		       /* [l] open files; the last one frees the ring */
	unsigned size;		       /* [l] bytes that it holds: whole pages, no more than there are places */
	struct user_struct *user;      /* [I] whose pages these are, with a reference (pipe_size) */
	wait_queue_head_t rd_wait, wr_wait;
	char *first[PIPE_PAGES]; /* [l] pages, until the size is set (pipe_size) */
};

/* [l] The bytes in the pipe, and the bytes for which there is room. */
static inline size_t pipe_used(const struct pipe_inode_info *pipe)
{
	return pipe->head - pipe->tail;
}

static inline size_t pipe_room(const struct pipe_inode_info *pipe)
{
	return pipe->size - pipe_used(pipe);
}

/* [l] Where the page of byte number `at` hangs. */
static inline char **pipe_slot(struct pipe_inode_info *pipe, u64 at)
{
	return &pipe->pages[(at >> PAGE_SHIFT) & pipe->mask];
}

/* The pipe that a file is an end of, or NULL. */
static inline struct pipe_inode_info *pipe_of(const struct file *f)
{
	return f->f_op == &fifo_fops ? f->private_data : NULL;
}

/* What decides how large pipes are (kernel/fs/pipe/pipe_size). Without it each has PIPE_SIZE. Thread context. */
struct pipe_limits {
	/*
	 * Decide how large a new pipe of the current task is, and count its pages for the task's user; false: nothing
	 * is counted, as the user's pipes hold all that they may.
	 */
	bool (*charge)(struct pipe_inode_info *pipe);
	void (*uncharge)(const struct pipe_inode_info *pipe); /* at the end of the pipe */
};
#define REGISTER_PIPE_LIMITS(limits) REGISTER_IN(pipe_limits, limits)
DECLARE_TABLE(pipe_limits, const struct pipe_limits);

/* All pages go, and the array of them if it has grown. [l], or no end is open any more. */
void pipe_free_pages(struct pipe_inode_info *pipe);

/* [l, released while asleep] 0 or -ERESTARTSYS. The caller must look at its condition again. */
static __always_inline int pipe_sleep(struct pipe_inode_info *pipe, wait_queue_head_t *q)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(q, &wait, TASK_INTERRUPTIBLE);
	mutex_unlock(&pipe->lock);
	if (!signal_pending(current))
		schedule();
	finish_wait(q, &wait);
	mutex_lock(&pipe->lock);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/* [l] Copy in up to n bytes, for which there is room. How many, or -errno when no byte was copied. */
static __always_inline ssize_t pipe_fill(struct pipe_inode_info *pipe, const char *buf, size_t n, bool kernel)
{
	size_t done = 0;

	while (done < n) {
		char **slot = pipe_slot(pipe, pipe->head);
		unsigned off = pipe->head & (PAGE_SIZE - 1);
		size_t part = min_t(size_t, n - done, PAGE_SIZE - off), left;

		if (!*slot)
			*slot = get_free_page(GFP_KERNEL);
		if (!*slot)
			return done ? (ssize_t)done : -ENOMEM;
		left = copy_in(*slot + off, buf + done, part, kernel);
		pipe->head += part - left;
		done += part - left;
		if (left)
			return done ? (ssize_t)done : -EFAULT;
	}
	return done;
}

/*
 * [l] The page of the oldest bytes is read to its end. It becomes the page that the next write fills, if that lacks
 * one; otherwise it is freed.
 */
static __always_inline void pipe_drop_page(struct pipe_inode_info *pipe, char **slot)
{
	char *page = *slot;

	*slot = NULL;
	if (!*pipe_slot(pipe, pipe->head))
		*pipe_slot(pipe, pipe->head) = page;
	else
		free_page(page);
}
