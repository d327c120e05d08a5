/* Wait queues and completions: sleep until a waker tells that a condition may have come true. */
#pragma once

#include <lib/list.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

struct wait_queue_entry {
	struct list_head entry;	  /* [q] */
	struct task_struct *task; /* the sleeper */
	bool exclusive;		  /* a wake-up of "one" stops after it */
	/* Called with the queue's lock held, interrupts off. Returns true when it woke a task. */
	bool (*func)(struct wait_queue_entry *w, unsigned mode);
	void *private;
};
/* Locks: q the queue's own, taken with interrupts off. */
typedef struct wait_queue_head {
	spinlock_t lock;
	struct list_head head; /* [q] */
} wait_queue_head_t;

#define __WAIT_QUEUE_HEAD_INIT(n)                              \
	{                                                      \
		__SPIN_LOCK_UNLOCKED, LIST_HEAD_INIT((n).head) \
	}
#define DECLARE_WAIT_QUEUE_HEAD(n) wait_queue_head_t n = __WAIT_QUEUE_HEAD_INIT(n)
/* Before its first use. */
void init_waitqueue_head(wait_queue_head_t *q);

/*
 * What a wake-up calls for an entry, queue locked: wake the task; autoremove takes the entry off its list, too, if that
 * woke it. Both tell whether the task was woken.
 */
bool default_wake_function(struct wait_queue_entry *w, unsigned mode);
bool autoremove_wake_function(struct wait_queue_entry *w, unsigned mode);
#define DEFINE_WAIT(name)                \
	struct wait_queue_entry name = { \
		.entry = LIST_HEAD_INIT(name.entry), .task = current, .func = autoremove_wake_function}

/* Take an entry in, to be woken whatever its task's state; take it out, if it is in. Any context but nmi. */
void add_wait_queue(wait_queue_head_t *q, struct wait_queue_entry *w);
void remove_wait_queue(wait_queue_head_t *q, struct wait_queue_entry *w);
/* Queue `w` if it is not yet and set the task state; the state is visible before any later load (full barrier). */
void prepare_to_wait(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state);
void prepare_to_wait_exclusive(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state);
static inline void finish_wait(wait_queue_head_t *q, struct wait_queue_entry *w)
{
	__set_current_state(TASK_RUNNING);
	/* Acquire: when the waker has taken the entry off, it is done with it; the stack it lies on may be left. */
	if (smp_load_acquire(&w->entry.next) != &w->entry)
		remove_wait_queue(q, w);
}

/* Any context that may take the queue's lock. A task that wakes up sees what the caller has written before. */
void __wake_up(wait_queue_head_t *q, unsigned mode, int nr_exclusive);
#define wake_up(q)		     __wake_up(q, TASK_NORMAL, 1)
#define wake_up_all(q)		     __wake_up(q, TASK_NORMAL, 0)
#define wake_up_interruptible(q)     __wake_up(q, TASK_INTERRUPTIBLE, 1)
#define wake_up_interruptible_all(q) __wake_up(q, TASK_INTERRUPTIBLE, 0)
static inline bool waitqueue_active(wait_queue_head_t *q)
{
	return !list_empty(&q->head);
}

#define ___wait_event(q, cond, state, ret, cmd)                                         \
	do {                                                                            \
		DEFINE_WAIT(_wait);                                                     \
		for (;;) {                                                              \
			prepare_to_wait(q, &_wait, state);                              \
			if (cond)                                                       \
				break;                                                  \
			if ((state) == TASK_INTERRUPTIBLE && signal_pending(current)) { \
				ret = -ERESTARTSYS;                                     \
				break;                                                  \
			}                                                               \
			cmd;                                                            \
		}                                                                       \
		finish_wait(q, &_wait);                                                 \
	} while (0)
/* Sleep until cond. It is evaluated again after each wake-up; no lock is held then. */
#define wait_event(q, cond)                                                                \
	do {                                                                               \
		int _unused __maybe_unused = 0;                                            \
		if (!(cond))                                                               \
			___wait_event(q, cond, TASK_UNINTERRUPTIBLE, _unused, schedule()); \
	} while (0)
