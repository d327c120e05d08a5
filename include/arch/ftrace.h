/*
 * What call sites call (arch/<machine>/ftrace.S): one entry for each combination of users that is worth one. Which of
 * them a site gets is decided in trace/ftrace/call.c. <asm/ftrace.h> has what a machine hands them: registers, and
 * where a return address lies.
 */
#pragma once

#include <asm/ftrace.h>

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
