/* The test sees every switch. */
#pragma once

#include <sched/sched.h>
#include <trace/tracepoint.h>

void host_switched(struct task_struct *prev, struct task_struct *next);
#define trace_sched_switch(preempt, prev, next, state) host_switched(prev, next)
#define trace_sched_stat_runtime(p, ns)		       ((void)0)
#define trace_sched_pi_setprio(p, prio)		       ((void)0)
#define trace_sched_waking(p)			       ((void)0)
#define trace_sched_wakeup(p)			       ((void)0)
#define trace_sched_wakeup_new(p)		       ((void)0)
#define trace_sched_migrate_task(p, cpu)	       ((void)0)
