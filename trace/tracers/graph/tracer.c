/*
 * function_graph: a record at the entry of a traced function and one at its return, with the time between. Each array
 * is a user of hooked returns of its own.
 *
 * The usual case (the top array is the only user, in a task's context, and wants nothing but the functions) goes the
 * direct way (tracers/graph/direct.c); a user that asks for more takes the general way (fgraph.c) through the functions
 * here.
 */
#include <arch/ftrace.h>
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <trace/tracepoint.h>

#include "core/aside.h"
#include "core/record.h"
#include "core/recursion.h"
#include "ftrace/fgraph_inline.h"
#include "ftrace/fgraph_internal.h"
#include "output/iter.h"
#include "direct.h"
#include "graph.h"
#include "limits.h"

/* What function_graph keeps for an array. [trace_types_lock to write; read with preemption off] */
struct graph_array {
	struct fgraph_ops gops;
	struct trace_array *tr; /* [I] */
	bool enabled;		/* calls are recorded */
	bool plain;		/* enabled, with the usual clock, without arguments and threshold */
};

DEFINE_PER_CPU(struct ring_buffer_per_cpu *, graph_buffer);
struct graph_profiler graph_profiler;
bool graph_limited;
static unsigned graph_arrays; /* [t] that are enabled */
static bool graph_profiled;   /* [t] the profiler wants the option sleep-time to have its effect */

static __always_inline struct graph_array *graph_of(struct fgraph_ops *gops)
{
	return container_of(gops, struct graph_array, gops);
}

/* ---- Which calls */

static bool graph_wants(struct fgraph_ops *gops, const struct fgraph_call *call)
{
	const struct graph_array *graph = graph_of(gops);

	return READ_ONCE(graph->enabled) && graph_limits_allow(graph->tr, call->state, call->ip, call->pc);
}

/* ---- The general way */

/*
 * The buffer, when this call may be recorded like one of the direct way, with a record of fixed size and the usual
 * clock. NULL: it may not.
 */
static __always_inline struct ring_buffer_per_cpu *usual_buffer(const struct graph_array *graph,
								const struct fgraph_call *call)
{
	if (!trace_is_usual(call->pc) || !READ_ONCE(graph->plain))
		return NULL;
	return graph->tr->cpu_data[smp_processor_id()].buffer;
}

/*
 * Writes the entry's record. With a threshold only returns are recorded, of calls that took as long, so an entry is
 * wanted but leaves no record. False: no room, and the return is not wanted either.
 */
static bool record_entry(const struct graph_array *graph, const struct fgraph_call *call)
{
	unsigned args = READ_ONCE(graph_flags.val) & TRACE_GRAPH_ARGS ? FTRACE_REGS_ARGS : 0;
	struct ring_buffer_per_cpu *buffer = usual_buffer(graph, call);
	struct ring_buffer_event *event;

	if (!buffer)
		return READ_ONCE(tracing_thresh) || trace_graph_entry(graph->tr, call, args);
	event = ring_buffer_reserve(buffer, GRAPH_ENT_SIZE, call->time);
	if (!event)
		return false;
	graph_fill_entry(event, current,
			 graph_head(TRACE_GRAPH_ENT, call->pc, current, irqs_disabled_flags(call->flags)), call->ip,
			 call->depth);
	ring_buffer_commit(buffer);
	return true;
}

/*
 * fgraph_ops.entryfunc: the call begins. True when its return is wanted. Calls of functions in set_graph_notrace are
 * hooked without a record, because their return tells where the silence ends.
 */
static bool graph_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	if (graph_begins_notrace(call->state, frame, call->ip, call->depth))
		return true;
	if (!record_entry(graph_of(gops), call))
		return false;
	graph_note_begin(call->state, frame, call->depth, call->pc);
	return true;
}

/*
 * fgraph_ops.retfunc: record the return with its duration, unless tracing_thresh asks for longer ones. The usual case
 * writes into the ring here; others go by trace_graph_return().
 */
static void graph_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	const struct graph_array *graph = graph_of(gops);
	struct ring_buffer_per_cpu *buffer = usual_buffer(graph, call);
	struct ring_buffer_event *event;

	if (graph_note_end(call->state, call->depth) || !READ_ONCE(graph->enabled))
		return;
	if (!buffer) {
		if (call->time - frame->calltime >= READ_ONCE(tracing_thresh))
			trace_graph_return(graph->tr, call, frame);
		return;
	}
	event = ring_buffer_reserve(buffer, sizeof(struct ftrace_graph_ret_entry), call->time);
	if (!event)
		return;
	graph_fill_return(event, current,
			  graph_head(TRACE_GRAPH_RET, call->pc, current, irqs_disabled_flags(call->flags)), call->state,
			  frame, call->result, call->time, call->depth);
	ring_buffer_commit(buffer);
}

