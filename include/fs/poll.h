/* poll(2)'s side of wait queues: what a file's poll() joins. */
#pragma once

#include <sched/wait.h>
#include <uapi/poll.h>

/* What poll() says for files that never make one wait. */
#define DEFAULT_POLLMASK (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)

struct poll_table_entry {
	struct wait_queue_entry wait;
	wait_queue_head_t *queue;
	struct file *file; /* with a reference: the queue is its */
};
struct poll_table_page {
	struct poll_table_page *next;
	unsigned n;
	struct poll_table_entry entry[];
};
#define POLL_INLINE 6
/* Locks: none, it belongs to one call of poll; `triggered` is set by wakers. */
struct poll_table {
	bool queueing; /* false from the second round on: we are on all queues already */
	int triggered; /* [atomic] somebody woke us */
	int error;     /* -ENOMEM when a queue could not be joined */
	struct task_struct *task;
	unsigned n; /* used inline entries */
	struct poll_table_page *pages;
	struct poll_table_entry inline_entry[POLL_INLINE];
};
