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

/* What return_to_handler keeps on the stack. `ret` becomes the address to go to. */
struct fgraph_ret_regs {
	unsigned long fp;
	unsigned long ret;
	unsigned long result[2];
};
#define fgraph_ret_mark(regs) ((regs)->fp)

/* ftrace.S */
void _mcount(void);
void ftrace_caller(void);
void ftrace_graph_caller(void);
void ftrace_entry_caller(void);
void ftrace_return_caller(void);
extern const unsigned char return_to_handler_entry[];
extern const unsigned int ftrace_call[], ftrace_entry_call[], ftrace_graph_call[];

#define MCOUNT_ADDR	       ((unsigned long)_mcount)
#define FTRACE_CALLER_ADDR     ((unsigned long)ftrace_caller)
/* What sites call while some want only entries or only returns traced. */
#define FTRACE_ENTRY_CALLER_ADDR  ((unsigned long)ftrace_entry_caller)
#define FTRACE_RETURN_CALLER_ADDR ((unsigned long)ftrace_return_caller)
/*
 * Patchable places, nops to begin with. In ftrace_caller the first becomes a call of a ftrace_func_t (PATCH_CALL), the
 * second, while that is so, a jump to ftrace_graph_caller (PATCH_JUMP); in ftrace_entry_caller the one is the same
 * call.
 */
#define ftrace_call_site       ((unsigned long)ftrace_call)
#define ftrace_graph_call_site ((unsigned long)ftrace_graph_call)
#define ftrace_entry_call_site ((unsigned long)ftrace_entry_call)
#define FTRACE_GRAPH_CALLER_ADDR ((unsigned long)ftrace_graph_caller)
/* What stands in place of a traced function's return address: behind return_to_handler's first instruction. */
#define RETURN_TO_HANDLER_ADDR ((unsigned long)return_to_handler_entry)

/* Entry of __mcount_loc to address of the instruction that is patched: the same here. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
#endif
