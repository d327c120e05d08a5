/*
 * Calling users at the entry of a function. The entry code (each machine's ftrace.S) calls the functions here for sites
 * whose user is not called straight. The entry code raises the preemption count by one before anything else, and these
 * functions lower it again. In between the machine cannot be stopped, so users and sets do not change, and no call of a
 * user is left over when unregister_ftrace_function has changed the sites.
 *
 * A tracer's callee may be handed another tracer's user.
 *
 * ftrace_call holds the function of one of the core's own tracers. A task can be preempted inside ftrace_caller,
 * before its callee has disabled preemption, and stay so across any number of changes. It then calls whatever
 * ftrace_call had when it was fetched. So:
 *
 * - a function called from there is handed no user and may not want one (FTRACE_OPS_FL_CORE; ours always records into
 *   the top array); all others are called with the count raised, as the next argument tells;
 * - unregister_ftrace_function of such a user returns when no CPU runs the function any more with preemption off (its
 *   stop is a grace period: kernel/sched/stop_machine.c), and the function checks function_enabled after it has
 *   switched preemption off, so a late call records nothing: a check before that could be followed by a preemption as
 *   long as the whole grace period.
 *
 * While the machine is stopped no task is on its way to a user.
 *
 * Kernel code's own users are called with themselves as argument, for their own functions only, and are gone when
 * unregister_ftrace_function returns: a replacement (FTRACE_OPS_FL_IPMODIFY) at the wrong site would be fatal. So a
 * task that was preempted on the way must not exist. The entries that lead to such users (ftrace_single_caller_N,
 * ftrace_list_caller, ftrace_regs_caller, and ftrace_kprobe_caller, from which C is kprobe_called) raise preempt_count
 * before anything else, and C lowers it when the users have been called, so in between the stopper thread cannot come
 * to that CPU. What is left are the few instructions before the count is raised: they lie in .ftrace.text, and an
 * interrupt that came there does not preempt on its way out (exit_to_kernel_mode). That preemption is not lost: C looks
 * for it when it lowers the count. After that no user is touched, so the code there is not in .ftrace.text and can be
 * preempted as usual. Users, their sets, and which user an entry calls (ftrace_single_ops) can thus be changed as if
 * there were one CPU.
 *
 * The list's last step, hooking the return, is done with the count lowered, since function_graph records the count. A
 * user of returns may be gone by then, as for any late call (trace/ftrace/fgraph.c): it finds no user and hooks
 * nothing.
 */
#include <arch/ftrace.h>
#include <asm/ptrace.h>
#include <irq/irqflags.h>
#include <kernel/export.h>
#include <kernel/percpu.h>
#include <kernel/ksyms.h>

#include "core/recursion.h"
#include "fgraph_inline.h"
#include "fgraph_internal.h"
#include "internal.h"

struct ftrace_ops *ftrace_single_ops[FTRACE_SINGLE_OPS];

/*
 * The innermost struct ftrace_regs of this CPU below which a struct pt_regs lies. ftrace_get_regs() is handed the same
 * structure whether registers were saved or not, and a mark in it would cost every traced call an instruction. So the
 * entry that has saved registers writes the structure's address here, and puts back what was there before. The address
 * is that of a frame on the stack, which no other live call has, so an interrupt's own calls never match it. [this CPU,
 * preemption off]
 */
static DEFINE_PER_CPU(struct ftrace_regs *, regs_saved);

struct pt_regs *ftrace_get_regs(struct ftrace_regs *fregs)
{
	return this_cpu(regs_saved) == fregs ? (struct pt_regs *)(void *)fregs - 1 : NULL;
}
EXPORT_SYMBOL_GPL(ftrace_get_regs);

/* ---- Recursion */

int ftrace_test_recursion_trylock(unsigned long ip, unsigned long parent_ip)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);

	if (pc & lent_bit(bit)) {
		WRITE_ONCE(t->preempt_count, pc - lent_bit(bit));
		barrier();
		return __builtin_ctz(lent_bit(bit) / RECURSION_TASK);
	}
	if (pc & bit)
		return -1;
	trace_enter(t, pc, bit);
	return __builtin_ctz(bit / RECURSION_TASK);
}
EXPORT_SYMBOL_GPL(ftrace_test_recursion_trylock);

void ftrace_test_recursion_unlock(int bit)
{
	struct task_struct *t = current;
	u32 taken = RECURSION_TASK << bit;

	if (taken < lent_bit(RECURSION_TASK)) {
		trace_leave(t, READ_ONCE(t->preempt_count) - PREEMPT_OFFSET - taken);
		return;
	}
	barrier();
	WRITE_ONCE(t->preempt_count, READ_ONCE(t->preempt_count) + taken);
}
EXPORT_SYMBOL_GPL(ftrace_test_recursion_unlock);

/* ---- Calls. pc: the traced function's preempt_count, which is one higher now. */

/*
 * Call one user. One that copes with recursion itself is called as it is; for the others a bit in preempt_count, one
 * for each context, keeps their own calls from coming back to them. A callback that protects itself nevertheless, as
 * Linux allows, finds that it may: the bit is lent to it.
 */
