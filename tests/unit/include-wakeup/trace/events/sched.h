/* The tracepoints that the wake-up tracers listen at; the test itself calls their probes. */
#pragma once

#include <sched/sched.h>
#include <trace/tracepoint.h>

extern struct tracepoint __tracepoint_sched_switch, __tracepoint_sched_migrate_task, __tracepoint_sched_waking,
	__tracepoint_sched_wakeup, __tracepoint_sched_wakeup_new;
