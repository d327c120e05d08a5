/*
 * The two records of function_graph, one at a call's begin and one at its return, as the general way (tracer.c) and the
 * latency tracers write them; the direct way (direct.c) has its own. A record that finds no room is left out, and the
 * text then shows a return without its call, or the reverse. Context: any, with preemption off.
 */
#include <arch/ftrace.h>
#include <sched/sched.h>

#include "core/record.h"
#include "graph.h"

/*
 * The begin of a call, with as many of its arguments as the option funcgraph-args asks for. False: there was no room.
 */
bool trace_graph_entry(struct trace_array *tr, const struct fgraph_call *call, unsigned args)
{
	unsigned size = GRAPH_ENT_SIZE + args * sizeof(long);
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, size, trace_clock_now(tr));
	struct ftrace_graph_ent_entry *entry;

	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_GRAPH_ENT, current, call->pc, call->flags);
	entry->func = call->ip;
	entry->depth = call->depth;
	for (unsigned i = 0; i < args; i++)
		entry->args[i] = ftrace_regs_argument(call->fregs, i);
	ring_buffer_commit(buffer);
	return true;
}

static struct ftrace_graph_ret_entry *reserve_return(struct trace_array *tr)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event =
		ring_buffer_reserve(buffer, sizeof(struct ftrace_graph_ret_entry), trace_clock_now(tr));

	return event ? ring_buffer_event_data(event) : NULL;
}

/*
 * The end of a call. It carries both times, so a reader knows the duration without having seen the begin, which may
 * have been overwritten.
 */
void trace_graph_return(struct trace_array *tr, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	struct ftrace_graph_ret_entry *entry = reserve_return(tr);

	if (!entry)
		return;
	trace_fill(&entry->ent, TRACE_GRAPH_RET, current, call->pc, call->flags);
	entry->func = call->ip;
	entry->retval = call->result;
	entry->depth = call->depth;
	entry->overrun = call->state->overrun;
	entry->calltime = frame->calltime;
	entry->rettime = call->time;
	ring_buffer_commit(tr->cpu_data[smp_processor_id()].buffer);
}

/*
 * A function that a latency tracer was told of by its own callback, without a hooked return: a call and its return at
 * one moment, which is shown as a line of its own.
 */
bool trace_graph_function(struct trace_array *tr, unsigned long ip, u32 pc, unsigned long flags)
{
	const struct fgraph_call call = {.ip = ip, .pc = pc, .flags = flags};
	struct ftrace_graph_ret_entry *entry;

	if (!trace_graph_entry(tr, &call, 0))
		return false;
	entry = reserve_return(tr);
	if (!entry)
		return false;
	*entry = (struct ftrace_graph_ret_entry){.func = ip};
	trace_fill(&entry->ent, TRACE_GRAPH_RET, current, pc, flags);
	entry->calltime = entry->rettime = sched_clock();
	ring_buffer_commit(tr->cpu_data[smp_processor_id()].buffer);
	return true;
}