static __always_inline void call_user(struct ftrace_ops *op, struct task_struct *t, u32 pc, unsigned long ip,
				      unsigned long parent_ip, struct ftrace_regs *fregs)
{
	u32 bit;

	if (op->flags & FTRACE_OPS_FL_RECURSION) {
		op->func(ip, parent_ip, op, fregs);
		return;
	}
	bit = recursion_bit(pc);
	if (pc & bit)
		return;
	trace_enter(t, pc, bit | lent_bit(bit));
	op->func(ip, parent_ip, op, fregs);
	barrier();
	WRITE_ONCE(t->preempt_count, pc + PREEMPT_OFFSET);
}

void ftrace_ops_single_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET;

	call_user(op, t, pc, ip, fgraph_true_ret(parent_ip), fregs);
	trace_leave(t, pc);
}

/*
 * The return is hooked last, when preemption is as the traced function has it: a user of returns looks at that. It may
 * be gone by then, as for any call that was on its way to it.
 */
void ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *unused,
			  struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET;
	unsigned long caller = fgraph_true_ret(parent_ip);
	long rec = ftrace_rec_of(ip);
	struct ftrace_ops *op;
	bool returns;

	for_each_ftrace_op(op)
		if (!(op->flags & FTRACE_OPS_FL_GRAPH) && ftrace_ops_wants(op, rec))
			call_user(op, t, pc, ip, caller, fregs);
	returns = test_bit(rec, ftrace_return_map);
	trace_leave(t, pc);
	if (returns)
		fgraph_enter_func(ip, parent_ip, NULL, fregs);
}

/*
 * Call the users of a site that saves registers. Only users with IPMODIFY may change where the function goes on.
 * Returns the user whose trampoline must be called afterwards, or NULL; this task is counted as inside it (direct.c).
 */
static struct ftrace_ops *call_regs_users(long rec, unsigned long ip, unsigned long parent_ip, struct pt_regs *regs,
					  struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET;
	unsigned long next = instruction_pointer(regs);
	struct ftrace_regs *outer = this_cpu(regs_saved);
	struct ftrace_ops *op, *direct = NULL;

	this_cpu(regs_saved) = fregs;
	for_each_ftrace_op(op) {
		if ((op->flags & FTRACE_OPS_FL_GRAPH) || !ftrace_ops_wants(op, rec))
			continue;
		if (op->flags & FTRACE_OPS_FL_DIRECT) {
			atomic_inc(&op->direct_running);
			direct = op;
			continue;
		}
		call_user(op, t, pc, ip, parent_ip, fregs);
		if (op->flags & FTRACE_OPS_FL_IPMODIFY)
			next = instruction_pointer(regs);
		else
			instruction_pointer_set(regs, next);
	}
	this_cpu(regs_saved) = outer;
	return direct;
}

/*
 * The users first, which may change regs; then, with the count lowered, the hook of the return and a direct trampoline,
 * which are code that may sleep or be traced.
 */
static noinline bool call_all_with_regs(unsigned long ip, unsigned long parent_ip, struct pt_regs *regs,
					struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET;
	unsigned long next = instruction_pointer(regs);
	long rec = ftrace_rec_of(ip);
	bool returns = test_bit(rec, ftrace_return_map);
	struct ftrace_ops *direct;

	direct = call_regs_users(rec, ip, fgraph_true_ret(parent_ip), regs, fregs);
	trace_leave(t, pc);
	if (returns)
		fgraph_enter_func(ip, parent_ip, NULL, fregs);
	if (direct) {
		arch_ftrace_call_direct(ip, regs, parent_ip, READ_ONCE(direct->direct_call));
		atomic_dec(&direct->direct_running); /* the last look at it: its module may go */
	}
	if (likely(instruction_pointer(regs) == next))
		return false;
	arch_ftrace_redirect(ip, regs);
	return true;
}

/* The same when `op` is the only user of all: it wants the site, and no return is hooked. */
static __always_inline bool call_one_with_regs(struct ftrace_ops *op, unsigned long ip, unsigned long parent_ip,
					       struct pt_regs *regs, struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET;
	unsigned long next = instruction_pointer(regs);
	struct ftrace_regs *outer = this_cpu(regs_saved);
	bool redirects = op->flags & FTRACE_OPS_FL_IPMODIFY;

	this_cpu(regs_saved) = fregs;
	call_user(op, t, pc, ip, fgraph_true_ret(parent_ip), fregs);
	this_cpu(regs_saved) = outer;
	trace_leave(t, pc); /* the user may be gone from here on */
	if (!redirects)
		instruction_pointer_set(regs, next);
	if (likely(instruction_pointer(regs) == next))
		return false;
	arch_ftrace_redirect(ip, regs);
	return true;
}

/* From ftrace_regs_caller (each machine's ftrace.S). True: regs lead to another function, and are complete for it. */
bool ftrace_ops_regs_func(unsigned long ip, unsigned long parent_ip, struct pt_regs *regs, struct ftrace_regs *fregs)
{
	struct ftrace_ops *only = READ_ONCE(ftrace_single_ops[FTRACE_SINGLE_REGS]);

	if (likely(only))
		return call_one_with_regs(only, ip, parent_ip, regs, fregs);
	return call_all_with_regs(ip, parent_ip, regs, fregs);
}
