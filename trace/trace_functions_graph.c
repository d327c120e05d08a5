/*
 * function_graph: a record at the entry of a traced function and one at its return, with the time between.
 *
 * What is usual (the only user of hooked returns, a task's context, nothing asked for but the functions) is written out in
 * graph_direct_enter and graph_direct_return; whoever asks for more takes the general way (fgraph.c) through the
 * functions in between.
 */
#include <asm/ftrace.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "fgraph_inline.h"
#include "fgraph_internal.h"
#include "trace_graph.h"
#include "trace_max.h"
#include "trace_record.h"
#include "trace_recursion.h"

/*
 * fgraph_state.flags: is this task inside of a function of set_graph_function, or of set_graph_notrace, and at which
 * depth did that begin?
 */
#define GRAPH_IN	    0x1u
#define GRAPH_IN_NOTRACE    0x2u
#define GRAPH_IN_AT(depth)  ((depth) << 8 | GRAPH_IN)
#define GRAPH_NOT_AT(depth) ((depth) << 16 | GRAPH_IN_NOTRACE)
#define GRAPH_IN_MASK	    (0xff00u | GRAPH_IN)
#define GRAPH_NOT_MASK	    (0xff0000u | GRAPH_IN_NOTRACE)
static_assert(FTRACE_RETFUNC_DEPTH <= 0xff);

static struct fgraph_ops graph_ops;
static struct tracer_flags graph_flags;

/* Where a CPU's calls are recorded by the direct way; NULL: not at all, or not so. [t] */
static DEFINE_PER_CPU(struct ring_buffer_per_cpu *, graph_buffer);
static bool graph_enabled;  /* [t] */

/* ---- Which calls */

/* Linux leaves out what hard interrupts run, unless they were interrupted in what is traced. */
static bool skips_irqs(u32 pc)
{
	return !(READ_ONCE(graph_flags.val) & TRACE_GRAPH_PRINT_IRQS) && (pc & HARDIRQ_MASK);
}

static bool graph_wants(struct fgraph_ops *gops, const struct fgraph_call *call)
{
	u32 depth = READ_ONCE(max_graph_depth), flags = call->state->flags;
	const struct ip_hash *functions;

	if (!READ_ONCE(graph_enabled) || (depth && call->depth >= depth) || (flags & GRAPH_IN_NOTRACE))
		return false;
	functions = smp_load_acquire(&graph_functions.hash);
	if (functions && !(flags & GRAPH_IN) && !ip_hash_has(functions, call->ip))
		return false;
	return !skips_irqs(call->pc) && !trace_ignores_pid(&global_trace, current->pid);
}

/* ---- Records */

static bool record_entry(struct trace_array *tr, const struct fgraph_call *call, u64 ts)
{
	unsigned args = READ_ONCE(graph_flags.val) & TRACE_GRAPH_ARGS ? FTRACE_REGS_ARGS : 0;
	unsigned size = GRAPH_ENT_SIZE + args * sizeof(long);
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, size, ts);
	struct ftrace_graph_ent_entry *entry;

	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_GRAPH_ENT, current, call->pc, arch_local_save_flags());
	entry->func = call->ip;
	entry->depth = call->depth;
	for (unsigned i = 0; i < args; i++)
		entry->args[i] = ftrace_regs_argument(call->fregs, i);
	ring_buffer_commit(buffer);
	return true;
}

static void record_return(struct trace_array *tr, const struct fgraph_call *call, const struct fgraph_frame *frame,
			  u64 ts, u64 rettime)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, sizeof(struct ftrace_graph_ret_entry), ts);
	struct ftrace_graph_ret_entry *entry;

	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_GRAPH_RET, current, call->pc, arch_local_save_flags());
	entry->func = call->ip;
	entry->retval = call->result;
	entry->depth = call->depth;
	entry->overrun = call->stack->overrun;
	entry->calltime = frame->calltime + call->stack->slept;
	entry->rettime = rettime;
	ring_buffer_commit(buffer);
}

