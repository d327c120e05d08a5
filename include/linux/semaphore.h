/*
 * Counting semaphores, which the modules of older books have where today's have a mutex. A completion counts, too: each
 * complete() lets one sleeper go. So a semaphore is a completion that has been said as often as there are places.
 */
#pragma once

#include <linux/completion.h>
#include <linux/errno.h>

struct semaphore {
	struct completion free; /* said once for each place that is free */
};

#define __SEMAPHORE_INIT(name, places)                                                     \
	{                                                                                  \
		{                                                                          \
			.done = (places), .wait = __WAIT_QUEUE_HEAD_INIT((name).free.wait) \
		}                                                                          \
	}
/* One place, unless the number is given: Linux asks for it since 6.4. */
#define DEFINE_SEMAPHORE(name, ...)	      __DEFINE_SEMAPHORE(name, ##__VA_ARGS__, 1)
#define __DEFINE_SEMAPHORE(name, places, ...) struct semaphore name = __SEMAPHORE_INIT(name, places)
#define init_MUTEX(semaphore)		      sema_init(semaphore, 1) /* before Linux 2.6.37 */
#define init_MUTEX_LOCKED(semaphore)	      sema_init(semaphore, 0)
#define down_killable(semaphore)	      down_interruptible(semaphore) /* gives way to every signal */

/* Before anybody else can see it. places: how many can be taken before somebody has to wait. */
static inline void sema_init(struct semaphore *semaphore, int places)
{
	init_completion(&semaphore->free);
	semaphore->free.done = places;
}
/* Take one place, waiting for as long as it takes. Thread context. */
static inline void down(struct semaphore *semaphore)
{
	wait_for_completion(&semaphore->free);
}
/* 0, or -EINTR: a signal came first, and no place was taken. Thread context. */
static inline int down_interruptible(struct semaphore *semaphore)
{
	return wait_for_completion_interruptible(&semaphore->free) ? -EINTR : 0;
}
/* 0, or -ETIME: no place was free for `timeout` jiffies. Thread context. */
static inline int down_timeout(struct semaphore *semaphore, long timeout)
{
	return wait_for_completion_timeout(&semaphore->free, timeout) ? 0 : -ETIME;
}
/* Does not wait: 0 when it took a place, 1 when there was none (mutex_trylock() says it the other way round). */
static inline int down_trylock(struct semaphore *semaphore)
{
	return !try_wait_for_completion(&semaphore->free);
}
/* Give a place back. Whoever does it need not have taken it. Any context. */
static inline void up(struct semaphore *semaphore)
{
	complete(&semaphore->free);
}
