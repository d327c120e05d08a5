/* Records of the sched_switch tracer, which wakeup makes, too. */
#pragma once

#include "core/tracer.h"

/* A priority as ctx_switch_entry keeps it, in a byte as Linux does: a deadline task's -1 is 255 there. */
static inline int ctx_switch_prio(u8 prio)
{
	return prio == 255 ? -1 : prio;
}

/*
 * Records, in the form of the sched_switch tracer; pc and flags are the preempt_count and interrupt flags of the code
 * in which the tracepoint stands. For probes: preemption off. tracers/sched_tree.c: each task on the runqueue of
 * `cpu`, which is locked.
 */
void trace_sched_tree(struct trace_array *tr, int cpu, u32 pc, unsigned long flags);
/* tracers/sched_switch.c: a switch ("==>"), and a wake-up ("+") by the current task. */
void tracing_sched_switch_trace(struct trace_array *tr, struct task_struct *prev, unsigned prev_state,
				struct task_struct *next, u32 pc, unsigned long flags);
void tracing_sched_wakeup_trace(struct trace_array *tr, struct task_struct *wakee, u32 pc, unsigned long flags);
