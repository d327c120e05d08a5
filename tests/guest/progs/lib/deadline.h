/* Deadline tasks: setting policies, CPU time, sleeping until. What the tests of SCHED_DEADLINE share. */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <check.h>
#include <sched.h>

#define US 1000L
#define MS 1000000L

/* As sched_setattr(). Times in nanoseconds. */
static inline int set_deadline(pid_t pid, long runtime, long deadline, long period, unsigned long flags)
{
	struct sched_attr attr = {.size = sizeof(attr),
				  .sched_policy = SCHED_DEADLINE,
				  .sched_flags = flags,
				  .sched_runtime = (unsigned long)runtime,
				  .sched_deadline = (unsigned long)deadline,
				  .sched_period = (unsigned long)period};

	return sched_setattr(pid, &attr, 0);
}

static inline int set_policy(pid_t pid, int policy, int priority)
{
	struct sched_param param = {.sched_priority = priority};

	return sched_setscheduler(pid, policy, &param);
}

/* The caller itself, or it ends. */
static inline void be_deadline(long runtime, long deadline, long period)
{
	if (set_deadline(0, runtime, deadline, period, 0))
		vt_die_errno(2, "sched_setattr");
}

static inline void be(int policy, int priority)
{
	if (set_policy(0, policy, priority))
		vt_die_errno(2, "sched_setscheduler");
}

/* CPU time of the caller, as the scheduler charges it. */
static inline long cpu_time(void)
{
	struct timespec t;

	CHECK_CALL(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Use so much CPU time. The clock is not asked all the time, for that costs more than the work. */
static inline void burn(long ns)
{
	long end = cpu_time() + ns;

	while (cpu_time() < end)
		for (int i = 0; i < 2000; i++)
			__asm__ volatile("" : "+r"(i));
}

/* Of the monotonic clock, whatever signals come. */
static inline void sleep_until(long at)
{
	struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

#endif
