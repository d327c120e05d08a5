/*
 * Tracing of returns. When a traced function is entered, its return address is kept on a shadow stack of the task and
 * replaced by return_to_handler; when it returns, that finds the address there, tells the users, and goes on to it.
 *
 * A task has its shadow stack while anybody traces returns; one with frames on it then keeps it for good. One without
 * it, or whose stack is full, runs unhooked. Interrupts on top of a task use the task's.
 */
#pragma once

#include <arch/ftrace.h>
#include <lib/types.h>
#include <trace/ftrace.h>

struct task_struct;
struct fgraph_ret_regs;
struct fgraph_stack;

#define FGRAPH_USERS 16 /* at once, as in Linux */

/* In frame.key: at its return the user has more to do than usual, which its direct way does not know of. */
#define FGRAPH_KEY_ENDS 0x80000u

/*
 * One hooked call. Written by the task itself and by interrupts on top of it, which leave what they found; read by
 * those who walk its stack. A frame that is not in use has slot 0.
 */
struct fgraph_frame {
	unsigned long ret;  /* where it will return to; the handler again: a tail call, see the frame below */
	unsigned long func; /* its site */
	unsigned long slot; /* address of the word that was replaced */
	unsigned long mark; /* what return_to_handler finds when all is well (asm/ftrace.h) */
	u64 calltime;	    /* sched_clock at the entry; later by the time asleep, while that does not count */
	u64 key;	    /* who wants the return; context of the entry; FGRAPH_KEY_ENDS; epoch: fgraph_inline.h */
	u64 inner;	    /* the profiler's: fgraph_stack.inner at the entry */
};

/* What a user has in each task. [like frames] */
struct fgraph_state {
	u64 since;   /* fgraph_ops.since of whom it belongs to; others begin with zeros */
	u32 depth;   /* frames that are this user's */
	u32 flags;   /* the user's own */
	u32 overrun; /* calls that it wanted and that found the stack full */
};

/* What a user with a direct way has beside that, as of its last use of the general way. [likewise; retire_user] */
struct fgraph_direct {
	u64 key;		   /* of its frames, if there was a direct way for all users; else 0 */
	struct fgraph_frame *room; /* with a key: the end of frames; without: NULL, so that none seems free */
};

/* Users by bit (struct fgraph_ops): the first two may have a direct way. */
#define FGRAPH_TRACER	 0u /* the top array's function_graph */
#define FGRAPH_PROFILER	 1u /* the profiler's own */
#define FGRAPH_FIRST_ANY 2u
#define FGRAPH_ANY	 ~0u

#define FGRAPH_STACK_SIZE 4096UL
#define FTRACE_RETFUNC_DEPTH                                                         \
	((FGRAPH_STACK_SIZE - 32 - FGRAPH_FIRST_ANY * sizeof(struct fgraph_direct) - \
	  FGRAPH_USERS * sizeof(struct fgraph_state)) /                              \
	 sizeof(struct fgraph_frame))
struct fgraph_stack {
	struct fgraph_frame *top; /* the first frame not in use */
	u32 overrun;		  /* calls that found it full, for any user */
	u64 sleeps_since; /* [runqueue lock] when it went off the CPU, while sleep does not count; 0: not known */
	u64 inner;	  /* the profiler's: ns in calls that returned, each counted once, in the outermost */
	struct fgraph_direct direct[FGRAPH_FIRST_ANY];
	struct fgraph_state user[FGRAPH_USERS];
	struct fgraph_frame frames[FTRACE_RETFUNC_DEPTH];
};
static_assert(sizeof(struct fgraph_stack) <= FGRAPH_STACK_SIZE);

