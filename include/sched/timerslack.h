/*
 * Timer slack: a sleep or a time-out of a task may end at its time or up to so many ns later, which lets a kernel serve
 * several timers by one interrupt. Timers are exact here: each has an interrupt of its own at its time, so a sleep ends
 * at the beginning of what its slack allows. The value is set, inherited and shown by Linux's rules.
 */
#pragma once

#include <sched/task.h>

#define DEFAULT_TIMER_SLACK_NS 50000

/* Slack in ns; 0: what the task's creator had. A real-time or deadline task has none. Any context. */
static inline void set_timer_slack(struct task_struct *p, u64 ns)
{
	if (p->normal_prio < MAX_RT_PRIO)
		ns = 0;
	else if (!ns)
		ns = p->default_timer_slack_ns;
	WRITE_ONCE(p->timer_slack_ns, ns);
}
