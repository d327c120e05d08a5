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
#include "trace_profile.h"
#include "trace_record.h"
#include "trace_recursion.h"

static struct fgraph_ops graph_ops;
static struct tracer_flags graph_flags;

/* Where a CPU's calls are recorded by the direct way; NULL: not at all, or not so. [t] */
static DEFINE_PER_CPU(struct ring_buffer_per_cpu *, graph_buffer);
static bool graph_enabled;  /* [t] */
static bool graph_limited;  /* [t] to pids, a depth, or by functions to begin or to stop at */
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

/* ---- Records of tasks, with preemption disabled up to 15 times; interrupts are off. */

/* The first word of a record; preemption is as the record shall say, at most 15. */
static __always_inline u32 usual_head(int type, u32 pc, const struct task_struct *t, bool masked)
{
	u32 head = (type | (masked ? TRACE_FLAG_IRQS_OFF << 16 : 0)) + (pc << 24);

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
					const struct fgraph_stack *stack, const struct fgraph_frame *frame,
					unsigned long result, u64 ts, u32 depth)
{
	struct ftrace_graph_ret_entry *entry = (void *)event->array;

	*(u32 *)(void *)entry = head;
	entry->ent.pid = t->pid;
	entry->func = frame->func;
	entry->retval = result;
	entry->depth = depth;
	entry->overrun = stack->overrun;
	entry->calltime = frame->calltime;
	entry->rettime = ts;
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
	fill_entry(event, current, usual_head(TRACE_GRAPH_ENT, call->pc, current, irqs_disabled_flags(call->flags)),
		   call->ip, call->depth);
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
	fill_return(event, current, usual_head(TRACE_GRAPH_RET, call->pc, current, irqs_disabled_flags(call->flags)),
		    call->stack, frame, call->result, call->time, call->depth);
	ring_buffer_commit(buffer);
}

/*
 * ---- The usual case: interrupts stay off from the first look at anything of this CPU to the commit, so preemption
 * need not be counted, and nothing but an NMI comes in between. `masked`: they were off before; mostly a constant,
 * with a copy of the function for each. Whatever is not usual is left by a tail call, so that no registers are saved
 * for it.
 */

static __always_inline void direct_begin(bool masked)
{
	if (!masked)
		raw_local_irq_disable();
}

static __always_inline void direct_end(bool masked)
{
	barrier();
	if (!masked)
		raw_local_irq_enable();
}

static __always_inline struct fgraph_state *direct_state(struct fgraph_stack *stack)
{
	return &stack->user[FGRAPH_TRACER];
}

/* The ways there are, each with its copy: the only user; the same with limits; with the profiler beside us. */
enum graph_way { GRAPH_ALONE, GRAPH_LIMITED, GRAPH_PROFILED };

/*
 * Whose key it is: ours and the profiler's, as of now. (A task that has slept may have one of when we were alone, and
 * frames that the profiler does not know.)
 */
static __always_inline bool profiled_key(u64 key)
{
	return likely(key == READ_ONCE(profile_fgraph.direct_key));
}

/* The frame is there; it is the innermost. It stays if the profiler alone wants it. */
static noinline void enter_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t,
					const struct ftrace_regs *fregs, u64 ts, enum graph_way way,
					bool masked)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, GRAPH_ENT_SIZE, ts);
	struct fgraph_state *state = direct_state(t->ret_stack);
	struct fgraph_frame *frame = t->ret_stack->top - 1;
	u32 depth = state->depth - 1, pc = t->preempt_count;

	if (event) {
		fill_entry(event, t, usual_head(TRACE_GRAPH_ENT, pc, t, masked), frame->func, depth);
		ring_buffer_commit(buffer);
		graph_note_begin(state, frame, depth, pc);
		fgraph_hook(fregs);
	} else if (way == GRAPH_PROFILED) {
		WRITE_ONCE(state->depth, depth);
		frame->key &= ~(1ULL << FGRAPH_TRACER);
		fgraph_hook(fregs);
	} else {
		WRITE_ONCE(state->depth, depth);
		fgraph_pop(t->ret_stack, frame);
	}
	direct_end(masked);
}

