/*
 * poll(2)'s side of wait queues: what a file's poll() joins. A file's poll function calls poll_wait() (in <fs/vfs.h>)
 * for each queue that may change its answer, and then returns what is ready now. kernel/fs/select.c is the other side.
 */
#pragma once

#include <sched/wait.h>
#include <uapi/poll.h>

/* What poll() says about files that never make a task wait. */
#define DEFAULT_POLLMASK (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)

/* One wait queue that the poll has joined. */
struct poll_table_entry {
	struct wait_queue_entry wait;
	wait_queue_head_t *queue;
	struct file *file; /* with a reference, since the queue is a part of the file */
};
/* Entries beyond those in the table itself. */
struct poll_table_page {
	struct poll_table_page *next;
	unsigned n;
	struct poll_table_entry entry[];
};
#define POLL_INLINE 6
/* One call of poll or select. It belongs to the calling task, so it has no lock; only `triggered` is set by others. */
struct poll_table {
	bool queueing; /* false from the second round on: all queues are joined already */
	int triggered; /* [atomic] a queue has woken the task */
	int error;     /* -ENOMEM when a queue could not be joined */
	struct task_struct *task;
	/* Join the queue in another way than poll(2) does (epoll); NULL: as above. */
	void (*join)(struct file *f, wait_queue_head_t *q, struct poll_table *pt);
	unsigned n; /* used inline entries */
	struct poll_table_page *pages;
	struct poll_table_entry inline_entry[POLL_INLINE];
};
