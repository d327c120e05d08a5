/* Registers that an exception saves, and how generic code reads them. */
#pragma once

#include <asm/sysreg.h>
#include <lib/types.h>

/*
 * On the kernel stack, built by kernel_entry (entry.S). The first four fields are Linux's user_pt_regs.
 * `stackframe` is a frame record like a function's: {interrupted fp, interrupted pc} from EL1, {0, 0} from
 * EL0. x29 of the handler points to it, so a walk by frame records crosses the exception.
 */
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 orig_x0;   /* first argument of the system call: x0 becomes its result */
	s32 syscallno; /* NO_SYSCALL outside one */
	u32 unused;
	u64 stackframe[2];
};
#define NO_SYSCALL (-1)
static_assert(sizeof(struct pt_regs) % 16 == 0, "SP must stay 16-byte aligned");

#define user_mode(r)		(((r)->pstate & PSR_MODE_MASK) == PSR_MODE_EL0t)
#define instruction_pointer(r)	((unsigned long)(r)->pc)
#define user_stack_pointer(r)	((unsigned long)(r)->sp)
#define kernel_stack_pointer(r) ((unsigned long)(r)->sp)
#define frame_pointer(r)	((unsigned long)(r)->regs[29])
#define regs_return_value(r)	((long)(r)->regs[0])
#define interrupts_enabled(r)	(!((r)->pstate & PSR_I_BIT))

static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long pc)
{
	regs->pc = pc;
}

/* The n-th argument of the function whose first instruction is about to be executed; n from 0 to 7. */
static inline unsigned long regs_get_kernel_argument(const struct pt_regs *regs, unsigned n)
{
	return n < 8 ? regs->regs[n] : 0;
}

/* The system call in progress, -1 outside one. */
static inline int syscall_get_nr(const struct pt_regs *regs)
{
	return regs->syscallno;
}
/* n from 0 to 5; what user space passed, also after the result has replaced x0. */
static inline unsigned long syscall_get_arg(const struct pt_regs *regs, unsigned n)
{
	return n ? regs->regs[n] : regs->orig_x0;
}
static inline void syscall_set_return_value(struct pt_regs *regs, long v)
{
	regs->regs[0] = v;
}
/* A debugger may have changed the arguments of the call that is about to be made. */
static inline void syscall_take_args(struct pt_regs *regs)
{
	regs->orig_x0 = regs->regs[0];
}
/* Back onto the SVC with its first arguments; x8 still holds the number. */
static inline void syscall_rollback(struct pt_regs *regs)
{
	regs->regs[0] = regs->orig_x0;
	regs->pc -= 4;
	regs->syscallno = NO_SYSCALL;
}
/* Restart as another call (restart_syscall). */
static inline void syscall_set_nr(struct pt_regs *regs, int nr)
{
	regs->regs[8] = nr;
}

/* Where the stack ends below its top: the task pointer that entry from EL0 loads, padded to keep SP aligned. */
#define ARCH_STACK_TOP_RESERVED 16
#define task_pt_regs(t)		((struct pt_regs *)(task_stack_end(t) - ARCH_STACK_TOP_RESERVED) - 1)
