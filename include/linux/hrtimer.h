/*
 * High-resolution timers: the callback runs in the timer interrupt. hrtimer_cancel() waits for a callback that runs, so
 * a module calls it in its exit.
 */
#pragma once

#include <kernel/panic.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <time/hrtimer.h>
#include <uapi/clock.h>

/* The kernel's own timers are all absolute times of CLOCK_MONOTONIC; so the clock and the mode are looked at here. */
#define HRTIMER_MODE_REL	((enum hrtimer_mode)1)
#define HRTIMER_MODE_PINNED	HRTIMER_MODE_ABS /* a timer stays on the CPU that has started it anyway */
#define HRTIMER_MODE_ABS_PINNED HRTIMER_MODE_ABS
#define HRTIMER_MODE_REL_PINNED HRTIMER_MODE_REL

static inline void hrtimer_setup(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *), clockid_t clock,
				 enum hrtimer_mode mode)
{
	BUG_ON(clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME); /* wall-clock timers are not there */
	hrtimer_init(t, fn);
}
/* The old form: the caller sets t->function afterwards. */
#define hrtimer_init(t, clock, mode) hrtimer_setup(t, NULL, clock, mode)
static inline void hrtimer_start_mode(struct hrtimer *t, ktime_t time, enum hrtimer_mode mode)
{
	hrtimer_start(t, mode == HRTIMER_MODE_REL ? ktime_add_safe(ktime_get(), time) : time);
}
#define hrtimer_start(t, time, mode) hrtimer_start_mode(t, time, mode)
#define hrtimer_restart(t)	     hrtimer_start_mode(t, (t)->expires, HRTIMER_MODE_ABS)
#define hrtimer_forward_now(t, interval) hrtimer_forward(t, ktime_get(), interval)
#define hrtimer_cb_get_time(t)	     ktime_get()
#define hrtimer_get_expires(t)	     ((t)->expires)
#define hrtimer_set_expires(t, time) ((t)->expires = (time))
#define hrtimer_get_remaining(t)     ((t)->expires - ktime_get())
#define hrtimer_is_queued(t)	     ((t)->state)
