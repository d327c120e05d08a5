/* Wait queues: sleep until a condition is true, and wake those who sleep. */
#pragma once

#include <linux/jiffies.h>
#include <linux/sched.h>
#include <proc/signal.h>
#include <sched/wait.h>

/*
 * With a time in jiffies: what is left of it, at least 1, if the condition came true; 0 if it did not in time;
 * interruptible: or -ERESTARTSYS.
 */
#define __wait_event_timeout(q, cond, state, timeout)                                                                \
	({                                                                                                           \
		long _left = (timeout);                                                                              \
		bool _true = (cond);                                                                                 \
		if (!_true)                                                                                          \
			___wait_event(q, (_true = (cond)) || !_left, state, _left, _left = schedule_timeout(_left)); \
		_true && !_left ? 1L : _left;                                                                        \
	})
#define wait_event_timeout(q, cond, ticks)		   __wait_event_timeout(&(q), cond, TASK_UNINTERRUPTIBLE, ticks)
#define wait_event_interruptible_timeout(q, cond, timeout) __wait_event_timeout(&(q), cond, TASK_INTERRUPTIBLE, timeout)

/* Linux's take the queue itself, the kernel's a pointer to it. */
#define WAIT_EVENT_STATE(q, cond, state)                                    \
	({                                                                  \
		int _result = 0;                                            \
		if (!(cond))                                                \
			___wait_event(q, cond, state, _result, schedule()); \
		_result;                                                    \
	})
#undef wait_event
#undef wait_event_interruptible
#undef wait_event_idle
#undef wait_event_killable
#undef wait_event_killable_timeout
#define wait_event(q, cond)		  ((void)WAIT_EVENT_STATE(&(q), cond, TASK_UNINTERRUPTIBLE))
#define wait_event_idle(q, cond)	  ((void)WAIT_EVENT_STATE(&(q), cond, TASK_IDLE))
#define wait_event_interruptible(q, cond) WAIT_EVENT_STATE(&(q), cond, TASK_INTERRUPTIBLE)
#define wait_event_killable(q, cond)                                                                         \
	({                                                                                                   \
		int _result = 0;                                                                             \
		if (!(cond))                                                                                 \
			___wait_event(&(q), cond, TASK_KILLABLE, _result, _schedule_unless_killed(_result)); \
		_result;                                                                                     \
	})
#define wait_event_killable_timeout(q, cond, timeout) __wait_event_killable_timeout(&(q), cond, timeout)
#define DECLARE_WAIT_QUEUE_HEAD_ONSTACK(q)	      DECLARE_WAIT_QUEUE_HEAD(q)
#define wake_up_process_sync(p)			      wake_up_process(p)
