/* What function_graph's direct way (tracers/graph/direct.c) and its general one (tracers/graph/tracer.c) share. */
#pragma once

#include <kernel/percpu.h>

#include "ftrace/fgraph_inline.h"
#include "graph.h"
#include "limits.h"

extern struct tracer_flags graph_flags;
/* The buffer in which the direct way records this CPU's calls; NULL: they must go the general way. [t] */
DECLARE_PER_CPU(struct ring_buffer_per_cpu *, graph_buffer);
extern struct graph_profiler graph_profiler; /* [t] written before the profiler becomes a user of returns */
extern bool graph_limited;		     /* [t] there are limits: pids, a depth, functions to begin or to stop at */

/*
 * They replace fgraph_enter and fgraph_return while there is no other user of returns but the profiler: function_graph
 * alone, alone with limits, with the profiler. Context: as those two (ftrace/fgraph_inline.h).
 */
void graph_direct_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs);
void graph_limited_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs);
void graph_profiled_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs);
void graph_direct_return(struct fgraph_ret_regs *regs);
void graph_profiled_return(struct fgraph_ret_regs *regs);

/* Do the limits, the option funcgraph-irqs and the lists of pids allow this call to be recorded? */
static __always_inline bool graph_limits_allow(const struct trace_array *tr, const struct fgraph_state *state,
					       unsigned long ip, u32 pc)
{
	if (!graph_limits_want(state, ip))
		return false;
	if ((pc & HARDIRQ_MASK) && !(READ_ONCE(graph_flags.val) & TRACE_GRAPH_PRINT_IRQS) &&
	    graph_limits_skip_irq(state))
		return false;
	return !trace_pids_ignore(&tr->function_pids, current->pid);
}

/* ---- Records of tasks, with preemption disabled up to 15 times; interrupts are off. */

/* The first word of a record; preemption is what the record will say, at most 15. */
static __always_inline u32 graph_head(int type, u32 pc, const struct task_struct *t, bool masked)
{
	u32 head = (type | (masked ? TRACE_FLAG_IRQS_OFF << 16 : 0)) + (pc << 24);

	if (unlikely(t->thread_flags & _TIF_NEED_RESCHED)) {
		barrier(); /* a branch that is not taken, instead of computing both */
		head |= (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 16;
	}
	return head;
}

static __always_inline void graph_fill_entry(struct ring_buffer_event *event, const struct task_struct *t, u32 head,
					     unsigned long ip, u32 depth)
{
	struct ftrace_graph_ent_entry *entry = (void *)event->array;

	*(u32 *)(void *)entry = head;
	entry->ent.pid = t->pid;
	entry->func = ip;
	entry->depth = depth;
}

static __always_inline void graph_fill_return(struct ring_buffer_event *event, const struct task_struct *t, u32 head,
					      const struct fgraph_state *state, const struct fgraph_frame *frame,
					      unsigned long result, u64 ts, u32 depth)
{
	struct ftrace_graph_ret_entry *entry = (void *)event->array;

	*(u32 *)(void *)entry = head;
	entry->ent.pid = t->pid;
	entry->func = frame->func;
	entry->retval = result;
	entry->depth = depth;
	entry->overrun = state->overrun;
	entry->calltime = frame->calltime;
	entry->rettime = ts;
}
