/* The names of tasks while somebody traces: the scheduler's part (trace/core/comm.c). */
#pragma once

#include <trace/tracepoint.h>

struct task_struct;

extern struct static_key trace_comm_key; /* on while records are made */
/* Note names and processes of both tasks. The runqueue is locked, interrupts are off. Not traced. */
void trace_comm_switch(struct task_struct *prev, struct task_struct *next);

/*
 * At each switch, in place of a probe of sched_switch: that would be a second one whenever the event is recorded.
 * Context: its. Not traced.
 */
static __always_inline void trace_comm_sched_switch(struct task_struct *prev, struct task_struct *next)
{
	if (tracepoint_key_on(&trace_comm_key))
		trace_comm_switch(prev, next);
}
