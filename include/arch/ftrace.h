/*
 * What call sites call (arch/<machine>/ftrace.S): one entry for each combination of users that is worth one. Which of
 * them a site gets is decided in trace/ftrace/call.c. <asm/ftrace.h> has what a machine hands them: registers, and
 * where a return address lies.
 *
 * Each site calls the entry that does just what its users want.
 *
 * Entries and returns have users of their own, with sets of their own. A site that both want calls ftrace_caller;
 * while both exist, one that only the first want calls ftrace_entry_caller, and one that only the others want
 * ftrace_return_caller. The alternative, a decision per call, costs the search of the site's record (some 60
 * instructions) for every call that is not wanted; three targets cost nothing, and 60 lines in trace/ftrace/ftrace.c,
 * since a stop of the machine changes all sites anyway. In the same way a site with a single user of entries that is
 * not the core's calls one of four entries that know it, and only sites with several search. With entries only,
 * everything calls ftrace_caller, as in the tutorials: ftrace_call is patched and ftrace_graph_call is a nop. The top
 * array's function_graph, when it is the only user of returns or has just the profiler beside it, is called directly
 * too (fgraph_enter_func, fgraph_return_func: a load and an indirect call, two instructions more than a patched one
 * and no second thing to keep in step). Users of returns with the same sets (fgraph_sets_differ is false) want the
 * same sites, so nobody searches for the record then.
 *
 * ftrace_graph_call is a jump only while ftrace_call is a call, and what it leads to takes the arguments from the
 * stack again. A task can be preempted in ftrace_call's callee, of all places (that lets go of the CPU when it is
 * asked to), and come out of it when the tracer of entries has long gone and one of returns has come. The registers
 * that held the arguments hold something else then; a jump made for "no call before it" would hand that to
 * fgraph_enter_func, which writes to where the fourth of them points. With returns only nobody comes by the jump:
 * sites call ftrace_return_caller.
 */
#pragma once

#include <asm/ftrace.h>

/*
 * Addresses for sites alone: C calls not one of them. What each expects in registers and on the stack is in ftrace.S.
 */
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

/*
 * Call a trampoline (register_ftrace_direct) with the arguments that the function at `ip` has got, and parent_ip as its
 * return address. regs: as of the site, which can be redirected. Context: that of the function.
 */
void arch_ftrace_call_direct(unsigned long ip, const struct pt_regs *regs, unsigned long parent_ip,
			     unsigned long trampoline);
