/* The fields common to all records, taken from the real state of CPU and task. Inlined into each tracer's hot path. */
#pragma once

#include <irq/irqflags.h>
#include <sched/preempt.h>
#include <trace/trace_event_probe.h>

#include "recursion.h"

/* A tracer that has disabled preemption for itself passes its task's count less its own. */
static __always_inline void trace_fill(struct trace_entry *ent, int type, struct task_struct *t, u32 pc,
				       unsigned long flags)
{
	*(u32 *)(void *)ent = trace_entry_head(type, pc, READ_ONCE(t->thread_flags), flags);
	ent->pid = t->pid;
}

/*
 * Scratch memory of a CPU, a part for each context that can interrupt another one here: task, softirq, interrupt, nmi.
 * A context that finds `depth` at n uses part n; one that interrupts it uses the next and puts `depth` back. Not the
 * context counts, as an interrupt's entry runs traced code before preempt_count says interrupt. Between enter and leave
 * nothing is traced or sleeps, so each context is there once. TRACE_NEST_MAX: no part is free, and nothing to leave.
 *
 * Scratch memory by nesting, not by context.
 *
 * Stack records and trace_printk() need room before they know how much to reserve. Each CPU has four parts, and
 * trace_nest_enter hands out the next one, whatever preempt_count says: the code that enters an interrupt is traced
 * before irq_enter has counted it, and a part chosen by context would be the interrupted task's. Four are enough: each
 * of task, softirq, interrupt and nmi can be there once, as nothing between enter and leave can be traced or fault. A
 * plain counter does, since whoever interrupts leaves it as it was.
 */
#define TRACE_NEST_MAX 4
static __always_inline unsigned trace_nest_enter(unsigned *depth)
{
	unsigned n = READ_ONCE(*depth);

	if (likely(n < TRACE_NEST_MAX))
		WRITE_ONCE(*depth, n + 1);
	barrier();
	return n;
}
static __always_inline void trace_nest_leave(unsigned *depth, unsigned n)
{
	barrier();
	WRITE_ONCE(*depth, n);
}

/* For callers that have disabled preemption once themselves (probes of tracepoints, markers). */
static __always_inline void trace_fill_entry(struct trace_entry *ent, int type, struct task_struct *t,
					     unsigned long flags)
{
	trace_fill(ent, type, t, READ_ONCE(t->preempt_count) - PREEMPT_OFFSET, flags);
}
