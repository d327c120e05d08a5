/*
 * What call sites call (arch/<machine>/ftrace.S): one entry for each combination of users that is worth one. Which of
 * them a site gets is decided in trace/ftrace/call.c. <asm/ftrace.h> has what a machine hands them: registers, and
 * where a return address lies.
 *
 * Users of entries and users of returns have sets of functions of their own. A site that both want calls ftrace_caller.
 * While both kinds of user exist, a site that only users of entries want calls ftrace_entry_caller, and one that only
 * users of returns want calls ftrace_return_caller. The alternative is to decide at each call. That needs the search
 * for the site's record, some 60 instructions, at every call that is not wanted. Three targets cost nothing at a call,
 * and 60 lines in trace/ftrace/ftrace.c, since a stop of the machine changes all sites anyway. In the same way a site
 * with a single user of entries other than the core calls one of four entries that know this user, and only a site with
 * several users searches.
 *
 * When there are users of entries alone, every site calls ftrace_caller, as in the tutorials: ftrace_call is patched,
 * and ftrace_graph_call is a nop. The top array's function_graph is called directly, too, while it is the only user of
 * returns or has just the profiler beside it (fgraph_enter_func, fgraph_return_func). That is a load and an indirect
 * call: two instructions more than a patched call, and no second thing that must change with the site. When all users
 * of returns have the same set (fgraph_sets_differ is false), all of them want every site that one wants, so the record
 * need not be searched.
 *
 * ftrace_graph_call is a jump only while ftrace_call is a call, and the code that it jumps to takes the arguments from
 * the stack. This is why: a task can be preempted inside the function that ftrace_call calls, and come back when the
 * tracer of entries has gone and a tracer of returns has come. The registers that held the arguments have other values
 * by then. If the jump relied on the registers in the case without a call before it, fgraph_enter_func would get these
 * values, and it writes to the address that is its fourth argument. While there are users of returns alone, no call
 * comes by this jump: sites call ftrace_return_caller.
 */
#pragma once

#include <asm/ftrace.h>

/*
 * Addresses for sites alone: C calls none of them. What each expects in registers and on the stack is in ftrace.S.
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
void ftrace_kprobe_caller(void); /* kprobes_asm.S */

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
/* What sites call that kprobes alone want: it calls kprobe_called(). */
#define FTRACE_KPROBE_CALLER_ADDR ((unsigned long)ftrace_kprobe_caller)
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
extern const unsigned char return_to_handler_entry[];
#define RETURN_TO_HANDLER_ADDR ((unsigned long)return_to_handler_entry)

/*
 * Call a trampoline (register_ftrace_direct) with the arguments that the function at `ip` has got, and parent_ip as its
 * return address. regs: as of the site, which can be redirected. Context: that of the function.
 */
void arch_ftrace_call_direct(unsigned long ip, const struct pt_regs *regs, unsigned long parent_ip,
			     unsigned long trampoline);
