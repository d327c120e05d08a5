/* Shared by epoll.c, which keeps the items of instances, and epoll_wait.c, which tells of those that are ready. */
#pragma once

#include <asm/syscall_abi.h>
#include <fs/poll.h>
#include <fs/vfs.h>
#include <lib/rbtree.h>
#include <sched/wait.h>

#define EPOLLEXCLUSIVE (1U << 28)
#define EPOLLWAKEUP    (1U << 29) /* the machine must not go to sleep: it never does */
#define EPOLLONESHOT   (1U << 30)
#define EPOLLET	       (1U << 31)
#define EPOLL_PRIVATE  (EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET)

struct epoll_event {
	u32 events;
	u64 data;
} EPOLL_EVENT_LAYOUT;

/* Locks: e epoll_mutex; m mutex; l lock, with interrupts off. */
struct eventpoll {
	struct mutex mutex;
	struct rb_root items; /* [m; e for changes] by file and descriptor */
	struct file *file;    /* [immutable] its own */
	spinlock_t lock;
	struct list_head ready; /* [l] items that may be ready */
	wait_queue_head_t wait; /* tasks in epoll_wait */
	wait_queue_head_t poll; /* who polls the instance itself */
	u64 walk;		/* [e] the last walk over instances that has been here, and what it found */
	int depth;		/* [e] */
	u64 ways_walk;		/* [e] the last walk that has counted the ways up from here, and how many there are */
	unsigned ways;		/* [e] */
};
struct epitem {
	struct rb_node node; /* [m] */
	struct eventpoll *ep;
	struct file *file;
	int fd;
	struct epoll_event event; /* [m; the events also l] */
	struct list_head ready;	  /* [l] empty: it is not in the list */
	struct epitem *next;	  /* [e] of the same file */
	struct user_struct *user; /* [immutable] the user whose watches it counts in, with a reference */
	struct hook *hooks;	  /* [m] */
};

/* Is it an instance of epoll, so that private_data is a struct eventpoll? */
bool is_epoll(const struct file *f);
/* What the item's file is ready for, of what is asked for. pt NULL: only ask. [m] */
u32 item_poll(struct epitem *item, struct poll_table *pt);