/* What is left to do when the record is there. */
static noinline void commit_slow(struct ring_buffer_per_cpu *buffer, void (*commit)(struct ring_buffer_per_cpu *),
				 bool masked)
{
	commit(buffer);
	direct_end(masked);
}

static noinline void enter_general(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs, bool masked)
{
	direct_end(masked);
	fgraph_enter(ip, parent_ip, NULL, fregs);
}

/*
 * `pc`: preempt_count. What is not usual is asked for with interrupts off: a grace period waits for who has got the
 * buffer. Without room this task has not been looked at since we are the only user, or the stack is full. (When another
 * one has come, only those come here who were on their way: such a call began before the other user.)
 */
static __always_inline void graph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs,
					u32 pc, enum graph_way way, bool masked)
{
	const bool limited = way == GRAPH_LIMITED;
	struct task_struct *t = current;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct rb_claimed claimed;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	u64 ts, key;
	u32 depth;

	direct_begin(masked);
	buffer = READ_ONCE(this_cpu(graph_buffer));
	stack = t->ret_stack;
	if (unlikely(!buffer || !stack))
		goto general;
	state = direct_state(stack);
	key = READ_ONCE(state->key); /* before room: an NMI may take both away, one way and the other */
	if (unlikely(stack->top >= READ_ONCE(state->room) || (way == GRAPH_PROFILED && !profiled_key(key))))
		goto general;
	if (limited && !limits_want(state, ip, pc)) {
		direct_end(masked);
		return;
	}
	frame = fgraph_push(stack, ip, parent_ip, fregs);
	frame->key = key;
	depth = state->depth;
	WRITE_ONCE(state->depth, depth + 1);
	ts = sched_clock();
	frame->calltime = ts;
	if (way == GRAPH_PROFILED)
		profile_enter(stack, frame);
	if (limited && graph_begins_notrace(state, frame, ip, depth)) {
		fgraph_hook(fregs);
		direct_end(masked);
		return;
	}
	claimed = rb_try_open(buffer, GRAPH_ENT_SIZE, ts);
	if (unlikely(!claimed.event)) {
		enter_reserve_slow(buffer, t, fregs, ts, way, masked);
		return;
	}
	fgraph_hook(fregs);
	fill_entry(claimed.event, t, usual_head(TRACE_GRAPH_ENT, pc, t, masked), ip, depth);
	if (limited)
		graph_note_begin(state, frame, depth, pc);
	commit = rb_try_close(buffer, claimed);
	if (unlikely(commit)) {
		commit_slow(buffer, commit, masked);
		return;
	}
	direct_end(masked);
	return;
general:
	enter_general(ip, parent_ip, fregs, masked);
}

static noinline void graph_enter_masked(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs)
{
	graph_enter(ip, parent_ip, fregs, current->preempt_count, GRAPH_ALONE, true);
}

static noinline void graph_enter_limited_masked(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs)
{
	graph_enter(ip, parent_ip, fregs, current->preempt_count, GRAPH_LIMITED, true);
}

static void graph_direct_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	u32 pc = READ_ONCE(current->preempt_count);

	if (unlikely(!trace_is_usual(pc)))
		fgraph_enter(ip, parent_ip, NULL, fregs);
	else if (unlikely(irqs_disabled()))
		graph_enter_masked(ip, parent_ip, fregs);
	else
		graph_enter(ip, parent_ip, fregs, pc, GRAPH_ALONE, false);
}

/* With pids, a depth, functions to begin or to stop at. */
static void graph_limited_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	u32 pc = READ_ONCE(current->preempt_count);

	if (unlikely(!trace_is_usual(pc)))
		fgraph_enter(ip, parent_ip, NULL, fregs);
	else if (unlikely(irqs_disabled()))
		graph_enter_limited_masked(ip, parent_ip, fregs);
	else
		graph_enter(ip, parent_ip, fregs, pc, GRAPH_LIMITED, false);
}

static void graph_profiled_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				 struct ftrace_regs *fregs)
{
	u32 pc = READ_ONCE(current->preempt_count);

	if (unlikely(!trace_is_usual(pc) || READ_ONCE(graph_limited)))
		fgraph_enter(ip, parent_ip, NULL, fregs);
	else
		graph_enter(ip, parent_ip, fregs, pc, GRAPH_PROFILED, irqs_disabled());
}

