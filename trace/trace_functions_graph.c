/*
 * function_graph: a record at the entry of a traced function and one at its return, with the time between.
 *
 * What is usual (the only user of hooked returns, a task's context, nothing asked for but the functions) goes the
 * direct way (trace_graph_direct.c); whoever asks for more takes the general way (fgraph.c) through the functions here.
 */
#include <asm/ftrace.h>
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "fgraph_inline.h"
#include "fgraph_internal.h"
#include "trace_graph.h"
#include "trace_graph_direct.h"
#include "trace_graph_limits.h"
#include "trace_max.h"
#include "trace_profile.h"
#include "trace_record.h"
#include "trace_recursion.h"

static struct fgraph_ops graph_ops;

DEFINE_PER_CPU(struct ring_buffer_per_cpu *, graph_buffer);
bool graph_limited;
static bool graph_enabled;  /* [t] */
static bool graph_profiled; /* [t] the profiler wants the option sleep-time to have its effect */

/* ---- Which calls */

static bool graph_wants(struct fgraph_ops *gops, const struct fgraph_call *call)
{
	return READ_ONCE(graph_enabled) && graph_limits_allow(call->state, call->ip, call->pc);
}

/* ---- The general way */

/* Where a call is recorded as the direct way does; NULL: it is not so. */
static __always_inline struct ring_buffer_per_cpu *usual_buffer(const struct fgraph_call *call)
{
	return trace_is_usual(call->pc) ? READ_ONCE(this_cpu(graph_buffer)) : NULL;
}

/* With a threshold only returns are recorded, of calls that took as long. */
static bool record_entry(const struct fgraph_call *call)
{
	unsigned args = READ_ONCE(graph_flags.val) & TRACE_GRAPH_ARGS ? FTRACE_REGS_ARGS : 0;
	struct ring_buffer_per_cpu *buffer = usual_buffer(call);
	struct ring_buffer_event *event;

	if (!buffer)
		return READ_ONCE(tracing_thresh) || trace_graph_entry(&global_trace, call, args);
	event = ring_buffer_reserve(buffer, GRAPH_ENT_SIZE, call->time);
	if (!event)
		return false;
	graph_fill_entry(event, current,
			 graph_head(TRACE_GRAPH_ENT, call->pc, current, irqs_disabled_flags(call->flags)), call->ip,
			 call->depth);
	ring_buffer_commit(buffer);
	return true;
}

static bool graph_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	if (graph_begins_notrace(call->state, frame, call->ip, call->depth))
		return true;
	if (!record_entry(call))
		return false;
	graph_note_begin(call->state, frame, call->depth, call->pc);
	return true;
}

static void graph_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	struct ring_buffer_per_cpu *buffer = usual_buffer(call);
	struct ring_buffer_event *event;

	if (graph_note_end(call->state, call->depth) || !READ_ONCE(graph_enabled))
		return;
	if (!buffer) {
		if (call->time - frame->calltime >= READ_ONCE(tracing_thresh))
			trace_graph_return(&global_trace, call, frame);
		return;
	}
	event = ring_buffer_reserve(buffer, sizeof(struct ftrace_graph_ret_entry), call->time);
	if (!event)
		return;
	graph_fill_return(event, current,
			  graph_head(TRACE_GRAPH_RET, call->pc, current, irqs_disabled_flags(call->flags)),
			  call->stack, frame, call->result, call->time, call->depth);
	ring_buffer_commit(buffer);
}

void graph_update_fast(struct trace_array *tr)
{
	bool limited = max_graph_depth || graph_functions.hash || graph_notrace.hash ||
		       trace_pids_any(&tr->function_pids);
	bool fast = graph_enabled && !tr->clock && !tracing_thresh && !(graph_flags.val & TRACE_GRAPH_ARGS);
	int cpu;

	WRITE_ONCE(graph_limited, limited);
	fgraph_set_direct_enter(&graph_ops, limited ? graph_limited_enter : graph_direct_enter);

	for_each_possible_cpu (cpu)
		WRITE_ONCE(per_cpu(graph_buffer, cpu), fast ? tr->cpu_data[cpu].buffer : NULL);
}

