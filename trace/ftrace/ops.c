/*
 * Registration of users (struct ftrace_ops): the list of them, and the switch for all of them, ftrace_enabled.
 *
 * Users and sites change together (ftrace.c): a user joins the list while all other CPUs are parked, and only if the
 * sites can follow. One that leaves is taken off the list first, which the sites then follow. All of it is done under
 * ftrace_lock.
 */
#include <arch/ftrace.h>
#include <kernel/export.h>
#include <lib/errno.h>
#include <sched/sched.h>

#include "internal.h"

/*
 * Take a user off the list, or -EBUSY. Its `next` stays: a CPU that walks the list may be at this user. [ftrace_lock]
 */
static int unlink_ops(struct ftrace_ops *ops)
{
	struct ftrace_ops **p = &ftrace_ops_list;

	while (*p && *p != ops)
		p = &(*p)->next;
	if (!*p)
		return -EBUSY;
	WRITE_ONCE(*p, ops->next);
	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	return 0;
}

/* Do the flags of a user that wants to register make sense together? 0, -EINVAL, -EBUSY. */
static int check_flags(const struct ftrace_ops *ops)
{
	if (ops->flags & ~FTRACE_OPS_FL_MASK)
		return -EINVAL;
	if ((ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_KPROBES)) && !(ops->flags & FTRACE_OPS_FL_SAVE_REGS))
		return -EINVAL;
	if (!ops->func && !(ops->flags & FTRACE_OPS_FL_GRAPH))
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	return (ops->flags & FTRACE_OPS_FL_PERMANENT) && !ftrace_enabled ? -EBUSY : 0;
}

/* On an error nothing has happened: no CPU has called the user's function. Thread context; may stop the machine. */
int register_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = check_flags(ops);
	if (!ret) {
		if (ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
			ops->flags |= FTRACE_OPS_FL_SAVE_REGS;
		ops->flags |= FTRACE_OPS_FL_ENABLED;
		ftrace_set_refresh(&(ops->sets_of ?: ops)->filter);
		ftrace_set_refresh(&(ops->sets_of ?: ops)->exclude);
		ret = ftrace_add_user(ops);
		if (ret)
			ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

static void no_user_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}
static struct ftrace_ops no_user = {.func = no_user_func, .flags = FTRACE_OPS_FL_RECURSION};

/*
 * The sites of a user that leaves stay as they are, because ftrace has given up: they call an entry that goes on to the
 * user. Its place there is taken by one that does nothing. [ftrace_lock] The caller waits for a grace period.
 */
static void replace_in_entries(const struct ftrace_ops *ops)
{
	for (unsigned i = 0; i < FTRACE_SINGLE_OPS; i++)
		if (ftrace_single_ops[i] == ops)
			WRITE_ONCE(ftrace_single_ops[i], &no_user);
}

/*
 * The user is unlinked first. Sites that only it wanted become nops; other sites find one user less. On return no CPU
 * is inside its function, and none will be. 0; -EBUSY: it is not registered; -ENODEV: it is gone like any other, but
 * ftrace has given up and its sites stay. Thread context; may stop the machine.
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	u64 state;
	int ret;

	mutex_lock(&ftrace_lock);
	ret = unlink_ops(ops);
	if (!ret) {
		/* No CPU may be inside the function when we return. A stop has waited for that, if there was one. */
		state = get_state_synchronize_rcu();
		ret = ftrace_update();
		if (ret) {
			replace_in_entries(ops);
			state = get_state_synchronize_rcu();
		}
		cond_synchronize_rcu(state);
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

void ftrace_ops_set_funcs(struct ftrace_ops *ops, ftrace_func_t func, ftrace_func_t straight_func,
			  ftrace_func_t hooked_func)
{
	mutex_lock(&ftrace_lock);
	WRITE_ONCE(ops->func, func);
	ops->straight_func = straight_func;
	ops->hooked_func = hooked_func;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_update();
	mutex_unlock(&ftrace_lock);
}

void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_ops_set_funcs(ops, func, NULL, ops->flags & FTRACE_OPS_FL_TRUE_PARENT ? func : NULL);
}

/*
 * The switch /proc/sys/kernel/ftrace_enabled: off makes every site a nop and keeps all users and sets. -EBUSY while one
 * may not be switched off (FTRACE_OPS_FL_PERMANENT). Thread context.
 */
int ftrace_set_enabled(bool on)
{
	struct ftrace_ops *op;
	int ret = 0;

	mutex_lock(&ftrace_lock);
	for_each_ftrace_op(op)
		if (!on && (op->flags & FTRACE_OPS_FL_PERMANENT))
			ret = -EBUSY;
	if (!ret) {
		ftrace_enabled = on;
		ret = ftrace_update();
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}
