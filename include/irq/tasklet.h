/*
 * Tasklets: functions that an interrupt handler leaves for when the interrupt is over. They run in a softirq, on the
 * CPU that has scheduled them. One tasklet never runs on two CPUs at a time, so it needs no lock against itself.
 *
 * What needs to sleep is a work (<irq/workqueue.h>).
 */
#pragma once

#include <irq/softirq.h>
#include <lib/atomic.h>

#define TASKLET_STATE_SCHED 0 /* bits of `state`: it is scheduled and does not run yet */
#define TASKLET_STATE_RUN   1 /* its function runs */

/* Locks: c the CPU whose list it is in, interrupts off; a atomic; I immutable. */
struct tasklet_struct {
	struct tasklet_struct *next; /* [c] */
	unsigned long state;	     /* [a] */
	atomic_t count;		     /* [a] how often it is disabled */
	/* [I] Softirq context, interrupts on. One of the two; the second is the form of before Linux 5.9. */
	void (*callback)(struct tasklet_struct *t);
	void (*func)(unsigned long data);
	unsigned long data;
};
#define __TASKLET(n, member, value)                        \
	{                                                  \
		.count = ATOMIC_INIT(n), .member = (value) \
	}
#define DECLARE_TASKLET(name, fn)	       struct tasklet_struct name = __TASKLET(0, callback, fn)
#define DECLARE_TASKLET_DISABLED(name, fn)     struct tasklet_struct name = __TASKLET(1, callback, fn)
#define DECLARE_TASKLET_OLD(name, fn)	       struct tasklet_struct name = __TASKLET(0, func, fn)
#define from_tasklet(var, tasklet_ptr, member) container_of(tasklet_ptr, __typeof__(*(var)), member)

/* Before its first use; the second is the form of older modules, whose function takes a word. Any context. */
void tasklet_setup(struct tasklet_struct *t, void (*callback)(struct tasklet_struct *t));
void tasklet_init(struct tasklet_struct *t, void (*func)(unsigned long data), unsigned long data);

/*
 * Run it soon, once; _hi: before other softirqs. Scheduled again before it runs, it runs once; while it runs, once
 * more. Any context but nmi.
 */
void tasklet_schedule(struct tasklet_struct *t);
void tasklet_hi_schedule(struct tasklet_struct *t);
/*
 * Counted: while it is disabled a scheduled tasklet waits. tasklet_disable() waits until its function has ended, by
 * spinning: any context but a hard interrupt and the function itself.
 */
void tasklet_disable(struct tasklet_struct *t);
void tasklet_enable(struct tasklet_struct *t);
/*
 * Wait until it neither is scheduled nor runs, as before a module goes. The caller makes sure that it is not scheduled
 * any more and not disabled. Thread context.
 */
void tasklet_kill(struct tasklet_struct *t);
