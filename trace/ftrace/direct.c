/*
 * Direct calls: a module's trampoline runs at the entry of a function, before its body, with the function's arguments.
 * BPF and live debugging on Linux are made of this.
 *
 *	Linux		the site calls the trampoline itself
 *	here		the site calls ftrace_regs_caller, as for any user that wants registers; when the users have
 *			been called, it calls the trampoline, and then the function goes on
 *
 * On aarch64 there is no other way: gcc's site lies behind the prologue, where the arguments have moved. They are found
 * again as for a function that is replaced (arch/aarch64/prologue.c). One way for both machines keeps every other
 * tracer of the function working beside the trampoline, for the price of saving registers.
 *
 * The trampoline runs in the function's own context, with preemption as it was there, and may sleep where the function
 * may. A task may thus be inside of it for long. It is counted when it is sent there, with preemption off, in the same
 * section in which it finds the user, and taken off when it is back. So once the sites are changed no other task comes,
 * and unregister_ftrace_direct() waits until the count is 0. Then nothing of the module's is on any stack.
 */
#include <kernel/export.h>
#include <lib/errno.h>
#include <time/jiffies.h>

#include "internal.h"

/* Never called: its address in ops->func marks a user of this kind, whose trampoline is called (call.c). */
static notrace void direct_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
}

static bool is_direct(const struct ftrace_ops *ops)
{
	return ops->func == direct_func && (ops->flags & FTRACE_OPS_FL_ENABLED);
}

/*
 * The user gets a function of ours, which only marks it; ftrace_ops_regs_func calls the trampoline. -EINVAL: the user
 * is in use, has no filter, or there is no address. Other errors are those of register_ftrace_function().
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	if (ops->func || !addr || (ops->flags & FTRACE_OPS_FL_ENABLED) || !ops->filter.count)
		return -EINVAL;
	ops->func = direct_func;
	ops->flags |= FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_REGS;
	WRITE_ONCE(ops->direct_call, addr);
	atomic_set(&ops->direct_running, 0);
	ret = register_ftrace_function(ops);
	if (ret) {
		ops->func = NULL;
		ops->flags &= ~(FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_REGS);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_direct);

/*
 * Ends calls and waits until no task is inside the trampoline, by counting those that are: they may sleep there, so no
 * grace period tells. -EINVAL: not registered so. Thread context.
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr, bool free_filters)
{
	int ret;

	if (!is_direct(ops) || READ_ONCE(ops->direct_call) != addr)
		return -EINVAL;
	ret = unregister_ftrace_function(ops);
	/*
	 * After an error, too: the user is gone, and the module may be next. No wake-up by a task that leaves: the
	 * queue would be in the module's memory, which may be gone by then.
	 */
	while (atomic_read(&ops->direct_running))
		msleep(1);
	ops->func = NULL;
	ops->flags &= ~(FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_REGS);
	if (free_filters)
		ftrace_free_filter(ops);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

/* One store: each call that begins now finds the old trampoline or the new one. */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	if (!is_direct(ops) || !addr)
		return -EINVAL;
	WRITE_ONCE(ops->direct_call, addr);
	return 0;
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);
