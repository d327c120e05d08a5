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
 * frame records that stand in for the one it has not pushed yet (ftrace.S has the picture). A callee may
 * change the argument registers: the traced function then sees the new values.
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

/* ftrace.S pushes it one by one. */
static_assert(offsetof(struct ftrace_regs, si) == 8 && offsetof(struct ftrace_regs, r9) == 40);

/* ftrace.S */
void __fentry__(void);
void ftrace_caller(void);
extern const unsigned char ftrace_call[], ftrace_graph_call[];

#define MCOUNT_ADDR	       ((unsigned long)__fentry__)
#define FTRACE_CALLER_ADDR     ((unsigned long)ftrace_caller)
/*
 * The two patchable places in ftrace_caller, nops to begin with: the first becomes a call of a ftrace_func_t
 * (PATCH_CALL), the second a jump to the tracer of returns (PATCH_JUMP).
 */
#define ftrace_call_site       ((unsigned long)ftrace_call)
#define ftrace_graph_call_site ((unsigned long)ftrace_graph_call)

/* Entry of __mcount_loc to address of the instruction that is patched: the same here. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
#endif
