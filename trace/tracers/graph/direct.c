/*
 * function_graph in the usual case, called straight from the machine's entry. Interrupts stay off from the first look
 * at anything of this CPU to the commit. So preemption need not be counted, and only an NMI can come in between. The
 * argument for this stands in ftrace/fgraph_inline.h.
 *
 * `masked` says that interrupts were off before; it is mostly a constant, and the compiler makes one copy of each
 * function for each value. Whatever is not usual leaves the common path by a tail call to a noinline function. So the
 * common path calls nothing, and the compiler need not save registers for it.
 *
 * A call and its return, with what each of them writes:
 *
 *	graph_enter		push a frame, note the time, write TRACE_GRAPH_ENT, replace the return address
 *	  the function runs
 *	graph_leave		find the frame, write TRACE_GRAPH_RET with both times, pop the frame
 */
#include <arch/ftrace.h>
#include <irq/irqflags.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "core/recursion.h"
#include "ftrace/fgraph_inline.h"
#include "ftrace/fgraph_internal.h"
#include "direct.h"
#include "graph.h"

/* raw_: the hooks of irqsoff must not see this, or every traced call would be a section of its own. */
static __always_inline void direct_begin(bool masked)
{
	if (!masked)
		raw_local_irq_disable();
}

/*
 * The barrier keeps the compiler from moving a store to a frame behind the point where an interrupt may use the stack.
 */
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

/*
 * The three ways, each with its own copy of the code: function_graph is the only user of returns; the same with limits
 * (pids, depth, functions to begin or stop at); with the profiler as second user.
 */
enum graph_way { GRAPH_ALONE, GRAPH_LIMITED, GRAPH_PROFILED };

/*
 * Does the frame's key say that both function_graph and the profiler, as they are registered now, want this call? A
 * task that has slept since one of them was alone may still have the older key and frames that the profiler does not
 * know.
 */
static __always_inline bool profiled_key(u64 key)
{
	return likely(key == READ_ONCE(fgraph_profiled_key));
}

/*
 * The page had no room for the record. The frame is pushed already and is the innermost. If rb_reserve_slow() finds
 * room for the record, the call is hooked as usual. If not (the ring is off or full), function_graph does not need the
 * return, and the frame is popped; but beside the profiler, which has counted the call, the frame stays, without the
 * tracer's bit in the key.
 */
static noinline void enter_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t,
					const struct ftrace_regs *fregs, u64 ts, enum graph_way way, bool masked)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, GRAPH_ENT_SIZE, ts);
	struct fgraph_state *state = direct_state(t->ret_stack);
	struct fgraph_frame *frame = t->ret_stack->top - 1;
	u32 depth = state->depth - 1, pc = t->preempt_count;

	if (event) {
		graph_fill_entry(event, t, graph_head(TRACE_GRAPH_ENT, pc, t, masked), frame->func, depth);
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

/*
 * The record is written, and rb_try_close() has said that `commit` must be called: writers that nested inside have left
 * their commits to this one.
 */
static noinline void commit_slow(struct ring_buffer_per_cpu *buffer, void (*commit)(struct ring_buffer_per_cpu *),
				 bool masked)
{
	commit(buffer);
	direct_end(masked);
}

/* Nothing has been written yet, so the general way starts the call from its beginning. */
static noinline void enter_general(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs, bool masked)
{
	direct_end(masked);
	fgraph_enter(ip, parent_ip, NULL, fregs);
}

/*
 * The entry of a traced function. `pc`: preempt_count of the traced code.
 *
 * The buffer is looked up only once interrupts are off. So a grace period waits for all calls that have found it, and
 * after that no call uses it any more.
 *
 * "No room" has two meanings, and the general way deals with both. Either the shadow stack is full, or this task has
 * not been looked at since function_graph became the only user of returns (room is NULL then). The reverse does no
 * harm: after a second user has come, only calls that were on their way already arrive here, and they began before that
 * user.
 *
 * An order that matters: the frame is complete before fgraph_hook() replaces the return address, because an NMI or a
 * stack walk must find the true address as soon as the replaced one is in place.
 */
static __always_inline void graph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs, u32 pc,
					enum graph_way way, bool masked)
{
	const bool limited = way == GRAPH_LIMITED;
	struct task_struct *t = current;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct rb_claimed claimed;
	struct fgraph_direct *direct;
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
	direct = &stack->direct[FGRAPH_TRACER];
	key = READ_ONCE(direct->key); /* before room: an NMI may take both away (fgraph_inline.h) */
	if (unlikely(stack->top >= READ_ONCE(direct->room) || (way == GRAPH_PROFILED && !profiled_key(key))))
		goto general;
	if (limited && !graph_limits_allow(&global_trace, state, ip, pc)) {
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
		graph_profiler.enter(stack, frame);
	if (limited && graph_begins_notrace(state, frame, ip, depth)) {
		fgraph_hook(fregs);
		direct_end(masked);
		return;
	}
	claimed = rb_try_open(buffer, RB_WORDS(GRAPH_ENT_SIZE), ts);
	if (unlikely(!claimed.event)) {
		enter_reserve_slow(buffer, t, fregs, ts, way, masked);
		return;
	}
	fgraph_hook(fregs);
	graph_fill_entry(claimed.event, t, graph_head(TRACE_GRAPH_ENT, pc, t, masked), ip, depth);
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

/*
 * Copies for traced code that runs with interrupts off, which is rare: they stand apart so that the usual copy is
 * short.
 */
static noinline void graph_enter_masked(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs)
{
	graph_enter(ip, parent_ip, fregs, current->preempt_count, GRAPH_ALONE, true);
}

static noinline void graph_enter_limited_masked(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs)
{
	graph_enter(ip, parent_ip, fregs, current->preempt_count, GRAPH_LIMITED, true);
}

/*
 * The entry of a call while function_graph of the top array is the only user of returns. What is unusual (an
 * interrupt's context, a preempt_count above 15) takes the general way.
 */
void graph_direct_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	u32 pc = READ_ONCE(current->preempt_count);

	if (unlikely(!trace_is_usual(pc)))
		fgraph_enter(ip, parent_ip, NULL, fregs);
	else if (unlikely(irqs_disabled()))
		graph_enter_masked(ip, parent_ip, fregs);
	else
		graph_enter(ip, parent_ip, fregs, pc, GRAPH_ALONE, false);
}

/* The same with limits: pids, a depth, functions to begin or to stop at. */
void graph_limited_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	u32 pc = READ_ONCE(current->preempt_count);

