/*
 * Mutexes: sleeping locks. Rules: only the owner unlocks; not recursive; thread context only; may be held over sleep.
 * The fast path is one compare-and-exchange of the owner word.
 */
#pragma once

#include <lib/list.h>
#include <sched/spinlock.h>

struct task_struct;

/* Locks: w wait_lock. */
struct mutex {
	unsigned long owner; /* task pointer | 1 when there are waiters [atomic] */
	spinlock_t wait_lock;
	struct list_head waiters; /* [w] */
};
#define __MUTEX_INIT(n)                                              \
	{                                                            \
		0, __SPIN_LOCK_UNLOCKED, LIST_HEAD_INIT((n).waiters) \
	}
#define DEFINE_MUTEX(n) struct mutex n = __MUTEX_INIT(n)

static inline void mutex_init(struct mutex *m)
{
	m->owner = 0;
	spin_lock_init(&m->wait_lock);
	INIT_LIST_HEAD(&m->waiters);
}
/*
 * Thread context. lock waits without an end; trylock does not wait, and tells whether it got it; is_locked is a look
 * only.
 */
void mutex_lock(struct mutex *m);
int mutex_lock_interruptible(struct mutex *m); /* 0 or -EINTR */
bool mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool mutex_is_locked(struct mutex *m);
