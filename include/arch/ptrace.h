/* Registers of a task that stands still for its debugger (arch/<machine>/ptrace.c), laid out as on Linux. */
#pragma once

#include <asm/ptrace.h>
#include <lib/types.h>

struct task_struct;

/*
 * A set of registers, named by the type of the note that it is in a core file. The tracee is not running, and cannot
 * run: its registers are all in memory. Thread context.
 */
struct regset {
	u32 type; /* NT_* */
	u32 unit; /* programs read and write multiples of this many bytes */
	u32 size; /* bytes in all, at most a page */
	void (*get)(struct task_struct *t, void *buf);
	/* `buf` is the set as get() has filled it, with the program's changes in the first n bytes. 0 or -errno. */
	int (*set)(struct task_struct *t, const void *buf, unsigned n);
};
/* The set of this type, or NULL. */
const struct regset *arch_regset(unsigned type);
/* A request of ptrace(2) that this machine alone has. 0 or -errno; -EIO: there is no such request. */
long arch_ptrace(struct task_struct *t, long request, unsigned long addr, unsigned long data);

/*
 * A new task begins as a plain copy of another one. It has no debugger, so what that one's debugger has set in the
 * debug registers is not for it. Thread context; the task has not run yet.
 */
void arch_ptrace_reset(struct task_struct *t);
/* Begin, or end, stopping the task with SIGTRAP after each instruction. The task is as for a struct regset. */
void user_enable_single_step(struct task_struct *t);
void user_disable_single_step(struct task_struct *t);
/*
 * The current task goes to user mode, and TIF_SINGLESTEP is set. Interrupts off. On aarch64 no debug exception of the
 * kernel comes from here on.
 */
void user_step_enter(void);
