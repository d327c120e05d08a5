/*
 * Jiffies: time in units of 1/HZ s, as drivers count it. It is not a counter that the tick raises, as the tick stops
 * while a CPU is idle: `jiffies` is computed from the clock each time that it is read. Any context, no lock.
 */
#pragma once

#include <time/clock.h>
#include <time/hrtimer.h>

u64 get_jiffies_64(void); /* the same as a function */
#define jiffies ((unsigned long)(sched_clock() / TICK_NSEC))
/* The longest time that may be asked for; a longer one becomes this. */
#define MAX_JIFFY_OFFSET (LONG_MAX / 2)

/* a lies after b. The difference counts, so both may have wrapped. */
#define time_after(a, b)     ((long)((unsigned long)(b) - (unsigned long)(a)) < 0)
#define time_before(a, b)    time_after(b, a)
#define time_after_eq(a, b)  ((long)((unsigned long)(a) - (unsigned long)(b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)

/* A time in jiffies is rounded up, so that a wait is never shorter than what was asked for. */
static inline unsigned long nsecs_to_jiffies_up(u64 ns)
{
	return ns / TICK_NSEC + (ns % TICK_NSEC != 0);
}
static inline unsigned long msecs_to_jiffies(unsigned ms)
{
	return (int)ms < 0 ? MAX_JIFFY_OFFSET : nsecs_to_jiffies_up((u64)ms * NSEC_PER_MSEC);
}
static inline unsigned long usecs_to_jiffies(unsigned us)
{
	return nsecs_to_jiffies_up((u64)us * NSEC_PER_USEC);
}
static inline unsigned jiffies_to_msecs(unsigned long j)
{
	return j * (TICK_NSEC / NSEC_PER_MSEC);
}
static inline unsigned jiffies_to_usecs(unsigned long j)
{
	return j * (TICK_NSEC / NSEC_PER_USEC);
}
/* The time in ns of a moment or a span; KTIME_MAX where that has no room for it. */
static inline u64 jiffies_to_nsecs(unsigned long j)
{
	return j > (unsigned long)(KTIME_MAX / TICK_NSEC) ? KTIME_MAX : j * TICK_NSEC;
}

/*
 * Sleeping by jiffies, and for milliseconds (kernel/time/timeout.c). Thread context. schedule_timeout: set the state
 * before; returns what is left of the time, 0 when it ran out. MAX_SCHEDULE_TIMEOUT: until another context wakes us.
 */
#define MAX_SCHEDULE_TIMEOUT LONG_MAX
long schedule_timeout(long timeout);
long schedule_timeout_interruptible(long timeout);
long schedule_timeout_uninterruptible(long timeout);
void msleep(unsigned ms);
/* Ends early when a signal comes. What is left, in ms. */
unsigned long msleep_interruptible(unsigned ms);
/* At least `min` us; the timers are exact, so `max` is not needed. */
void usleep_range(unsigned long min, unsigned long max);
