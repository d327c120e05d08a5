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
void ftrace_single_caller_0(void);
void ftrace_single_caller_1(void);
void ftrace_single_caller_2(void);
void ftrace_single_caller_3(void);
void ftrace_list_caller(void);
void ftrace_regs_caller(void);
extern const unsigned char return_to_handler_entry[];
extern const unsigned int ftrace_call[], ftrace_entry_call[], ftrace_graph_call[];

#define MCOUNT_ADDR	   ((unsigned long)_mcount)
#define FTRACE_CALLER_ADDR ((unsigned long)ftrace_caller)
/* What sites call while some want only entries or only returns traced. */
#define FTRACE_ENTRY_CALLER_ADDR  ((unsigned long)ftrace_entry_caller)
#define FTRACE_RETURN_CALLER_ADDR ((unsigned long)ftrace_return_caller)
/* What sites call for users that C calls: one of a few, where it is alone; several; one that wants registers. */
#define FTRACE_SINGLE_CALLERS 4
#define FTRACE_SINGLE_CALLER_ADDR(nr)                        \
	((nr) == 0   ? (unsigned long)ftrace_single_caller_0 \
	 : (nr) == 1 ? (unsigned long)ftrace_single_caller_1 \
	 : (nr) == 2 ? (unsigned long)ftrace_single_caller_2 \
		     : (unsigned long)ftrace_single_caller_3)
#define FTRACE_LIST_CALLER_ADDR ((unsigned long)ftrace_list_caller)
#define FTRACE_REGS_CALLER_ADDR ((unsigned long)ftrace_regs_caller)
/*
 * Patchable places, nops to begin with. In ftrace_caller the first becomes a call of a ftrace_func_t (PATCH_CALL), the
 * second, while that is so, a jump to ftrace_graph_caller (PATCH_JUMP); in ftrace_entry_caller the one is the same
 * call.
 */
#define ftrace_call_site	 ((unsigned long)ftrace_call)
#define ftrace_graph_call_site	 ((unsigned long)ftrace_graph_call)
#define ftrace_entry_call_site	 ((unsigned long)ftrace_entry_call)
#define FTRACE_GRAPH_CALLER_ADDR ((unsigned long)ftrace_graph_caller)
/* What stands in place of a traced function's return address: behind return_to_handler's first instruction. */
#define RETURN_TO_HANDLER_ADDR ((unsigned long)return_to_handler_entry)

/* Entry of __mcount_loc to address of the instruction that is patched: the same here. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
#endif
