/*
 * function_graph: a record at the entry of a traced function and one at its return, with the time between.
 *
 * What is usual (the only user of hooked returns, a task's context, nothing asked for but the functions) is written
 * out in graph_direct_enter and graph_direct_return; whoever asks for more takes the general way (fgraph.c) through
 * the functions in between.
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
#include "trace_graph_limits.h"
#include "trace_max.h"
#include "trace_record.h"
#include "trace_recursion.h"

static struct fgraph_ops graph_ops;
static struct tracer_flags graph_flags;

/* Where a CPU's calls are recorded by the direct way; NULL: not at all, or not so. [t] */
static DEFINE_PER_CPU(struct ring_buffer_per_cpu *, graph_buffer);
static bool graph_enabled;  /* [t] */
static bool graph_profiled; /* [t] the profiler wants the option sleep-time to have its effect */

/* ---- Which calls */

/* Linux leaves out what hard interrupts run with funcgraph-irqs off. */
static __always_inline bool limits_want(const struct fgraph_state *state, unsigned long ip, u32 pc)
{
	if (!graph_limits_want(state, ip))
		return false;
	if ((pc & HARDIRQ_MASK) && !(READ_ONCE(graph_flags.val) & TRACE_GRAPH_PRINT_IRQS) &&
	    graph_limits_skip_irq(state))
		return false;
	return !trace_ignores_pid(&global_trace, current->pid);
}

static bool graph_wants(struct fgraph_ops *gops, const struct fgraph_call *call)
{
	return READ_ONCE(graph_enabled) && limits_want(call->state, call->ip, call->pc);
}

/* ---- The general way */

/* With a threshold only returns are recorded, of calls that took as long. */
static bool graph_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	unsigned args = READ_ONCE(graph_flags.val) & TRACE_GRAPH_ARGS ? FTRACE_REGS_ARGS : 0;

	if (graph_begins_notrace(call->state, call->ip, call->depth))
		return true;
	if (!READ_ONCE(tracing_thresh) && !trace_graph_entry(&global_trace, call, args))
		return false;
	graph_note_begin(call->state, call->depth, call->pc);
	return true;
}

static void graph_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	u64 rettime = sched_clock(), thresh = READ_ONCE(tracing_thresh);

	if (graph_note_end(call->state, call->depth) || !READ_ONCE(graph_enabled))
		return;
	if (thresh && rettime - frame->calltime - call->stack->slept < thresh)
		return;
	trace_graph_return(&global_trace, call, frame, rettime);
}

/* ---- The usual case. Whatever is not, is left by a tail call, so that no registers are saved for it. */

/*
 * The first word of a record; preemption was `pc`, which is at most 15, interrupts were `flags`. `restore`: and are
 * again, with one question for both.
 */