/* ---- The tracer */

static struct fgraph_ops graph_ops = {
	.wants = graph_wants,
	.entryfunc = graph_entry,
	.retfunc = graph_return,
	.bit = FGRAPH_TRACER,
	.direct_enter = graph_direct_enter,
	.direct_return = graph_direct_return,
	.profiled_enter = graph_profiled_enter,
	.profiled_return = graph_profiled_return,
};

static const struct tracer_opt graph_opts[] = {
	{ "funcgraph-overrun", TRACE_GRAPH_PRINT_OVERRUN },
	{ "funcgraph-cpu", TRACE_GRAPH_PRINT_CPU },
	{ "funcgraph-overhead", TRACE_GRAPH_PRINT_OVERHEAD },
	{ "funcgraph-proc", TRACE_GRAPH_PRINT_PROC },
	{ "funcgraph-duration", TRACE_GRAPH_PRINT_DURATION },
	{ "funcgraph-abstime", TRACE_GRAPH_PRINT_ABS_TIME },
	{ "funcgraph-irqs", TRACE_GRAPH_PRINT_IRQS },
	{ "funcgraph-tail", TRACE_GRAPH_PRINT_TAIL },
	{ "funcgraph-retval", TRACE_GRAPH_PRINT_RETVAL },
	{ "funcgraph-retval-hex", TRACE_GRAPH_PRINT_RETVAL_HEX },
	{ "funcgraph-args", TRACE_GRAPH_ARGS },
	{ "sleep-time", TRACE_GRAPH_SLEEP_TIME },
	{ "graph-time", TRACE_GRAPH_GRAPH_TIME },
	{},
};
struct tracer_flags graph_flags = {
	.val = TRACE_GRAPH_PRINT_CPU | TRACE_GRAPH_PRINT_OVERHEAD | TRACE_GRAPH_PRINT_DURATION |
	       TRACE_GRAPH_PRINT_IRQS | TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME,
	.opts = graph_opts,
};

/* Time asleep is counted while anybody is there to leave it out and the option sleep-time says so. [t] */
static int count_sleep(bool wanted, bool option)
{
	return fgraph_count_sleep(wanted && !option);
}

static bool sleep_option(void)
{
	return graph_flags.val & TRACE_GRAPH_SLEEP_TIME;
}

int trace_graph_profiled(bool on)
{
	int ret = count_sleep(graph_enabled || on, sleep_option());

	if (!ret)
		graph_profiled = on;
	return ret;
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
		return count_sleep(graph_enabled || graph_profiled, set);
	if (bit == TRACE_GRAPH_ARGS) {
		/* The direct way writes none, so it is left first. */
		WRITE_ONCE(graph_flags.val, set ? graph_flags.val | bit : graph_flags.val & ~bit);
		graph_update_fast(tr);
	}
	return 0;
}

static int graph_trace_init(struct trace_array *tr)
{
	int ret = trace_graph_alloc_dump() ?: tracing_start_cmdline_record();

	if (ret)
		return ret;
	ret = count_sleep(true, sleep_option());
	if (ret)
		goto stop_cmdlines;
	graph_ops.ops = tr->ops;
	graph_enabled = true;
	graph_update_fast(tr);
	ret = register_ftrace_graph(&graph_ops);
	if (!ret)
		return 0;
	graph_enabled = false;
	graph_update_fast(tr);
	count_sleep(graph_profiled, sleep_option());
stop_cmdlines:
	tracing_stop_cmdline_record();
	return ret;
}

static void graph_trace_reset(struct trace_array *tr)
{
	graph_enabled = false;
	graph_update_fast(tr);
	unregister_ftrace_graph(&graph_ops);
	count_sleep(graph_profiled, sleep_option());
	tracing_stop_cmdline_record();
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
