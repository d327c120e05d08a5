/*
 * Call sites of -pg -mfentry on this machine. gcc emits, as the very first instruction of the function,
 *
 *     as compiled             at boot                  traced
 *     call __fentry__         nopl 0(%rax,%rax,1)      call ftrace_caller
 *
 * five bytes each, at any alignment.
 */
#pragma once

#ifndef __ASSEMBLY__
#include <lib/types.h>

/*
 * What ftrace_caller hands its callee: the registers in which the traced function got its arguments, and the
 * frame records that stand in for the one it has not pushed yet (ftrace.S has the picture). A user that wants to
 * change registers asks for all of them (FTRACE_OPS_FL_SAVE_REGS).
 */
struct ftrace_regs {
	unsigned long di, si, dx, cx, r8, r9; /* arguments, in their order */
	unsigned long record[4];	      /* two frame records: ftrace_caller's, the traced function's */
	unsigned long pc;		      /* ip + 5: where ftrace_caller returns to */
	unsigned long parent;		      /* where foo will return to: a tracer of returns replaces it */
};

/* Where a walk by frame records finds first the traced function, then its caller. */
static inline unsigned long ftrace_regs_frame(const struct ftrace_regs *fregs)
{
	return (unsigned long)fregs->record;
}

/*
 * The word from which the traced function takes its return address, and what return_to_handler will find (mark) when
 * that function has returned, at the same place: its address.
 */
static inline unsigned long *ftrace_regs_return_slot(const struct ftrace_regs *fregs)
{
	return (unsigned long *)&fregs->parent;
}
static inline unsigned long ftrace_regs_return_mark(const struct ftrace_regs *fregs)
{
	return (unsigned long)&fregs->parent;
}
/* The traced function's stack pointer at its site. */
static inline unsigned long ftrace_regs_sp(const struct ftrace_regs *fregs)
{
	return (unsigned long)&fregs->parent;
}
/* The argument registers. How many of them the function takes is not known here. */
#define FTRACE_REGS_ARGS 6
static inline unsigned long ftrace_regs_argument(const struct ftrace_regs *fregs, unsigned n)
{
	return (&fregs->di)[n];
}

/*
 * With FTRACE_OPS_FL_SAVE_REGS a struct pt_regs lies right below. At a function's first instruction its registers are
 * those of any other's, so any function's start can be gone to from there.
 */
struct pt_regs;
static inline bool arch_ftrace_can_redirect(unsigned long ip)
{
	return true;
}
static inline void arch_ftrace_redirect(unsigned long ip, struct pt_regs *regs)
{
}

/* What return_to_handler keeps on the stack. `ret` becomes the address to go to. */
struct fgraph_ret_regs {
	unsigned long result[2];
	unsigned long fp;
	unsigned long ret;
};
#define fgraph_ret_mark(regs) ((unsigned long)&(regs)->ret)

/* ftrace.S pushes it one by one. */
static_assert(offsetof(struct ftrace_regs, si) == 8 && offsetof(struct ftrace_regs, r9) == 40);

/* ftrace.S */
void __fentry__(void);
extern const unsigned char ftrace_call[], ftrace_entry_call[], ftrace_graph_call[];

#define MCOUNT_ADDR ((unsigned long)__fentry__)

/* Entry of __mcount_loc to address of the instruction that is patched: the same here. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
#endif
