/*
 * Sleeping on the host: the real wait queues, and a schedule() that lets the test say what happens while the
 * one task sleeps. Nobody wakes it then: the sleep would have no end, and the test fails. Include once, after
 * host_kernel.h.
 */
#pragma once

#include <sched/wait.h>
#include <time/clock.h>

#include "../../../kernel/sched/wait.c"

u64 clock_mult = 1ULL << CLOCK_SHIFT;
s64 host_now;

/* The next thing that happens while the task sleeps; false: nothing more does. NULL: nothing. */
static bool (*host_asleep)(void);
static unsigned host_sleeps; /* how often it came to that */

bool try_to_wake_up(struct task_struct *p, unsigned mask)
{
	if (!(p->state & mask))
		return false;
	p->state = TASK_RUNNING;
	return true;
}

static bool asleep(void)
{
	return host_task.state != TASK_RUNNING && !signal_pending(&host_task);
}

/* Sleep for so many ns, -1: without end. What happens meanwhile may move the clock; a time-out that nobody
 * ends does. */
static void host_sleep(s64 ns)
{
	s64 end = host_now + ns;

	if (host_task.state == TASK_RUNNING)
		return; /* somebody was faster */
	if (++host_sleeps > 1000)
		fail_msg("it goes to sleep again and again: what woke it, or its signal, is not looked at");
	while (asleep() && (ns < 0 || host_now < end) && host_asleep && host_asleep())
		;
	if (asleep()) {
		if (ns < 0)
			fail_msg("a sleep without end: the wake-up was lost, or none came");
		host_now = max(host_now, end);
	}
	host_task.state = TASK_RUNNING;
}

void schedule(void)
{
	host_sleep(-1);
}

s64 schedule_timeout_ns(s64 ns)
{
	s64 end = host_now + ns;

	host_sleep(ns);
	return max(end - host_now, (s64)0);
}
