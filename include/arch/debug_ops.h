/*
 * What kernel/debug and the machine's part of it (arch/<machine>/debug) do for the rest: breakpoints in the CPU's debug
 * registers, and steps of programs and of the kernel. Where the room is left out, no register is set and nothing is
 * stepped. So the first three members are called after has_debug_ops(); the others are called for a task alone in which
 * the room has set something, and need no such test.
 */
#pragma once

#include <lib/types.h>

struct pt_regs;
struct task_struct;

struct debug_ops {
	/* This CPU has just come online: it loads what the others have. Interrupts off. */
	void (*cpu_up)(void);
	/*
	 * A breakpoint, a watchpoint or a step of the kernel's own code, by ESR and FAR, or by DR7 and DR6. False: no
	 * part of the kernel has asked for it. Further ones are held back. Interrupts off, in the middle of anything;
	 * on x86_64 in .noinstr.text.
	 */
	bool (*exception)(struct pt_regs *regs, u64 what, u64 where);
	/* x86_64: a program's #DB had this in DR6: note which of its debugger's registers were hit. Interrupts off. */
	void (*user_trap)(struct pt_regs *regs, u64 dr6);
	/* `next` runs next, and it or the task before it has breakpoints of a debugger. Interrupts off. */
	void (*task_switch)(const struct task_struct *next);
	/* The task's debugger has no breakpoints any more. The task is current, or it is gone. Thread context. */
	void (*task_forget)(struct task_struct *task);
	/*
	 * TIF_SINGLESTEP is set, and current goes to user mode. Interrupts off. On aarch64 no debug exception of the
	 * kernel comes from here on.
	 */
	void (*user_step)(void);
	/* user_disable_single_step() (<arch/user_step.h>), for a task that has TIF_SINGLESTEP. */
	void (*user_step_end)(struct task_struct *t);
};
/* One room registers itself. */
#define REGISTER_DEBUG_OPS(ops) REGISTER_IN(debug_ops, ops)
DECLARE_TABLE(debug_ops, const struct debug_ops);

static __always_inline const struct debug_ops *debug_ops(void)
{
	return __start_ptrs_debug_ops[0];
}
static __always_inline bool has_debug_ops(void)
{
	return &__start_ptrs_debug_ops[0] < &__stop_ptrs_debug_ops[0];
}
