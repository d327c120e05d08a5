/*
 * Timers by jiffies: a function is called once, in a softirq, at a moment that is given in jiffies. For what needs no
 * exact time; <time/hrtimer.h> has the exact ones. kernel/time/timer.c explains how they work.
 *
 *	static void blink(struct timer_list *t)
 *	{
 *		struct lamp *lamp = from_timer(lamp, t, timer);
 *		...
 *		mod_timer(t, jiffies + HZ);	// again, in a second
 *	}
 *	timer_setup(&lamp->timer, blink, 0);
 *	mod_timer(&lamp->timer, jiffies + HZ);
 *	...
 *	timer_delete_sync(&lamp->timer);	// before lamp, or the module, goes
 */
#pragma once

#include <lib/rbtree.h>
#include <lib/types.h>
#include <time/jiffies.h>

struct timer_base;

/* Locks: b the lock of its base; u the user's, while it is not pending. */
struct timer_list {
	struct rb_node node;			/* [b] */
	unsigned long expires;			/* [b; u] in jiffies */
	void (*function)(struct timer_list *t); /* [u] softirq context, no lock held; NULL: shut down */
	u32 flags;				/* [u] 0: there are no flags here */
	bool pending;				/* [b; read without] */
	struct timer_base *base;		/* [b] of the CPU it is or was last queued on; NULL: never */
};
#define DEFINE_TIMER(name, fn)			   struct timer_list name = {.function = (fn)}
#define from_timer(var, timer_ptr, member)	   container_of(timer_ptr, __typeof__(*(var)), member)
#define timer_container_of(var, timer_ptr, member) from_timer(var, timer_ptr, member)

/*
 * Prepare a timer that is not pending. `flags` must be 0: a timer that may come late (TIMER_DEFERRABLE) is not there.
 */
void timer_setup(struct timer_list *t, void (*fn)(struct timer_list *t), unsigned flags);
/*
 * Set it to `expires`, pending or not: 1 if it was pending, else 0. Timers of the same moment run in the order in which
 * they were set. A timer that is shut down stays so. Any context but nmi; also from its own function.
 */
int mod_timer(struct timer_list *t, unsigned long expires);
void add_timer(struct timer_list *t); /* at t->expires. It must not be pending */
static inline bool timer_pending(const struct timer_list *t)
{
	return READ_ONCE(t->pending);
}
/* 1: it was pending and is not now; 0: it was not. Its function may be running still. Any context but nmi. */
int timer_delete(struct timer_list *t);
/* The same, and -1 when its function runs at this moment. */
int try_to_del_timer_sync(struct timer_list *t);
/*
 * The same as timer_delete, and when this returns the function does not run any more, even if it sets its timer again.
 * Waits for it by spinning: not from the function itself, nor with a lock that it takes. Not in a hard interrupt.
 */
int timer_delete_sync(struct timer_list *t);
/* The same, and to set it later has no effect until timer_setup. */
int timer_shutdown_sync(struct timer_list *t);
