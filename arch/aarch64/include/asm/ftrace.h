/*
 * Call sites of -pg on this machine. gcc emits, when the frame record of the function is in place,
 *
 *     as compiled             at boot         traced
 *     mov x0, x30             mov x0, x30     mov x0, x30
 *     bl  _mcount             nop             bl  ftrace_caller
 */
#pragma once

#ifndef __ASSEMBLY__
#include <lib/types.h>

/*
 * What ftrace_caller hands its callee: its own frame record. `fp` is the traced function's frame pointer, at which that
 * function's record {fp of its caller, return address} lies.
 */
struct ftrace_regs {
	unsigned long fp;
	unsigned long pc; /* ip + 4 */
};

/* Where a walk by frame records finds first the traced function, then its caller. */
static inline unsigned long ftrace_regs_frame(const struct ftrace_regs *fregs)
{
	return (unsigned long)fregs;
}

/*
 * The word from which the traced function takes its return address, and what return_to_handler will find (mark) when
 * that function has returned: the caller's frame pointer.
 */
static inline unsigned long *ftrace_regs_return_slot(const struct ftrace_regs *fregs)
{
	return (unsigned long *)(fregs->fp + 8);
}
static inline unsigned long ftrace_regs_return_mark(const struct ftrace_regs *fregs)
{
	return *(const unsigned long *)fregs->fp;
}
/* The traced function's stack pointer at its site. */
static inline unsigned long ftrace_regs_sp(const struct ftrace_regs *fregs)
{
	return (unsigned long)(fregs + 1);
}
/* gcc's hook comes after the prologue, which has moved the arguments to where only gcc knows. */
#define FTRACE_REGS_ARGS 0
static inline unsigned long ftrace_regs_argument(const struct ftrace_regs *fregs, unsigned n)
{
	return 0;
}

/*
 * With FTRACE_OPS_FL_SAVE_REGS a struct pt_regs lies right below, as of the site, which is behind the prologue: a frame
 * is pushed, arguments have moved to x19 to x28 or to the frame, x0 holds the return address. Another function cannot
 * start there. So when the pc is set to one's start, the prologue is undone (arch/aarch64/prologue.c): stack pointer,
 * frame pointer, return address, x19 to x28 and the arguments are made what they were at the first instruction. Can it
 * be, for this site? Then it is done, for good: regs are not the traced function's any more.
 */
struct pt_regs;
bool arch_ftrace_can_redirect(unsigned long ip);
void arch_ftrace_redirect(unsigned long ip, struct pt_regs *regs);

/* ftrace_direct.S */
void ftrace_call_direct(unsigned long trampoline, const unsigned long args[8], unsigned long parent_ip);

/* What return_to_handler keeps on the stack. `ret` becomes the address to go to. */
struct fgraph_ret_regs {
	unsigned long fp;
	unsigned long ret;
	unsigned long result[2];
};
#define fgraph_ret_mark(regs) ((regs)->fp)

/* ftrace.S */
void _mcount(void);
extern const unsigned int ftrace_call[], ftrace_entry_call[], ftrace_graph_call[];

#define MCOUNT_ADDR ((unsigned long)_mcount)

/* Entry of __mcount_loc to address of the instruction that is patched: the same here. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
#endif
