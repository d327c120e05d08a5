/*
 * Call sites of -pg on this machine. gcc emits, when the frame record of the function is in place,
 *
 *     as compiled             at boot         traced
 *     mov x0, x30             mov x0, x30     mov x0, x30
 *     bl  _mcount             nop             bl  ftrace_caller
 */
#pragma once

#ifndef __ASSEMBLY__
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

/* ftrace.S */
void _mcount(void);
void ftrace_caller(void);
extern const unsigned int ftrace_call[], ftrace_graph_call[];

#define MCOUNT_ADDR	       ((unsigned long)_mcount)
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