static noinline void return_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u64 ts,
					 unsigned long result, bool masked)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, sizeof(struct ftrace_graph_ret_entry), ts);
	struct fgraph_stack *stack = t->ret_stack;
	struct fgraph_frame *frame = stack->top - 1;
	u32 depth = direct_state(stack)->depth - 1;

	if (event) {
		fill_return(event, t, usual_head(TRACE_GRAPH_RET, t->preempt_count, t, masked), stack, frame, result,
			    ts, depth);
		ring_buffer_commit(buffer);
	}
	WRITE_ONCE(direct_state(stack)->depth, depth);
	fgraph_pop(stack, frame);
	direct_end(masked);
}

/* Also where a limit ends, or nothing is recorded up to here. */
static __always_inline bool graph_leave(struct fgraph_ret_regs *regs, bool masked, u32 ends, bool profiled)
{
	struct task_struct *t = current;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct rb_claimed claimed;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	u32 depth;
	u64 ts;

	buffer = READ_ONCE(this_cpu(graph_buffer));
	stack = t->ret_stack;
	frame = stack->top - 1;
	state = direct_state(stack);
	if (unlikely(!buffer || frame->mark != fgraph_ret_mark(regs) || frame->key != (state->key | ends)))
		return false;
	if (profiled && !profiled_key(frame->key))
		return false;
	WRITE_ONCE(regs->ret, frame->ret);
	if (ends && graph_note_end(state, state->depth - 1)) {
		WRITE_ONCE(state->depth, state->depth - 1);
		fgraph_pop(stack, frame);
		direct_end(masked);
		return true;
	}
	ts = sched_clock();
	if (profiled)
		profile_leave(stack, frame, ts);
	claimed = rb_try_open(buffer, sizeof(struct ftrace_graph_ret_entry), ts);
	if (unlikely(!claimed.event)) {
		return_reserve_slow(buffer, t, ts, regs->result[0], masked);
		return true;
	}
	depth = state->depth - 1;
	WRITE_ONCE(state->depth, depth);
	fill_return(claimed.event, t, usual_head(TRACE_GRAPH_RET, t->preempt_count, t, masked), stack, frame,
		    regs->result[0], ts, depth);
	fgraph_pop(stack, frame);
	commit = rb_try_close(buffer, claimed);
	if (unlikely(commit)) {
		commit_slow(buffer, commit, masked);
		return true;
	}
	direct_end(masked);
	return true;
}

/* Interrupts are off. */
static noinline void leave_other(struct fgraph_ret_regs *regs, bool masked)
{
	if (graph_leave(regs, masked, FGRAPH_KEY_ENDS, false))
		return;
	direct_end(masked);
	fgraph_return(regs);
}

static noinline void graph_leave_masked(struct fgraph_ret_regs *regs)
{
	if (!graph_leave(regs, true, 0, false))
		leave_other(regs, true);
}

/* Who returns to the handler has a stack of frames, or there is nowhere to go. */
static void graph_direct_return(struct fgraph_ret_regs *regs)
{
	if (unlikely(!trace_is_usual(READ_ONCE(current->preempt_count)))) {
		fgraph_return(regs);
	} else if (unlikely(irqs_disabled())) {
		graph_leave_masked(regs);
	} else {
		direct_begin(false);
		if (!graph_leave(regs, false, 0, false))
			leave_other(regs, false);
	}
}

static void graph_profiled_return(struct fgraph_ret_regs *regs)
{
	bool masked;

	if (unlikely(!trace_is_usual(READ_ONCE(current->preempt_count)))) {
		fgraph_return(regs);
		return;
	}
	masked = irqs_disabled();
	direct_begin(masked);
	if (likely(graph_leave(regs, masked, 0, true)))
		return;
	direct_end(masked);
	fgraph_return(regs);
}

void graph_update_fast(struct trace_array *tr)
{
	bool limited = max_graph_depth || graph_functions.hash || graph_notrace.hash || trace_array_filters_pids(tr);
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
