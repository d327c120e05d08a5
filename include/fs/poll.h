/*
 * poll(2)'s side of wait queues: what a file's poll() joins. A file's poll function calls poll_wait() (in <fs/vfs.h>)
 * for each queue that may change its answer, and then returns what is ready now. kernel/fs/poll.c is the other side.
 */
#pragma once

#include <sched/wait.h>
#include <uapi/poll.h>

/* What poll() says about files that never make a task wait. */
#define DEFAULT_POLLMASK (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)

/*
 * The entries of all pollers of one file whose queues may go before the file does (fs/removable.h). Its lock is outside
 * those of wait queues.
 */
struct poll_pollers {
	spinlock_t lock;
	struct list_head entries; /* [lock] */
};

/* One wait queue that was joined: by poll(2) for the time of a call, by epoll for that of an item. */
struct poll_table_entry {
	struct wait_queue_entry wait;
	wait_queue_head_t *queue;     /* [pollers->lock if there are any] NULL: it has gone */
	struct file *file;	      /* of poll(2), with a reference, since the queue is a part of the file */
	struct poll_pollers *pollers; /* of the file; NULL: its queues stay as long as it does */
	struct list_head of_file;     /* [pollers->lock] */
};
/* Put e->wait, whose function is set, on a queue of a file with these pollers. Thread context. */
void poll_entry_join(struct poll_table_entry *e, wait_queue_head_t *q, struct poll_pollers *pollers);
/* Take it off again, unless the queue has gone. Thread context. */
void poll_entry_leave(struct poll_table_entry *e);
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
	struct poll_pollers *pollers; /* of the file whose poll function runs */
	/* Join the queue in another way than poll(2) does (epoll); NULL: as above. */
	void (*join)(struct file *f, wait_queue_head_t *q, struct poll_table *pt);
	unsigned n; /* used inline entries */
	struct poll_table_page *pages;
	struct poll_table_entry inline_entry[POLL_INLINE];
};

/*
 * Let a module's poll function join its queues as one that may go: `pollers` knows of them until the poll ends. Thread
 * context.
 */
unsigned poll_removable(struct file *f, struct poll_table *pt, struct poll_pollers *pollers,
			unsigned (*poll)(struct file *f, struct poll_table *pt));
/*
 * The queues go: all pollers leave them and wake. No poll function of the file runs any more, or will run. Thread
 * context.
 */
void poll_leave(struct poll_pollers *pollers);