/* With a threshold only returns are recorded, of calls that took as long. */
static bool graph_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	const struct ip_hash *stops = smp_load_acquire(&graph_notrace.hash);
	u32 *flags = &call->state->flags;

	if (stops && ip_hash_has(stops, call->ip)) {
		*flags = (*flags & ~GRAPH_NOT_MASK) | GRAPH_NOT_AT(call->depth);
		return true;
	}
	if (!READ_ONCE(tracing_thresh) && !record_entry(&global_trace, call, trace_clock_now(&global_trace)))
		return false;
	if (graph_functions.hash && !(*flags & GRAPH_IN))
		*flags = (*flags & ~GRAPH_IN_MASK) | GRAPH_IN_AT(call->depth);
	return true;
}

static void graph_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	u64 rettime = sched_clock(), thresh = READ_ONCE(tracing_thresh);
	u32 *flags = &call->state->flags;

	if ((*flags & GRAPH_NOT_MASK) == GRAPH_NOT_AT(call->depth)) {
		*flags &= ~GRAPH_NOT_MASK;
		return;
	}
	if ((*flags & GRAPH_IN_MASK) == GRAPH_IN_AT(call->depth))
		*flags &= ~GRAPH_IN_MASK;
	if (!READ_ONCE(graph_enabled) || (thresh && rettime - frame->calltime - call->stack->slept < thresh))
		return;
	record_return(&global_trace, call, frame, global_trace.clock ? trace_clock_now(&global_trace) : rettime, rettime);
}

/* ---- The usual case */

/* The first word of a record; preemption was `pc`, which is at most 15. */
static __always_inline u32 usual_head(int type, u32 pc, const struct task_struct *t)
{
	u32 head = type | pc << 24 | (u32)arch_irqs_disabled_flags(arch_local_save_flags()) << 16;

	if (unlikely(t->thread_flags & _TIF_NEED_RESCHED)) {
		barrier(); /* a branch that is not taken, instead of computing both */
		head |= (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 16;
	}
	return head;
}

static __always_inline void put_head(struct trace_entry *ent, u32 head, pid_t pid)
{
	*(u32 *)(void *)ent = head;
	ent->pid = pid;
}

/* Everything that is not usual is asked for here, with preemption off: a grace period waits for who has got the buffer. */
static void graph_direct_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), depth;
	struct ring_buffer_per_cpu *buffer;
	struct ftrace_graph_ent_entry *entry;
	struct ring_buffer_event *event;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	u64 ts, key;

	if (unlikely(!trace_is_usual(pc)))
		goto general;
	trace_enter(t, pc, RECURSION_TASK);
	buffer = READ_ONCE(this_cpu(graph_buffer));
	stack = t->ret_stack;
	key = READ_ONCE(graph_ops.direct_key);
	if (unlikely(!buffer || !stack || !key || stack->nr >= FTRACE_RETFUNC_DEPTH))
		goto leave_to_general;
	state = &stack->user[graph_ops.bit];
	if (unlikely(state->since != graph_ops.since))
		goto leave_to_general;
	frame = fgraph_push(stack, ip, fregs);
	frame->key = key;
	depth = state->depth;
	WRITE_ONCE(state->depth, depth + 1);
	ts = sched_clock();
	frame->calltime = ts - stack->slept;
	event = ring_buffer_reserve(buffer, GRAPH_ENT_SIZE, ts);
	if (unlikely(!event)) {
		WRITE_ONCE(state->depth, depth);
		fgraph_pop(stack, frame);
		trace_leave(t, pc);
		return;
	}
	entry = (void *)event->array;
	put_head(&entry->ent, usual_head(TRACE_GRAPH_ENT, pc, t), t->pid);
	entry->func = ip;
	entry->depth = depth;
	ring_buffer_commit(buffer);
	fgraph_hook(frame);
	trace_leave(t, pc);
	return;
leave_to_general:
	WRITE_ONCE(t->preempt_count, pc);
general:
	fgraph_enter(ip, parent_ip, op, fregs);
}

