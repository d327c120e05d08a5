/*
 * Hooked calls, the general way: any number of users, each told of its own functions, in any context. The usual case,
 * one user in a task's context, has a direct way in that user's own code (fgraph_ops.direct_enter).
 *
 * A user's depth goes up and down together with its records of entry and return, with interrupts off. So what an
 * interrupt records is either before the call, or inside it and one level deeper. (An NMI may come in between. Its
 * records are one level deeper than the call, although they stand before or behind it.)
 *
 * A hooked return finds its way while tracers come and go.
 *
 * The return address of a hooked call is on its task's shadow stack (trace/ftrace/fgraph.c), so return_to_handler finds
 * it without asking which user hooked it, or whether there still is a user. What could go wrong, and why it does not:
 *
 * - Interrupts and NMIs use the shadow stack of the task on top of which they run, and leave it as they found it: top
 *   is raised before a frame is filled, and the frame is emptied (slot 0) before top is lowered. A frame whose slot is
 *   0 belongs to no call, so a walk never takes an old one for a live one.
 * - A context switch inside a hooked call changes task and shadow stack together. What __schedule calls before the
 *   switch in one task returns in that task, after it was switched to again.
 * - A new task has no frames and nothing on its stack that could be hooked: its first call is made by ret_from_fork. It
 *   is given a shadow stack when it is on the list of tasks, so either the walk that serves all existing tasks finds it
 *   or it sees that stacks are wanted: the walk is made under tasklist_lock after that was set.
 * - A task that exits never returns from do_exit; its frames go with it. exec and signals return as everything does.
 * - A jump in place of a call (tail call) hands on the handler as return address: the callee's frame then says that it
 *   returns to the handler, which finds the jumper's frame next. Code that wants to know the caller follows the frames
 *   down to one that says something else.
 * - A user that goes away, and comes again: frames carry a key (users' bits, and above them a number that goes up with
 *   each change of users). A return is told to those of its users that were there when it was hooked. A task that slept
 *   meanwhile thus returns in silence, and its depth begins at 0 for the new user. A task that has found a user when it
 *   leaves the list goes on with that user: the user's bit, by which its state in the task is found, is given to
 *   another one only after a grace period.
 * - Memory of a shadow stack goes when its task does, or after the last user, when it is empty: no frame is pushed any
 *   more (users are looked at with preemption off, and a grace period is waited for), so one found empty stays so; its
 *   task may be popping the last one at this moment, with preemption off, and another grace period waits for that.
 * - Something impossible: at the entry a mark is taken that the return must find (the caller's frame pointer on
 *   aarch64, the place of the return address on x86_64). If it is not the innermost frame's the mismatch is counted
 *   (/sys/kernel/debug/fgraph/stats) and the right frame is looked for below; without one there is nowhere to go:
 *   panic.
 *
 * The recursion bit of the context (trace/core/recursion.h) says only whether users are told. A frame was pushed while
 * it was clear, and it is popped whatever it is then. Which bit is asked for at the return is kept in the frame:
 * irq_exit is entered in a hard interrupt and comes back in the context of what was interrupted. When that is the
 * tracer itself, its bit is set, and has nothing to say about a call that was recorded at its entry: without its return
 * the depth would be right and the line open for ever, and a limit that began with it (set_graph_notrace) would never
 * end for that task.
 */
#include <irq/irqflags.h>
#include <kernel/panic.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "core/recursion.h"
#include "fgraph_inline.h"
#include "fgraph_internal.h"
#include "internal.h"

ftrace_func_t fgraph_enter_func = fgraph_enter;
void (*fgraph_return_func)(struct fgraph_ret_regs *regs) = fgraph_return;

struct fgraph_ops *fgraph_users[FGRAPH_USERS];
u32 fgraph_mask;
unsigned fgraph_nr_users;
bool fgraph_sets_differ;
u64 fgraph_epoch;
u64 fgraph_profiled_key;
bool fgraph_was_used;
u64 fgraph_mismatches;

/* Walk over the users whose bits are set. Preemption off. */
#define for_each_user(gops, bits)                           \
	for (u32 bits_ = (bits); bits_; bits_ &= bits_ - 1) \
		if (((gops) = READ_ONCE(fgraph_users[__builtin_ctz(bits_)])))
#define all_users() READ_ONCE(fgraph_mask)

/* Bits of the users that want a frame's return. A bit may be another user's by now: compare fgraph_ops.since. */
static __always_inline u32 users_of(const struct fgraph_frame *frame)
{
	return (u32)frame->key & ((1U << FGRAPH_USERS) - 1);
}

noinline void trace_leave_resched(u32 pc)
{
	if (!pc)
		preempt_schedule_notrace();
}

/* ---- Entry */

