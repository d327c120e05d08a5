/* A machine whose sites hold the number of what they call, and whose traced functions are calls of the test.
 */
#pragma once

#include <lib/types.h>

struct pt_regs;

struct ftrace_regs {
	unsigned long parent; /* the return address, which a tracer of returns replaces */
	unsigned long mark;
};
static inline unsigned long *ftrace_regs_return_slot(const struct ftrace_regs *fregs)
{
	return (unsigned long *)&fregs->parent;
}
static inline unsigned long ftrace_regs_return_mark(const struct ftrace_regs *fregs)
{
	return fregs->mark;
}
struct fgraph_ret_regs {
	unsigned long result[2];
	unsigned long mark;
	unsigned long fp;
	unsigned long ret;
};
#define fgraph_ret_mark(regs) ((regs)->mark)

bool arch_ftrace_can_redirect(unsigned long ip);

#define FTRACE_CALLER_ADDR	      0x1000UL
#define FTRACE_ENTRY_CALLER_ADDR      0x1010UL
#define FTRACE_RETURN_CALLER_ADDR     0x1020UL
#define FTRACE_LIST_CALLER_ADDR	      0x1030UL
#define FTRACE_REGS_CALLER_ADDR	      0x1040UL
#define FTRACE_KPROBE_CALLER_ADDR     0x1050UL
#define FTRACE_SINGLE_CALLERS	      4
#define FTRACE_SINGLE_CALLER_ADDR(nr) (0x1100UL + 0x10 * (nr))
#define ftrace_call_site	      0x2000UL
#define ftrace_entry_call_site	      0x2010UL
#define ftrace_graph_call_site	      0x2020UL
#define FTRACE_GRAPH_CALLER_ADDR      0x2030UL
#define RETURN_TO_HANDLER_ADDR	      0x3000UL

static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
