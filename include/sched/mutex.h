/*
 * Mutexes: sleeping locks. Rules: only the owner unlocks; not recursive; thread context only; may be held over sleep.
 * The fast path is one compare-and-exchange of the owner word.
 */
#pragma once

#include <lib/list.h>
#include <sched/spinlock.h>

struct task_struct;

/*
 * Flags in the owner word, beside the task's address. WAITERS: the queue is not empty, so unlock must take the slow
 * path. HANDOFF: the first waiter has been overtaken once; unlock then gives the mutex to it instead of setting it
 * free.
 */
#define MUTEX_WAITERS 1UL
#define MUTEX_HANDOFF 2UL
#define MUTEX_FLAGS   3UL

/* Locks: w wait_lock. */
struct mutex {
	unsigned long owner; /* [atomic] task | flags; no task: it is free */
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

static inline struct task_struct *owner_task(unsigned long owner)
{
	return (struct task_struct *)(owner & ~MUTEX_FLAGS);
}
/* The task that holds it, NULL: it is free. Any context; only whether it is the current task cannot change at once. */
static inline struct task_struct *mutex_owner(const struct mutex *m)
{
	return owner_task(READ_ONCE(m->owner));
}
/*
 * Thread context. lock waits for as long as it takes; trylock does not wait, and tells whether it got it; is_locked is
 * a look only.
 */
void mutex_lock(struct mutex *m);
int mutex_lock_interruptible(struct mutex *m); /* 0 or -EINTR */
bool mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool mutex_is_locked(struct mutex *m);
