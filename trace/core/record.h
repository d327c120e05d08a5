/* The fields common to all records, taken from the real state of CPU and task. Inlined into each tracer's hot path. */
#pragma once

#include <irq/irqflags.h>
#include <sched/preempt.h>
#include <trace/trace_event_probe.h>

#include "recursion.h"

/* `pc`: the traced code's preempt_count. A tracer that has disabled preemption subtracts what it has added itself. */
static __always_inline void trace_fill(struct trace_entry *ent, int type, struct task_struct *t, u32 pc,
				       unsigned long flags)
{
	*(u32 *)(void *)ent = trace_entry_head(type, pc, READ_ONCE(t->thread_flags), flags);
	ent->pid = t->pid;
}

/*
 * Scratch memory by nesting, not by context.
 *
 * Stack records and trace_printk() need room before they know how much to reserve. Each CPU has four parts for that.
 * Code that finds *depth at n uses part n; code that interrupts it uses the next part and puts *depth back. A part
 * chosen by preempt_count would be wrong: the code that enters an interrupt is traced before irq_enter has counted it,
 * and would get the interrupted task's part. Four are enough: task, softirq, interrupt and NMI can each be there once,
 * because nothing between enter and leave is traced, sleeps or faults. A plain counter does, since code that interrupts
 * leaves it as it was.
 *
 * trace_nest_enter returns the number of the part, or TRACE_NEST_MAX: no part is free, and trace_nest_leave must not be
 * called. This CPU's `depth`, preemption off.
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

/* For callers that run with preemption disabled once more than the traced code (probes of tracepoints, markers). */
static __always_inline void trace_fill_entry(struct trace_entry *ent, int type, struct task_struct *t,
					     unsigned long flags)
{
	trace_fill(ent, type, t, READ_ONCE(t->preempt_count) - PREEMPT_OFFSET, flags);
}