/*
 * The direct ways of the top array: with or without limits, and by which buffer. Without a buffer (graph_buffer NULL) a
 * call that arrives there turns to the general way.
 */
static void update_direct(struct graph_array *graph)
{
	bool limited = max_graph_depth || graph_functions.hash || graph_notrace.hash ||
		       trace_pids_any(&graph->tr->function_pids);
	int cpu;

	WRITE_ONCE(graph_limited, limited);
	fgraph_set_direct_enter(&graph->gops, limited ? graph_limited_enter : graph_direct_enter);

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(graph_buffer, cpu), graph->plain ? graph->tr->cpu_data[cpu].buffer : NULL);
}

/*
 * [trace_types_lock] Something has changed that decides between the direct and the general way: the clock, the
 * threshold, arguments, pids, a filter, the depth. Stores only, so a call that is on its way may take the old way once
 * more.
 */
void graph_update_fast(struct trace_array *tr)
{
	struct graph_array *graph = tr->graph;
	bool args = graph_flags.val & TRACE_GRAPH_ARGS;

	WRITE_ONCE(graph->plain, graph->enabled && !tr->clock && !tracing_thresh && !args);
	if (trace_array_is_top(tr))
		update_direct(graph);
}

void graph_update_all(void)
{
	struct trace_array *tr;

	for_each_trace_array(tr)
		graph_update_fast(tr);
}

/* ---- The tracer */

static const struct tracer_opt graph_opts[] = {
	{"funcgraph-overrun", TRACE_GRAPH_PRINT_OVERRUN},
	{"funcgraph-cpu", TRACE_GRAPH_PRINT_CPU},
	{"funcgraph-overhead", TRACE_GRAPH_PRINT_OVERHEAD},
	{"funcgraph-proc", TRACE_GRAPH_PRINT_PROC},
	{"funcgraph-duration", TRACE_GRAPH_PRINT_DURATION},
	{"funcgraph-abstime", TRACE_GRAPH_PRINT_ABS_TIME},
	{"funcgraph-irqs", TRACE_GRAPH_PRINT_IRQS},
	{"funcgraph-tail", TRACE_GRAPH_PRINT_TAIL},
	{"funcgraph-retval", TRACE_GRAPH_PRINT_RETVAL},
	{"funcgraph-retval-hex", TRACE_GRAPH_PRINT_RETVAL_HEX},
	{"funcgraph-args", TRACE_GRAPH_ARGS},
	{"sleep-time", TRACE_GRAPH_SLEEP_TIME},
	{"graph-time", TRACE_GRAPH_GRAPH_TIME},
	{},
};
struct tracer_flags graph_flags = {
	.val = TRACE_GRAPH_PRINT_CPU | TRACE_GRAPH_PRINT_OVERHEAD | TRACE_GRAPH_PRINT_DURATION |
	       TRACE_GRAPH_PRINT_IRQS | TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME,
	.opts = graph_opts,
};

/*
 * All options belong to the tracer and hold in every array that selects it. While the option sleep-time is off, and an
 * array or the profiler measures calls (`wanted`), sched_switch must correct the entry times of the task that goes on.
 * trace_types_lock held. 0 or -errno.
 */
static int count_sleep(bool wanted, bool option)
{
	return fgraph_count_sleep(wanted && !option);
}

static bool sleep_option(void)
{
	return graph_flags.val & TRACE_GRAPH_SLEEP_TIME;
}

int trace_graph_profiled(const struct graph_profiler *profiler)
{
	int ret = count_sleep(graph_arrays || profiler, sleep_option());

	if (ret)
		return ret;
	graph_profiled = profiler;
	if (profiler)
		graph_profiler = *profiler;
	return 0;
}

bool trace_graph_time(void)
{
	return READ_ONCE(graph_flags.val) & TRACE_GRAPH_GRAPH_TIME;
}

/* gcc's hook on aarch64 cannot tell arguments: -EOPNOTSUPP there. */
static int graph_set_flag(struct trace_array *tr, u32 bit, bool set)
{
	if (bit == TRACE_GRAPH_ARGS && set && !FTRACE_REGS_ARGS)
		return -EOPNOTSUPP;
	if (bit == TRACE_GRAPH_SLEEP_TIME)
		return count_sleep(graph_arrays || graph_profiled, set);
	if (bit == TRACE_GRAPH_ARGS) {
		/* The direct way writes none, so it is left first. */
		WRITE_ONCE(graph_flags.val, set ? graph_flags.val | bit : graph_flags.val & ~bit);
		graph_update_all();
	}
	return 0;
}