static __always_inline u32 usual_head(int type, u32 pc, const struct task_struct *t, unsigned long flags, bool restore)
{
	u32 head = type | pc << 24;

	if (unlikely(arch_irqs_disabled_flags(flags))) {
		barrier();
		head |= TRACE_FLAG_IRQS_OFF << 16;
	} else if (restore) {
		raw_local_irq_enable();
	}

	if (unlikely(t->thread_flags & _TIF_NEED_RESCHED)) {
		barrier(); /* a branch that is not taken, instead of computing both */
		head |= (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 16;
	}
	return head;
}

static __always_inline void fill_entry(struct ring_buffer_event *event, const struct task_struct *t, u32 head,
				       unsigned long ip, u32 depth)
{
	struct ftrace_graph_ent_entry *entry = (void *)event->array;

	*(u32 *)(void *)entry = head;
	entry->ent.pid = t->pid;
	entry->func = ip;
	entry->depth = depth;
}

static __always_inline void fill_return(struct ring_buffer_event *event, const struct task_struct *t, u32 head,
					const struct fgraph_stack *stack, unsigned long result, u64 ts, u32 depth)
{
	struct ftrace_graph_ret_entry *entry = (void *)event->array;
	const struct fgraph_frame *frame = stack->top - 1;

	*(u32 *)(void *)entry = head;
	entry->ent.pid = t->pid;
	entry->func = frame->func;
	entry->retval = result;
	entry->depth = depth;
	entry->overrun = stack->overrun;
	entry->calltime = frame->calltime + stack->slept;
	entry->rettime = ts;
}

static __always_inline struct fgraph_state *direct_state(struct fgraph_stack *stack)
{
	return &stack->user[FGRAPH_TRACER];
}

/* The frame is there; it is the innermost. Interrupts are off, they were `flags`. */
static noinline void enter_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u32 pc,
					const struct ftrace_regs *fregs, u64 ts, unsigned long flags)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, GRAPH_ENT_SIZE, ts);
	struct fgraph_state *state = direct_state(t->ret_stack);
	struct fgraph_frame *frame = t->ret_stack->top - 1;

	if (event) {
		fill_entry(event, t, usual_head(TRACE_GRAPH_ENT, pc, t, flags, false), frame->func, state->depth - 1);
		ring_buffer_commit(buffer);
		graph_note_begin(state, state->depth - 1, pc);
		fgraph_hook(fregs);
	} else {
		WRITE_ONCE(state->depth, state->depth - 1);
		fgraph_pop(t->ret_stack, frame);
	}
	raw_local_irq_restore(flags);
	trace_leave(t, pc);
}

static noinline void enter_commit_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u32 pc,
				       const struct ftrace_regs *fregs, void (*commit)(struct ring_buffer_per_cpu *))
{
	commit(buffer);
	fgraph_hook(fregs);
	trace_leave(t, pc);
}

/* Preemption was switched off for nothing. */
static noinline void leave_to_general(unsigned long ip, unsigned long parent_ip, struct task_struct *t,
				      struct ftrace_regs *fregs, u32 pc)
{
	barrier();
	WRITE_ONCE(t->preempt_count, pc);
	fgraph_enter(ip, parent_ip, NULL, fregs);
}

/*
 * What is not usual is asked for with preemption off: a grace period waits for who has got the buffer. Without a key
 * this task has not been looked at since we are the only user. (When another one has come, only those come here who
 * were on their way: such a call began before the other user.)
 */
static __always_inline void graph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs,
					bool limited)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), depth;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct ring_buffer_event *event;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	unsigned long flags;
	bool silent = false;
	u64 ts, key;

	if (unlikely(!trace_is_usual(pc))) {
		fgraph_enter(ip, parent_ip, NULL, fregs);
		return;
	}
	trace_enter(t, pc, RECURSION_TASK);
	buffer = READ_ONCE(this_cpu(graph_buffer));
	stack = t->ret_stack;
	if (unlikely(!buffer || !stack))
		goto general;
	state = direct_state(stack);
	key = state->key;
	if (unlikely(!key || fgraph_full(stack)))
		goto general;
	if (limited && !limits_want(state, ip, pc)) {
		trace_leave(t, pc);
		return;
	}
	frame = fgraph_push(stack, ip, parent_ip, fregs);
	frame->key = key;
	depth = state->depth;
	if (limited)
		silent = graph_begins_notrace(state, ip, depth);
	raw_local_irq_save(flags);
	WRITE_ONCE(state->depth, depth + 1);
	ts = sched_clock();
	frame->calltime = ts - stack->slept;
	if (silent) {
		raw_local_irq_restore(flags);
		goto hook;
	}
	event = rb_try_reserve(buffer, GRAPH_ENT_SIZE, ts);
	if (unlikely(!event)) {
		enter_reserve_slow(buffer, t, pc, fregs, ts, flags);
		return;
	}
	fill_entry(event, t, usual_head(TRACE_GRAPH_ENT, pc, t, flags, true), ip, depth);
	if (limited)
		graph_note_begin(state, depth, pc);
	commit = rb_try_commit(buffer);
	if (unlikely(commit)) {
		enter_commit_slow(buffer, t, pc, fregs, commit);
		return;
	}