/*
 * Is the site one of this user's? `rec` is the site's number, or -1 when all users have the same set: every site that
 * calls is everybody's then.
 */
static __always_inline bool site_is_of(const struct fgraph_ops *gops, long rec)
{
	return rec < 0 || ftrace_ops_wants(gops->ops, rec);
}

static __always_inline bool user_wants(struct fgraph_ops *gops, struct fgraph_call *call, long rec)
{
	if (!site_is_of(gops, rec))
		return false;
	call->state = fgraph_state(call->stack, gops);
	call->depth = call->state->depth;
	return !gops->wants || gops->wants(gops, call);
}

/* The shadow stack is full: count the call for each user that would have wanted it, and once for the stack. */
static noinline void count_overrun(struct fgraph_call *call, long rec)
{
	struct fgraph_ops *gops;
	bool missed = false;

	for_each_user(gops, all_users()) {
		if (!user_wants(gops, call, rec))
			continue;
		call->state->overrun++;
		if (gops->missed)
			gops->missed(gops, call->ip);
		missed = true;
	}
	if (missed)
		WRITE_ONCE(call->stack->overrun, call->stack->overrun + 1);
}

/* The task has no shadow stack: no memory was there for one when it was made. */
static noinline void tell_stackless(const struct fgraph_call *call)
{
	long rec = ftrace_rec_of(call->ip);
	struct fgraph_ops *gops;

	for_each_user(gops, all_users())
		if (gops->missed && site_is_of(gops, rec))
			gops->missed(gops, call->ip);
}

/* The frame is pushed: tell each user that wants the call. Returns the bits of those that want its return. */
static __always_inline u32 tell_entry(struct fgraph_call *call, struct fgraph_frame *frame, long rec)
{
	struct fgraph_ops *gops;
	u32 mask = 0;

	for_each_user(gops, all_users()) {
		if (!user_wants(gops, call, rec))
			continue;
		call->state->depth++;
		if (gops->entryfunc(gops, call, frame))
			mask |= 1U << gops->bit;
		else
			call->state->depth--;
	}
	return mask;
}

/* The recursion bit of the entry's context as two bits of a frame's key, and back. */
static __always_inline u64 context_key(u32 bit)
{
	return (u64)__builtin_ctz(bit >> RECURSION_SHIFT) << FGRAPH_CONTEXT_SHIFT;
}
static __always_inline u32 context_bit(u64 key)
{
	return RECURSION_TASK << ((key >> FGRAPH_CONTEXT_SHIFT) & 3);
}

/*
 * Push a frame, tell the users, and hook the return if one of them wants it. Interrupts are off meanwhile, for the
 * stack is the task's, and an interrupt's functions push and pop on it, too. bit: the recursion bit of this context. A
 * full stack is counted and the return not hooked.
 */
static __always_inline void hook_call(struct fgraph_call *call, unsigned long parent_ip, u32 bit)
{
	long rec = unlikely(READ_ONCE(fgraph_sets_differ)) ? ftrace_rec_of(call->ip) : -1;
	struct fgraph_stack *stack = call->stack;
	struct fgraph_frame *frame;
	u32 mask;

	raw_local_irq_save(call->flags);
	if (likely(!fgraph_full(stack))) {
		frame = fgraph_push(stack, call->ip, parent_ip, call->fregs);
		frame->calltime = call->time = sched_clock();
		frame->key = fgraph_epoch << FGRAPH_EPOCH_SHIFT | context_key(bit);
		mask = tell_entry(call, frame, rec);
		frame->key |= mask;
		if (mask)
			fgraph_hook(call->fregs);
		else
			fgraph_pop(stack, frame);
	} else {
		count_overrun(call, rec);
	}
	raw_local_irq_restore(call->flags);
}

/* The recursion bit keeps the tracer from following itself; a call without a shadow stack is only counted. */
void fgraph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);
	struct fgraph_call call = {.ip = ip, .pc = pc, .fregs = fregs};

	if (pc & bit)
		return;
	trace_enter(t, pc, bit);
	/* Asked with preemption off: what unregister_ftrace_graph waits for. */
	call.stack = READ_ONCE(t->ret_stack);
	if (likely(call.stack))
		hook_call(&call, parent_ip, bit);
	else
		tell_stackless(&call);
	trace_leave(t, pc);
}

/* ---- Return */

/* Take a frame away without telling its users; their depth is put right. */
static void forget_frame(struct fgraph_stack *stack, struct fgraph_frame *frame)
{
	struct fgraph_ops *gops;

	for_each_user(gops, users_of(frame))
		if (frame->key >= gops->since)
			fgraph_state(stack, gops)->depth--;
	fgraph_pop(stack, frame);
}