/* What a user is told. Preemption is off and this context is in the tracer (trace/core/recursion.h). */
struct fgraph_call {
	unsigned long ip;
	u32 pc;		     /* preempt_count of the traced code */
	u32 depth;	     /* how many calls of this user it is inside of */
	unsigned long flags; /* interrupt state of the traced code; in entryfunc and retfunc interrupts are off */
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct ftrace_regs *fregs; /* entry only */
	unsigned long result;	   /* return only */
	unsigned long fp;	   /* return only: the frame pointer of the caller */
	u64 time;		   /* sched_clock: at the entry, at the return */
};

/*
 * A user. Locks: l ftrace_lock and all other CPUs parked; I immutable while registered.
 *
 * wants may be NULL (every call of its functions): false passes the call over, and nothing is hooked for it. entryfunc
 * then says whether retfunc is to be told of the return. The frame's calltime is there in both.
 */
struct fgraph_ops {
	bool (*wants)(struct fgraph_ops *gops, const struct fgraph_call *call); /* [I], as the next two */
	bool (*entryfunc)(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame);
	void (*retfunc)(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame);
	/*
	 * A call of its function at `ip` that could not be hooked, for want of a shadow stack or of room. May be NULL.
	 */
	void (*missed)(struct fgraph_ops *gops, unsigned long ip);
	/* In place of all, while this is the only user; may be NULL (trace/ftrace/fgraph_inline.h). */
	ftrace_func_t direct_enter;			     /* [I] */
	void (*direct_return)(struct fgraph_ret_regs *regs); /* [I] */
	/* The same while the profiler has the same sets: they call it (struct graph_profiler). */
	ftrace_func_t profiled_enter;			       /* [I] */
	void (*profiled_return)(struct fgraph_ret_regs *regs); /* [I] */
	struct ftrace_ops *ops;				       /* [I] its sets of functions */
	unsigned bit;	/* [l] of frame.key: FGRAPH_TRACER or _PROFILER, or FGRAPH_ANY until it is given one */
	u64 since;	/* [l] frames with a smaller key are not its own */
	u64 direct_key; /* [l] key of its frames while there is a direct way for all users, else 0 */
};

/*
 * Begin and end. -EBUSY: registered already; -ENOSPC: too many users; -ENOMEM: no shadow stacks; -ENODEV. Thread
 * context.
 * After unregister none of its functions runs; calls that are hooked go on to return by way of the handler.
 */
int register_ftrace_graph(struct fgraph_ops *gops);
int unregister_ftrace_graph(struct fgraph_ops *gops);
/* Change direct_enter, of a registered user too. Thread context. */
void fgraph_set_direct_enter(struct fgraph_ops *gops, ftrace_func_t enter);

/* How many frames a task has in use; of a running task it is a guess. */
static inline unsigned fgraph_nr_frames(const struct fgraph_stack *stack)
{
	return READ_ONCE(stack->top) - stack->frames;
}

/* ---- Tasks: a new one before its first instruction, one that goes for good. */
void fgraph_init_task(struct task_struct *task);
void fgraph_free_task(struct task_struct *task);
/* Called with a task that is freed, whose shadow stack may still have frames. NULL: nobody. */
extern void (*fgraph_task_goes)(const struct task_struct *task);

/* ---- What a return address really is. Any context, not traced; of another task with preemption off. */

/*
 * The word at `slot` was found to hold RETURN_TO_HANDLER_ADDR: what would it hold? *pos begins as FGRAPH_WALK and is
 * kept from word to word of a walk outwards; NULL: no walk.
 */
#define FGRAPH_WALK (~0U)
unsigned long fgraph_ret_addr(const struct task_struct *task, unsigned *pos, unsigned long slot);
/* `ret`, or, when it is the handler, the return address of the call that is the innermost now. Of ourselves. */
unsigned long fgraph_innermost_ret(void);
static __always_inline unsigned long fgraph_true_ret(unsigned long ret)
{
	return likely(ret != RETURN_TO_HANDLER_ADDR) ? ret : fgraph_innermost_ret();
}
#define TRUE_RET_ADDR() fgraph_true_ret((unsigned long)__builtin_return_address(0))
