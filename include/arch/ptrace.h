/* Registers of a task that stands still for its debugger (arch/<machine>/ptrace), laid out as on Linux. */
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
