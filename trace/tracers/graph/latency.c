/*
 * The option display-graph of the latency tracers (irqsoff and its like, wakeup): while one of them measures a section,
 * calls and returns are recorded as function_graph records them, and are shown in its form. The tracer says through
 * struct latency_graph when a section is under way.
 *
 * There is one user of hooked returns for all of them (latency_ops), because only one latency tracer can be selected at
 * a time. Selecting: trace_types_lock held. Recording: interrupts off, in any context but an NMI's.
 */
#include <sched/sched.h>
#include <time/clock.h>

#include "output/iter.h"
#include "latency.h"
#include "limits.h"

/* ---- Recording, by the general way of hooked returns (fgraph.c): interrupts are off in the last two. */

static const struct latency_graph *latency_user; /* [t] while the ops are registered */
static struct trace_array *latency_array;	 /* [t] likewise */

/*
 * The first and cheapest question at every call: false means that the call is not hooked at all. `concerned` is only a
 * guess, as an interrupt may begin or end a section after it; `begin` asks again with interrupts off.
 */
static bool latency_wants(struct fgraph_ops *gops, const struct fgraph_call *call)
{
	return latency_user->concerned() && graph_limits_want(call->state, call->ip) &&
	       !trace_pids_ignore(&latency_array->function_pids, current->pid);
}

/*
 * The counterpart of begin(): the tracer lets its CPU measure again. What the recording itself switches off and on in
 * between is not part of the section.
 */
static void end_record(void)
{
	if (latency_user->end)
		latency_user->end();
}

/*
 * A call is hooked only if its entry was recorded, so outside of sections no call is hooked. True: its return is
 * wanted. A function of set_graph_notrace is hooked without a record, because its return tells where the silence ends.
 */
static bool latency_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	bool recorded;

	if (graph_begins_notrace(call->state, frame, call->ip, call->depth))
		return true;
	if (!latency_user->begin(latency_array))
		return false;
	recorded = trace_graph_entry(latency_array, call, 0);
	end_record();
	if (recorded)
		graph_note_begin(call->state, frame, call->depth, call->pc);
	return recorded;
}

/*
 * The section may be another one by now, or there may be none. In another one the return is recorded without its entry,
 * and the text shows a closing brace with the function's name.
 */
static void latency_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	if (graph_note_end(call->state, call->depth) || !latency_user->begin(latency_array))
		return;
	trace_graph_return(latency_array, call, frame);
	end_record();
}

static struct fgraph_ops latency_ops = {
	.wants = latency_wants,
	.entryfunc = latency_entry,
	.retfunc = latency_return,
	.bit = FGRAPH_ANY,
};

int latency_graph_start(struct trace_array *tr, const struct latency_graph *who)
{
	int ret = trace_graph_alloc_dump();

	if (ret)
		return ret;
	latency_user = who;
	latency_array = tr;
	latency_ops.ops = tr->ops;
	return register_ftrace_graph(&latency_ops);
}

int latency_graph_stop(void)
{
	return unregister_ftrace_graph(&latency_ops);
}

/* ---- Showing */

/* Printing asks the option, not what is recorded: a change of the option empties the buffer first. */
static bool displays_graph(const struct trace_iterator *iter)
{
	return iter->tr->trace_flags & TRACE_ITER(DISPLAY_GRAPH);
}

int latency_graph_open(struct trace_iterator *iter)
{
	return displays_graph(iter) ? trace_graph_open(iter) : 0;
}

void latency_graph_header(struct seq_file *s, struct trace_iterator *iter, u32 print)
{
	if (displays_graph(iter))
		trace_graph_header(s, iter, print);
	else
		trace_default_header(s, iter);
}

bool latency_graph_line(struct seq_file *s, struct trace_iterator *iter, u32 print)
{
	return displays_graph(iter) && trace_graph_print(s, iter, print);
}