	if (unlikely(!trace_is_usual(pc)))
		fgraph_enter(ip, parent_ip, NULL, fregs);
	else if (unlikely(irqs_disabled()))
		graph_enter_limited_masked(ip, parent_ip, fregs);
	else
		graph_enter(ip, parent_ip, fregs, pc, GRAPH_LIMITED, false);
}

/* The same beside the function profiler, for both: one frame, one look at the clock. */
void graph_profiled_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	u32 pc = READ_ONCE(current->preempt_count);

	if (unlikely(!trace_is_usual(pc) || READ_ONCE(graph_limited)))
		fgraph_enter(ip, parent_ip, NULL, fregs);
	else
		graph_enter(ip, parent_ip, fregs, pc, GRAPH_PROFILED, irqs_disabled());
}

/*
 * The rest of a return whose record did not fit into the page: with a call of the ring buffer, and then what the
 * direct way does at its end.
 */
static noinline void return_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u64 ts,
					 unsigned long result, bool masked)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, sizeof(struct ftrace_graph_ret_entry), ts);
	struct fgraph_stack *stack = t->ret_stack;
	struct fgraph_frame *frame = stack->top - 1;
	struct fgraph_state *state = direct_state(stack);
	u32 depth = state->depth - 1;

	if (event) {
		graph_fill_return(event, t, graph_head(TRACE_GRAPH_RET, t->preempt_count, t, masked), state, frame,
				  result, ts, depth);
		ring_buffer_commit(buffer);
	}
	WRITE_ONCE(state->depth, depth);
	fgraph_pop(stack, frame);
	direct_end(masked);
}

/*
 * The return of a hooked call: its frame is the innermost, and its mark must be what this return shows (asm/ftrace.h).
 * False, and nothing has been changed: the frame was made by another way or for other users, so the general way must
 * handle it.
 *
 * `ends` is FGRAPH_KEY_ENDS for a call with which a limit ends: set_graph_notrace's silence, or what set_graph_function
 * began. Such frames have this bit in the key, so the usual comparison with `ends` 0 tells them apart without a branch
 * of its own.
 */
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
	if (unlikely(!buffer || frame->mark != fgraph_ret_mark(regs) ||
		     frame->key != (stack->direct[FGRAPH_TRACER].key | ends)))
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
		graph_profiler.leave(stack, frame, ts);
	claimed = rb_try_open(buffer, RB_WORDS(sizeof(struct ftrace_graph_ret_entry)), ts);
	if (unlikely(!claimed.event)) {
		return_reserve_slow(buffer, t, ts, regs->result[0], masked);
		return true;
	}
	depth = state->depth - 1;
	WRITE_ONCE(state->depth, depth);
	graph_fill_return(claimed.event, t, graph_head(TRACE_GRAPH_RET, t->preempt_count, t, masked), state, frame,
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

/* The second attempt: the same comparison for frames at which a limit ends. Interrupts are off. */
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

/* Called by return_to_handler. Only a task with a shadow stack can return there, so t->ret_stack is never NULL here. */
void graph_direct_return(struct fgraph_ret_regs *regs)
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

/* The return, for both users. A call that was hooked for other users returns by the general way. */
void graph_profiled_return(struct fgraph_ret_regs *regs)
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