/* Counts the arrays that use function_graph, as the correction of sleep-time is needed while there is one. */
static void graph_enable(struct graph_array *graph, bool on)
{
	graph_arrays += on ? 1 : -1;
	WRITE_ONCE(graph->enabled, on);
	graph_update_fast(graph->tr);
	if (!on)
		count_sleep(graph_arrays || graph_profiled, sleep_option());
}

/*
 * The tracer is selected. The array is enabled before its calls are hooked, so that the first hooked call is recorded.
 * The labels undo in the opposite order; tracepoint_switch() comes on every way out, as the probes that note task names
 * were registered for later. 0 or -errno.
 */
static int graph_trace_init(struct trace_array *tr)
{
	int ret = tracing_start_cmdline_record_later();

	if (ret)
		return ret;
	ret = (trace_array_is_top(tr) ? trace_graph_alloc_dump() : 0) ?: count_sleep(true, sleep_option());
	if (ret)
		goto stop_cmdlines;
	graph_enable(tr->graph, true);
	tr->graph->gops.ops = tr->ops;
	ret = register_ftrace_graph(&tr->graph->gops);
	if (!ret)
		goto complete;
	graph_enable(tr->graph, false);
stop_cmdlines:
	tracing_stop_cmdline_record_later();
complete:
	tracepoint_switch();
	return ret;
}

/*
 * A call that is about to be recorded finds `enabled` false, or unregister_ftrace_graph() waits for it. From then on
 * the array's buffer and its graph_array may be freed, though calls that it has hooked have not returned yet: they
 * return by the general way, which finds no user for them.
 */
static void graph_trace_reset(struct trace_array *tr)
{
	graph_enable(tr->graph, false);
	tracing_stop_cmdline_record_later();
	unregister_ftrace_graph(&tr->graph->gops);
	tracepoint_switch();
}

static void graph_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	trace_graph_header(s, iter, graph_flags.val);
}

static bool graph_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	return trace_graph_print(s, iter, graph_flags.val);
}

static const struct tracer graph_trace = {
	.name = "function_graph",
	.allow_instances = true,
	.init = graph_trace_init,
	.reset = graph_trace_reset,
	.update_pids = graph_update_fast,
	.open = trace_graph_open,
	.close = trace_graph_close,
	.print_header = graph_print_header,
	.print_line = graph_print_line,
	.flags = &graph_flags,
	.set_flag = graph_set_flag,
};
REGISTER_TRACER(graph_trace);

/*
 * Makes the array a user of returns, which is not registered yet. Only the top array's user has the direct ways and a
 * fixed bit; others get a free bit when they are registered. 0 or -ENOMEM.
 */
static int graph_trace_setup(struct trace_array *tr)
{
	tr->graph = kzalloc(sizeof(*tr->graph), GFP_KERNEL);
	if (!tr->graph)
		return -ENOMEM;
	tr->graph->tr = tr;
	tr->graph->gops = (struct fgraph_ops){
		.wants = graph_wants,
		.entryfunc = graph_entry,
		.retfunc = graph_return,
		.bit = FGRAPH_ANY,
	};
	if (trace_array_is_top(tr)) {
		tr->graph->gops.bit = FGRAPH_TRACER;
		tr->graph->gops.direct_enter = graph_direct_enter;
		tr->graph->gops.direct_return = graph_direct_return;
		tr->graph->gops.profiled_enter = graph_profiled_enter;
		tr->graph->gops.profiled_return = graph_profiled_return;
	}
	return 0;
}

static void graph_trace_free(struct trace_array *tr)
{
	kfree(tr->graph);
}

/* tracing_thresh is told to each array, and one look at all of them is enough. */
static void graph_trace_changed(struct trace_array *tr, enum trace_change what)
{
	if (what == TRACE_CHANGED_THRESH && trace_array_is_top(tr))
		graph_update_all();
}

static const char *graph_trace_left(const struct trace_array *tr)
{
	return tr->graph->gops.bit == FGRAPH_ANY ? NULL : "function_graph";
}

static const struct trace_part graph_part = {
	.init = graph_trace_setup,
	.changed = graph_trace_changed,
	.left = graph_trace_left,
	.free = graph_trace_free,
};
REGISTER_TRACE_PART(graph_part);