/*
 * The innermost frame is not that of the function that returns. This cannot happen; if it does all the same, the
 * frames above the right one are given up, and without the right one there is nowhere to go.
 */
static noinline struct fgraph_frame *find_frame(struct fgraph_stack *stack, unsigned long mark)
{
	__atomic_fetch_add(&fgraph_mismatches, 1, __ATOMIC_RELAXED);
	for (unsigned i = stack ? fgraph_nr_frames(stack) : 0; i-- > 0;) {
		if (stack->frames[i].mark != mark)
			continue;
		while (stack->top > &stack->frames[i + 1])
			forget_frame(stack, stack->top - 1);
		return &stack->frames[i];
	}
	panic("function_graph: a return without a call, mark %lx", mark);
}

/*
 * Tell each user of the frame that the call has ended. A user that came after the call was made (`since`) is not told:
 * it has not seen the beginning.
 */
static __always_inline void tell_return(struct fgraph_call *call, const struct fgraph_frame *frame)
{
	struct fgraph_ops *gops;

	raw_local_irq_save(call->flags);
	call->time = sched_clock();
	for_each_user(gops, users_of(frame)) {
		if (frame->key < gops->since)
			continue;
		call->state = fgraph_state(call->stack, gops);
		call->depth = call->state->depth - 1;
		gops->retfunc(gops, call, frame);
		call->state->depth--;
	}
	raw_local_irq_restore(call->flags);
}

/*
 * Called by return_to_handler, in any context. The frame goes in any case. Users are told unless the recursion bit of
 * the entry's context is set; the context of the return would be wrong, since irq_exit returns in the context of what
 * was interrupted, which may be a tracer. The head of this file has the whole argument.
 */
void fgraph_return(struct fgraph_ret_regs *regs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit;
	struct fgraph_stack *stack = t->ret_stack;
	struct fgraph_call call = {.pc = pc, .stack = stack, .result = regs->result[0], .fp = regs->fp};
	struct fgraph_frame *frame;

	trace_enter(t, pc, 0);
	frame = stack && fgraph_nr_frames(stack) ? stack->top - 1 : NULL;
	if (unlikely(!frame || frame->mark != fgraph_ret_mark(regs)))
		frame = find_frame(stack, fgraph_ret_mark(regs));
	WRITE_ONCE(regs->ret, frame->ret);
	call.ip = frame->func;
	bit = context_bit(frame->key);
	if (!(pc & bit)) {
		trace_enter(t, pc, bit);
		tell_return(&call, frame);
	} else {
		forget_frame(stack, frame);
	}
	fgraph_pop(stack, frame);
	trace_leave(t, pc);
}

/* ---- Walks */

/* A function that was called by a jump was handed the handler for its return address: the caller is the jumper's. */
static unsigned long chase_tail_calls(const struct fgraph_stack *stack, unsigned i, unsigned *pos)
{
	while (i && stack->frames[i].ret == RETURN_TO_HANDLER_ADDR)
		i--;
	*pos = i;
	return stack->frames[i].ret;
}

/*
 * Declared in <trace/fgraph.h>: the true return address for a word `slot` of a stack that holds the handler's address.
 *
 * A walk tells hooked callers by where they stand.
 *
 * kernel/stacktrace.c finds RETURN_TO_HANDLER_ADDR in a word of the stack and asks which frame has that word as its
 * slot. Counting would be wrong: a walk that begins in the middle of a prologue or behind an epilogue leaves out a
 * caller, and a tail call has two frames for one word. Two words are the slot of no frame: x86_64's copy of the return
 * address in ftrace_caller's stack (of a function that was reached by a jump), and the record that return_to_handler
 * makes for itself. Both stand for the innermost call that the walk has not passed yet.
 */
unsigned long fgraph_ret_addr(const struct task_struct *task, unsigned *pos, unsigned long slot)
{
	const struct fgraph_stack *stack = READ_ONCE(task->ret_stack);
	unsigned all = FGRAPH_WALK, n;

	if (!pos)
		pos = &all;
	n = stack ? min(min(*pos, fgraph_nr_frames(stack)), (u32)FTRACE_RETFUNC_DEPTH) : 0;
	if (!n)
		return RETURN_TO_HANDLER_ADDR;
	for (unsigned i = n; i-- > 0;)
		if (READ_ONCE(stack->frames[i].slot) == slot)
			return chase_tail_calls(stack, i, pos);
	/* A frame that is being pushed, or was popped just now, has no slot, and is left out. */
	while (n && !READ_ONCE(stack->frames[n - 1].slot))
		n--;
	return n ? chase_tail_calls(stack, n - 1, pos) : RETURN_TO_HANDLER_ADDR;
}

unsigned long fgraph_innermost_ret(void)
{
	return fgraph_ret_addr(current, NULL, 0);
}
