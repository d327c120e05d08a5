/*
 * Entry and return of a hooked call, inlined into the general way (fgraph.c) and into the direct ways of users.
 *
 * The direct ways of function_graph and the profiler count no preemption.
 *
 * They keep interrupts off from their first look at the CPU to the commit, some hundred instructions, and leave
 * preempt_count alone. So they are not preempted, grace periods wait for them (the stopper's thread has to be switched
 * to), and the only thing on top of them is an NMI, whose context has a recursion bit of its own and always takes the
 * general way. An interrupt that asked for the CPU meanwhile is taken behind the STI, and preempts there: no check at
 * the end. The task's recursion bit would turn away only exceptions of the hook itself, and it takes no exceptions: all
 * that it touches is always mapped. (A bug there ends in a double fault or a panic by recursion, not in silence.)
 *
 * `key` is read before `room`: an NMI that finds the users changed takes both away, so code that has found room has a
 * good key. Other CPUs take them away in two steps, with a grace period between.
 *
 * function_graph beside the profiler hooks for both with one key. It goes by the key of now
 * (fgraph_profiled_key), not by the task's: a task that slept since one of the two was alone has frames that
 * the other does not know, and those return the general way, which asks for each user. When the ring takes no record
 * (tracing_on 0) the frame stays for the profiler, without the tracer's bit.
 *
 * Time asleep is not seen by calls at all: while the option sleep-time is off, sched_switch moves the times of entry
 * of the task that goes on, all its frames at once; it does not run yet, so they stand still.
 */
#pragma once

#include <arch/ftrace.h>
#include <trace/fgraph.h>

/* Bits of frame.key above those of users. */
#define FGRAPH_CONTEXT_SHIFT FGRAPH_USERS /* two bits: the context of the entry, 0 a task's (recursion_bit) */
#define FGRAPH_EPOCH_SHIFT   20
static_assert((4U << FGRAPH_CONTEXT_SHIFT) <= FGRAPH_KEY_ENDS && FGRAPH_KEY_ENDS < (1U << FGRAPH_EPOCH_SHIFT));

/*
 * What a user keeps in this task. It begins with zeros for a user that was registered since the state was last used,
 * and the user's direct way gets its key and its room here. Preemption off.
 */
static __always_inline struct fgraph_state *fgraph_state(struct fgraph_stack *stack, const struct fgraph_ops *gops)
{
	struct fgraph_state *state = &stack->user[gops->bit];

	if (unlikely(state->since != gops->since))
		*state = (struct fgraph_state){.since = gops->since};
	if (gops->bit < FGRAPH_FIRST_ANY) {
		struct fgraph_direct *direct = &stack->direct[gops->bit];

		direct->key = gops->direct_key;
		direct->room = direct->key ? &stack->frames[FTRACE_RETFUNC_DEPTH] : NULL;
	}
	return state;
}

/*
 * A frame for the call that is being entered. There is room. From the first store on an interrupt's frames go above it,
 * and it does not count as one that a walk can find until `slot` is set, last of all: frames not in use have none.
 */
static __always_inline struct fgraph_frame *fgraph_push(struct fgraph_stack *stack, unsigned long ip,
							unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct fgraph_frame *frame = stack->top;
	unsigned long slot = (unsigned long)ftrace_regs_return_slot(fregs);
	unsigned long mark = ftrace_regs_return_mark(fregs);

	WRITE_ONCE(stack->top, frame + 1);
	barrier();
	frame->ret = parent_ip;
	frame->func = ip;
	frame->mark = mark;
	barrier();
	WRITE_ONCE(frame->slot, slot);
	return frame;
}

static __always_inline bool fgraph_full(const struct fgraph_stack *stack)
{
	return stack->top == &stack->frames[FTRACE_RETFUNC_DEPTH];
}

/* From here on the function returns to the handler. */
static __always_inline void fgraph_hook(const struct ftrace_regs *fregs)
{
	barrier();
	*ftrace_regs_return_slot(fregs) = RETURN_TO_HANDLER_ADDR;
}

/* The innermost frame goes, whether its call was hooked in the end or not. */
static __always_inline void fgraph_pop(struct fgraph_stack *stack, struct fgraph_frame *frame)
{
	barrier();
	WRITE_ONCE(frame->slot, 0);
	barrier();
	WRITE_ONCE(stack->top, frame);
}

/* The general way: any number of users, any context. ftrace_func_t, and its counterpart. */
void fgraph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs);
void fgraph_return(struct fgraph_ret_regs *regs);

/* The functions that ftrace_caller and return_to_handler call. [ftrace_lock, all other CPUs parked] */
extern ftrace_func_t fgraph_enter_func;
extern void (*fgraph_return_func)(struct fgraph_ret_regs *regs);