/* For kernel threads that wait for work: not counted in the load average. Woken by wake_up(). */
#define wait_event_idle(q, cond)                                                \
	do {                                                                    \
		int _unused __maybe_unused = 0;                                 \
		if (!(cond))                                                    \
			___wait_event(q, cond, TASK_IDLE, _unused, schedule()); \
	} while (0)
/* 0, or -ERESTARTSYS when a signal came first. */
#define wait_event_interruptible(q, cond)                                             \
	({                                                                            \
		int _ret = 0;                                                         \
		if (!(cond))                                                          \
			___wait_event(q, cond, TASK_INTERRUPTIBLE, _ret, schedule()); \
		_ret;                                                                 \
	})
/* Sleep, unless a signal has come that ends the process: then leave ___wait_event()'s loop. */
#define _schedule_unless_killed(ret)         \
	if (fatal_signal_pending(current)) { \
		ret = -ERESTARTSYS;          \
		break;                       \
	}                                    \
	schedule()
/* 0, or -ERESTARTSYS when a signal came first that ends the process. Its users include <proc/signal.h>. */
#define wait_event_killable(q, cond)                                                                \
	({                                                                                          \
		int _ret = 0;                                                                       \
		if (!(cond))                                                                        \
			___wait_event(q, cond, TASK_KILLABLE, _ret, _schedule_unless_killed(_ret)); \
		_ret;                                                                               \
	})
/* The same with a time in jiffies. ___wait_event() ends when the time is up, too. */
#define _schedule_timeout_unless_killed(left) \
	if (fatal_signal_pending(current)) {  \
		left = -ERESTARTSYS;          \
		break;                        \
	}                                     \
	left = schedule_timeout(left)
/*
 * With a time in jiffies (MAX_SCHEDULE_TIMEOUT: without end): what is left of it, at least 1, if the condition came
 * true; 0 if it did not in time; or -ERESTARTSYS. A condition may do something, such as taking a number: once it is
 * true it is not evaluated again. Its users include <proc/signal.h> and <time/jiffies.h>.
 */
#define __wait_event_killable_timeout(q, cond, timeout)                                    \
	({                                                                                 \
		long _left = (timeout);                                                    \
		bool _true = (cond);                                                       \
		if (!_true)                                                                \
			___wait_event(q, (_true = (cond)) || !_left, TASK_KILLABLE, _left, \
				      _schedule_timeout_unless_killed(_left));             \
		_true && !_left ? 1L : _left;                                              \
	})
#define wait_event_killable_timeout(q, cond, timeout) __wait_event_killable_timeout(q, cond, timeout)

struct completion {
	unsigned done; /* [wait.lock]; ~0U: complete_all */
	wait_queue_head_t wait;
};
#define DECLARE_COMPLETION(n) struct completion n = {0, __WAIT_QUEUE_HEAD_INIT((n).wait)}
/*
 * Something that happens once, or once for each waiter. complete() lets one waiter through, complete_all() every waiter
 * from then on; both in any context but nmi. Waiting is for thread context, interruptible: 0 or -ERESTARTSYS.
 */
void init_completion(struct completion *c);
void complete(struct completion *c);
void complete_all(struct completion *c);
void wait_for_completion(struct completion *c);
int wait_for_completion_interruptible(struct completion *c);
/*
 * Wait for at most `timeout` jiffies, 0: do not wait. Returns the jiffies that are left, at least 1, if it was
 * completed; 0 if it was not in time; the interruptible one -ERESTARTSYS, if a signal came first.
 */
long wait_for_completion_timeout(struct completion *c, unsigned long timeout);
long wait_for_completion_interruptible_timeout(struct completion *c, unsigned long timeout);
/* Do not wait: true when it was completed; that is used up. Any context but nmi. */
bool try_wait_for_completion(struct completion *c);
static inline void reinit_completion(struct completion *c)
{
	c->done = 0;
}