hook:
	fgraph_hook(fregs);
	trace_leave(t, pc);
	return;
general:
	leave_to_general(ip, parent_ip, t, fregs, pc);
}

static void graph_direct_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	graph_enter(ip, parent_ip, fregs, false);
}

/* With pids, a depth, functions to begin or to stop at. */
static void graph_limited_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	graph_enter(ip, parent_ip, fregs, true);
}

static __always_inline void finish_return(struct task_struct *t, u32 pc, struct fgraph_stack *stack)
{
	fgraph_pop(stack, stack->top - 1);
	trace_leave(t, pc);
}

/* Interrupts are off, they were `flags`. */
static noinline void return_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u32 pc,
					 unsigned long flags, u64 ts, unsigned long result)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, sizeof(struct ftrace_graph_ret_entry), ts);
	struct fgraph_stack *stack = t->ret_stack;
	u32 depth = direct_state(stack)->depth - 1;

	if (event) {
		fill_return(event, t, usual_head(TRACE_GRAPH_RET, pc, t, flags, false), stack, result, ts, depth);
		ring_buffer_commit(buffer);
	}
	WRITE_ONCE(direct_state(stack)->depth, depth);
	raw_local_irq_restore(flags);
	finish_return(t, pc, stack);
}

static noinline void return_commit_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u32 pc,
					struct fgraph_stack *stack, void (*commit)(struct ring_buffer_per_cpu *))
{
	commit(buffer);
	finish_return(t, pc, stack);
}

/* Who returns to the handler has a stack of frames, or there is nowhere to go. */
static void graph_direct_return(struct fgraph_ret_regs *regs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), depth;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct ring_buffer_event *event;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	unsigned long flags;
	u64 ts;

	if (unlikely(!trace_is_usual(pc))) {
		fgraph_return(regs);
		return;
	}
	trace_enter(t, pc, RECURSION_TASK);
	buffer = READ_ONCE(this_cpu(graph_buffer));
	stack = t->ret_stack;
	if (unlikely(!buffer))
		goto general;
	frame = stack->top - 1;
	state = direct_state(stack);
	if (unlikely(frame->mark != fgraph_ret_mark(regs) || frame->key != state->key))
		goto general;
	WRITE_ONCE(regs->ret, frame->ret);
	depth = state->depth - 1;
	if (unlikely(state->flags) && graph_note_end(state, depth)) {
		WRITE_ONCE(state->depth, depth);
		goto finish;
	}
	raw_local_irq_save(flags);
	ts = sched_clock();
	event = rb_try_reserve(buffer, sizeof(struct ftrace_graph_ret_entry), ts);
	if (unlikely(!event)) {
		return_reserve_slow(buffer, t, pc, flags, ts, regs->result[0]);
		return;
	}
	WRITE_ONCE(state->depth, depth);
	fill_return(event, t, usual_head(TRACE_GRAPH_RET, pc, t, flags, true), stack, regs->result[0], ts, depth);
	commit = rb_try_commit(buffer);
	if (unlikely(commit)) {
		return_commit_slow(buffer, t, pc, stack, commit);
		return;
	}
finish:
	finish_return(t, pc, stack);
	return;
general:
	barrier();
	WRITE_ONCE(t->preempt_count, pc);
	fgraph_return(regs);
}

void graph_update_fast(struct trace_array *tr)
{
	bool limited = max_graph_depth || graph_functions.hash || graph_notrace.hash || trace_array_filters_pids(tr);
	bool fast = graph_enabled && !tr->clock && !tracing_thresh && !(graph_flags.val & TRACE_GRAPH_ARGS);
	int cpu;

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
static struct tracer_flags graph_flags = {
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
