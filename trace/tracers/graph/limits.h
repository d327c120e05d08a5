/*
 * Function graph: which calls, by set_graph_function, set_graph_notrace and max_graph_depth. Inlined into
 * function_graph and into what the latency tracers record with display-graph. Context: as fgraph_ops' functions.
 */
#pragma once

#include <sched/preempt.h>

#include "graph.h"

/*
 * fgraph_state.flags: is this task inside of a function of set_graph_function, or of set_graph_notrace, and at which
 * depth did that begin? IN_IRQ: it was called by a hard interrupt.
 */
#define GRAPH_IN	    0x1u
#define GRAPH_IN_NOTRACE    0x2u
#define GRAPH_IN_IRQ	    0x4u
#define GRAPH_IN_AT(depth)  ((depth) << 8 | GRAPH_IN)
#define GRAPH_NOT_AT(depth) ((depth) << 16 | GRAPH_IN_NOTRACE)
#define GRAPH_IN_MASK	    (0xff00u | GRAPH_IN)
#define GRAPH_NOT_MASK	    (0xff0000u | GRAPH_IN_NOTRACE)
static_assert(FTRACE_RETFUNC_DEPTH <= 0xff);

/*
 * Is the call wanted, because it is to be recorded, or because what set_graph_notrace leaves out begins with it? The
 * latter may begin outside of the functions of set_graph_function as well: a function of that set which is called from
 * within is left out, as on Linux.
 */
static __always_inline bool graph_limits_want(const struct fgraph_state *state, unsigned long ip)
{
	u32 max = READ_ONCE(max_graph_depth);
	const struct ip_hash *functions, *stops;

	if ((max && state->depth >= max) || (state->flags & GRAPH_IN_NOTRACE))
		return false;
	functions = smp_load_acquire(&graph_functions.hash);
	if (!functions || (state->flags & GRAPH_IN) || ip_hash_has(functions, ip))
		return true;
	stops = smp_load_acquire(&graph_notrace.hash);
	return stops && ip_hash_has(stops, ip);
}

/*
 * With funcgraph-irqs off: is a call in a hard interrupt left out? Not if it is, or lies within, a function that
 * set_graph_function names and that the interrupt itself has called. graph_limits_want() has been true for the call.
 */
static __always_inline bool graph_limits_skip_irq(const struct fgraph_state *state)
{
	return !READ_ONCE(graph_functions.hash) || (state->flags & (GRAPH_IN | GRAPH_IN_IRQ)) == GRAPH_IN;
}

/* Does set_graph_notrace name this function? Then it and all that it calls are left out, until its hooked return. */
static __always_inline bool graph_begins_notrace(struct fgraph_state *state, struct fgraph_frame *frame,
						 unsigned long ip, u32 depth)
{
	const struct ip_hash *stops = smp_load_acquire(&graph_notrace.hash);

	if (!stops || !ip_hash_has(stops, ip))
		return false;
	state->flags = (state->flags & ~GRAPH_NOT_MASK) | GRAPH_NOT_AT(depth);
	frame->key |= FGRAPH_KEY_ENDS;
	return true;
}

/* The call is recorded. If it is the outermost function of set_graph_function, note where that begins. */
static __always_inline void graph_note_begin(struct fgraph_state *state, struct fgraph_frame *frame, u32 depth, u32 pc)
{
	if (!READ_ONCE(graph_functions.hash) || (state->flags & GRAPH_IN))
		return;
	state->flags = (state->flags & ~GRAPH_IN_MASK) | GRAPH_IN_AT(depth) | (pc & HARDIRQ_MASK ? GRAPH_IN_IRQ : 0);
	frame->key |= FGRAPH_KEY_ENDS;
}

/* The call at this depth returns: what began with it ends. True: it was left out, so its return is not recorded. */
static __always_inline bool graph_note_end(struct fgraph_state *state, u32 depth)
{
	if ((state->flags & GRAPH_NOT_MASK) == GRAPH_NOT_AT(depth)) {
		state->flags &= ~GRAPH_NOT_MASK;
		return true;
	}
	if ((state->flags & GRAPH_IN_MASK) == GRAPH_IN_AT(depth))
		state->flags &= ~(GRAPH_IN_MASK | GRAPH_IN_IRQ);
	return false;
}