static void graph_direct_return(struct fgraph_ret_regs *regs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), depth;
	struct ring_buffer_per_cpu *buffer;
	struct ftrace_graph_ret_entry *entry;
	struct ring_buffer_event *event;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	u64 ts;

	if (unlikely(!trace_is_usual(pc)))
		goto general;
	trace_enter(t, pc, RECURSION_TASK);
	buffer = READ_ONCE(this_cpu(graph_buffer));
	stack = t->ret_stack;
	if (unlikely(!buffer || !stack || !stack->nr))
		goto leave_to_general;
	frame = &stack->frames[stack->nr - 1];
	state = &stack->user[graph_ops.bit];
	if (unlikely(frame->mark != fgraph_ret_mark(regs) || frame->key != READ_ONCE(graph_ops.direct_key) || state->flags))
		goto leave_to_general;
	WRITE_ONCE(regs->ret, frame->ret);
	ts = sched_clock();
	depth = state->depth - 1;
	event = ring_buffer_reserve(buffer, sizeof(*entry), ts);
	if (likely(event)) {
		entry = (void *)event->array;
		put_head(&entry->ent, usual_head(TRACE_GRAPH_RET, pc, t), t->pid);
		entry->func = frame->func;
		entry->retval = regs->result[0];
		entry->depth = depth;
		entry->overrun = stack->overrun;
		entry->calltime = frame->calltime + stack->slept;
		entry->rettime = ts;
		ring_buffer_commit(buffer);
	}
	WRITE_ONCE(state->depth, depth);
	fgraph_pop(stack, frame);
	trace_leave(t, pc);
	return;
leave_to_general:
	WRITE_ONCE(t->preempt_count, pc);
general:
	fgraph_return(regs);
}

void graph_update_fast(struct trace_array *tr)
{
	bool fast = graph_enabled && !tr->clock && !max_graph_depth && !graph_functions.hash && !graph_notrace.hash &&
		    !tracing_thresh && !trace_array_filters_pids(tr) && !(graph_flags.val & TRACE_GRAPH_ARGS);
	int cpu;

	for_each_possible_cpu (cpu)
		WRITE_ONCE(per_cpu(graph_buffer, cpu), fast ? tr->cpu_data[cpu].buffer : NULL);
}

/* ---- The tracer */

static struct fgraph_ops graph_ops = {
	.wants = graph_wants,
	.entryfunc = graph_entry,
	.retfunc = graph_return,
	.direct_enter = graph_direct_enter,
	.direct_return = graph_direct_return,
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
	{},
};
static struct tracer_flags graph_flags = {
	.val = TRACE_GRAPH_PRINT_CPU | TRACE_GRAPH_PRINT_OVERHEAD | TRACE_GRAPH_PRINT_DURATION | TRACE_GRAPH_PRINT_IRQS |
	       TRACE_GRAPH_SLEEP_TIME,
	.opts = graph_opts,
};

/* gcc's hook on aarch64 cannot tell arguments: -EOPNOTSUPP there. */
static int graph_set_flag(struct trace_array *tr, u32 bit, bool set)
{
	if (bit == TRACE_GRAPH_ARGS && set && !FTRACE_REGS_ARGS)
		return -EOPNOTSUPP;
	if (bit == TRACE_GRAPH_SLEEP_TIME && graph_enabled)
		return fgraph_count_sleep(!set);
	if (bit == TRACE_GRAPH_ARGS) {
		/* The direct way writes none, so it is left first; graph_update_fast looks at the option as it was. */
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
	ret = fgraph_count_sleep(!(graph_flags.val & TRACE_GRAPH_SLEEP_TIME));
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
	fgraph_count_sleep(false);
stop_cmdlines:
	tracing_stop_cmdline_record();
	return ret;
}

static void graph_trace_reset(struct trace_array *tr)
{
	graph_enabled = false;
	graph_update_fast(tr);
	unregister_ftrace_graph(&graph_ops);
	fgraph_count_sleep(false);
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
