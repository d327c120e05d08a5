/*
 * Hooked calls, the general way: any number of users, each told of its own functions, in any context. What is usual,
 * one user in a task's context, has a way of its own in that user (fgraph_ops.direct_enter).
 *
 * A user's depth goes up and down together with its records of entry and return, interrupts off: what an interrupt
 * records is either before the call, or inside of it and one level deeper. (An NMI may come in between. It is one level
 * deeper than the call then, though it stands before or behind it.)
 */
#include <irq/irqflags.h>
#include <kernel/panic.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "fgraph_inline.h"
#include "fgraph_internal.h"
#include "ftrace_internal.h"
#include "trace_recursion.h"

ftrace_func_t fgraph_enter_func = fgraph_enter;
void (*fgraph_return_func)(struct fgraph_ret_regs *regs) = fgraph_return;

struct fgraph_ops *fgraph_users[FGRAPH_USERS];
unsigned fgraph_nr_users;
u64 fgraph_epoch;
bool fgraph_was_used;
u64 fgraph_mismatches;

#define for_each_user(gops)                                       \
	for (unsigned i_ = 0; i_ < FGRAPH_USERS; i_++)            \
		if (((gops) = READ_ONCE(fgraph_users[i_])))

noinline void trace_leave_resched(u32 pc)
{
	if (!pc)
		preempt_schedule_notrace();
}

/* ---- Entry */

/* Which users want this call: bits. With one user, only its sites come here. */
static u32 who_wants(struct fgraph_call *call)
{
	long rec = fgraph_nr_users > 1 ? ftrace_rec_of(call->ip) : -1;
	struct fgraph_ops *gops;
	u32 mask = 0;

	for_each_user(gops) {
		if (rec >= 0 && !ftrace_ops_wants(gops->ops, rec))
			continue;
		call->state = fgraph_state(call->stack, gops);
		call->depth = call->state->depth;
		if (!gops->wants || gops->wants(gops, call))
			mask |= 1U << gops->bit;
	}
	return mask;
}

/* The frame is there. Returns who wants to be told of the return. */
static u32 tell_entry(struct fgraph_call *call, struct fgraph_frame *frame, u32 mask)
{
	struct fgraph_ops *gops;

	raw_local_irq_save(call->flags);
	for_each_user(gops) {
		u32 bit = 1U << gops->bit;

		if (!(mask & bit))
			continue;
		call->state = fgraph_state(call->stack, gops);
		call->depth = call->state->depth++;
		if (gops->entryfunc(gops, call, frame))
			continue;
		call->state->depth--;
		mask &= ~bit;
	}
	raw_local_irq_restore(call->flags);
	return mask;
}

static void hook_call(struct fgraph_call *call, unsigned long parent_ip)
{
	struct fgraph_stack *stack = call->stack;
	u32 mask = who_wants(call);
	struct fgraph_frame *frame;

	if (!mask)
		return;
	if (fgraph_full(stack)) {
		WRITE_ONCE(stack->overrun, stack->overrun + 1);
		return;
	}
	frame = fgraph_push(stack, call->ip, parent_ip, call->fregs);
	frame->calltime = sched_clock() - stack->slept;
	mask = tell_entry(call, frame, mask);
	frame->key = fgraph_epoch << FGRAPH_EPOCH_SHIFT | mask;
	if (mask)
		fgraph_hook(call->fregs);
	else
		fgraph_pop(stack, frame);
}

void fgraph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);
	struct fgraph_call call = { .ip = ip, .pc = pc, .fregs = fregs };

	if (pc & bit)
		return;
	trace_enter(t, pc, bit);
	/* Asked with preemption off: what unregister_ftrace_graph waits for. */
	call.stack = READ_ONCE(t->ret_stack);
	if (call.stack)
		hook_call(&call, parent_ip);
	trace_leave(t, pc);
}

/* ---- Return */

/* The frame is not going to be returned from, or has been. */
static void forget_frame(struct fgraph_stack *stack, struct fgraph_frame *frame)
{
	struct fgraph_ops *gops;

	for_each_user(gops)
		if (frame->key >= gops->since && ((frame->key >> gops->bit) & 1))
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

static void tell_return(struct fgraph_call *call, const struct fgraph_frame *frame)
{
	struct fgraph_ops *gops;

	raw_local_irq_save(call->flags);
	for_each_user(gops) {
		if (frame->key < gops->since || !((frame->key >> gops->bit) & 1))
			continue;
		call->state = fgraph_state(call->stack, gops);
		call->depth = call->state->depth - 1;
		gops->retfunc(gops, call, frame);
		call->state->depth--;
	}
	raw_local_irq_restore(call->flags);
}

/*
 * Users who were told of the entry are told, whatever the context's bit says. It was clear then; that it is set now
 * means that the function began in an interrupt and has left it (irq_exit), on top of a hook that has interrupts on: no
 * user's function is below us, and we are as good as any function of that interrupt.
 */
void fgraph_return(struct fgraph_ret_regs *regs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);
	struct fgraph_stack *stack = t->ret_stack;
	struct fgraph_call call = { .pc = pc, .stack = stack, .result = regs->result[0] };
	struct fgraph_frame *frame;

	trace_enter(t, pc, bit & ~pc);
	frame = stack && fgraph_nr_frames(stack) ? stack->top - 1 : NULL;
	if (unlikely(!frame || frame->mark != fgraph_ret_mark(regs)))
		frame = find_frame(stack, fgraph_ret_mark(regs));
	WRITE_ONCE(regs->ret, frame->ret);
	call.ip = frame->func;
	tell_return(&call, frame);
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
 * A slot that no frame has is one of two: what stands in for a record that is not there yet (x86_64's copy of parent_ip
 * in ftrace_caller's stack) or no longer (return_to_handler's own record). Both are of the innermost call that the walk
 * has not passed.
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
	return chase_tail_calls(stack, n - 1, pos);
}

unsigned long fgraph_innermost_ret(void)
{
	return fgraph_ret_addr(current, NULL, 0);
}
