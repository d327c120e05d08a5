/*
 * The users of hooked returns, and the shadow stacks that all tasks have while there is a user.
 *
 * A user (struct fgraph_ops) is the function_graph tracer of an array or the profiler. Each has a bit, which a
 * frame of a shadow stack carries for every user that wants to hear of the return. Registering goes in this order,
 * unregistering in the opposite one:
 *
 *     1  every task gets a shadow stack (alloc_all_stacks; later ones at fork)
 *     2  the user gets a bit and can be found (add_user)
 *     3  its call sites are switched (register_ftrace_function)
 *
 * Order of locks: ftrace_graph_lock, ftrace_lock, tasklist_lock (no memory is taken or given back under the last).
 */
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#include "core/tracer.h"
#include "fgraph_inline.h"
#include "fgraph_internal.h"
#include "internal.h"

/* Returns are traced, or are about to be: new tasks need a shadow stack. [a; set and cleared with ftrace_graph_lock] */
static bool stacks_wanted;
static DEFINE_MUTEX(ftrace_graph_lock); /* registering; inside it: ftrace_lock */

static struct fgraph_stack *alloc_stack(void)
{
	struct fgraph_stack *stack = kzalloc(sizeof(*stack), GFP_KERNEL);

	if (stack)
		stack->top = stack->frames;
	return stack;
}

/* ---- All tasks */

/* Call fn for each task, idle ones and threads included, until it returns false. tasklist_lock held. */
static bool for_all_tasks(bool (*fn)(struct task_struct *task, void *data), void *data)
{
	struct task_struct *leader, *thread;
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		struct task_struct *idle = idle_task(cpu);

		if (idle && !fn(idle, data))
			return false;
	}
	for_each_process(leader) {
		if (!fn(leader, data))
			return false;
		list_for_each_entry(thread, &leader->thread_group, thread_group)
			if (!fn(thread, data))
				return false;
	}
	return true;
}

bool fgraph_with_all_tasks(bool (*fn)(struct task_struct *task, void *data), void *data)
{
	unsigned long flags;
	bool all;

	spin_lock_irqsave(&tasklist_lock, flags);
	all = for_all_tasks(fn, data);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return all;
}

/* Stacks that are given to tasks or taken from them: memory is neither allocated nor freed under tasklist_lock. */
struct stack_batch {
	struct fgraph_stack *stacks[32];
	unsigned n;
};

/* For fgraph_with_all_tasks: the task gets a stack if it has none. False: the batch is empty. */
static bool give_stack(struct task_struct *task, void *data)
{
	struct stack_batch *batch = data;
	struct fgraph_stack *none = NULL;

	if (READ_ONCE(task->ret_stack))
		return true;
	if (!batch->n)
		return false;
	/* fgraph_init_task may be giving it one, too. Release: the task must find it zeroed. */
	if (__atomic_compare_exchange_n(&task->ret_stack, &none, batch->stacks[batch->n - 1], false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		batch->n--;
	return true;
}

/*
 * For fgraph_with_all_tasks: takes the task's stack if that is empty. No task pushes any more; one that pops its last
 * frame now is waited for by RCU. False: the batch is full.
 */
static bool take_stack(struct task_struct *task, void *data)
{
	struct stack_batch *batch = data;
	struct fgraph_stack *stack = READ_ONCE(task->ret_stack);

	if (!stack || fgraph_nr_frames(stack))
		return true;
	if (batch->n == ARRAY_SIZE(batch->stacks))
		return false;
	WRITE_ONCE(task->ret_stack, NULL);
	batch->stacks[batch->n++] = stack;
	return true;
}

static void free_batch(struct stack_batch *batch)
{
	while (batch->n)
		kfree(batch->stacks[--batch->n]);
}

/*
 * A shadow stack for every task there is. Memory cannot be allocated under tasklist_lock, so stacks are made in
 * batches and handed out under it, until a walk finds no task without one. New tasks get theirs at fork. 0 or
 * -ENOMEM.
 */
static int alloc_all_stacks(void)
{
	struct stack_batch batch = {};
	bool done;

	do {
		while (batch.n < ARRAY_SIZE(batch.stacks)) {
			struct fgraph_stack *stack = alloc_stack();

			if (!stack) {
				free_batch(&batch);
				return -ENOMEM;
			}
			batch.stacks[batch.n++] = stack;
		}
		done = fgraph_with_all_tasks(give_stack, &batch);
	} while (!done);
	free_batch(&batch);
	return 0;
}

/*
 * For fgraph_with_all_tasks. The user is gone for good: the next one that gets its bit must not find this one's
 * room. Without room, a call goes the general way first.
 */
static bool forget_room(struct task_struct *task, void *data)
{
	struct fgraph_stack *stack = READ_ONCE(task->ret_stack);
	const unsigned *bit = data;

	if (stack)
		WRITE_ONCE(stack->direct[*bit].room, NULL);
	return true;
}

/* For fgraph_with_all_tasks: the direct way of this bit finds no key any more. */
static bool forget_key(struct task_struct *task, void *data)
{
	struct fgraph_stack *stack = READ_ONCE(task->ret_stack);
	const unsigned *bit = data;

	if (stack)
		WRITE_ONCE(stack->direct[*bit].key, 0);
	return true;
}

/*
 * Take the stacks that have no frame, and free them a grace period later, when no call can be in them. A task that is
 * asleep within a hooked call keeps its stack until it has returned.
 */
static void free_empty_stacks(void)
{
	struct stack_batch batch = {};
	bool done;

	do {
		done = fgraph_with_all_tasks(take_stack, &batch);
		synchronize_rcu();
		free_batch(&batch);
	} while (!done);
}

/*
 * The task is on the list already. So either alloc_all_stacks finds it there, or that walked the list before, and then
 * stacks_wanted was set before the fork got tasklist_lock. Without memory the task is not traced.
 */
void fgraph_init_task(struct task_struct *task)
{
	struct fgraph_stack *stack, *none = NULL;

	if (!READ_ONCE(stacks_wanted) || READ_ONCE(task->ret_stack))
		return;
	stack = alloc_stack();
	if (stack &&
	    !__atomic_compare_exchange_n(&task->ret_stack, &none, stack, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		kfree(stack);
}

void (*fgraph_task_goes)(const struct task_struct *task);

void fgraph_free_task(struct task_struct *task)
{
	void (*goes)(const struct task_struct *task) = READ_ONCE(fgraph_task_goes);

	if (goes && task->ret_stack)
		goes(task);
	kfree(task->ret_stack);
	task->ret_stack = NULL;
}

/* ---- Users */

/* Two users that go by the same sets want the same sites, so no call need look for its site's number. */
static bool sets_differ(const struct ftrace_ops *a, const struct ftrace_ops *b)
{
	return (a->sets_of ?: a) != (b->sets_of ?: b);
}

/* NULL stands for the general way. */
static void set_handlers(ftrace_func_t enter, void (*leave)(struct fgraph_ret_regs *regs))
{
	fgraph_enter_func = enter ?: fgraph_enter;
	fgraph_return_func = leave ?: fgraph_return;
}

/*
 * [ftrace_lock, the machine stopped] Which functions the entry code calls: the only user's own, those of tracer and
 * profiler together, or the general ones. A key of the direct way is valid for this set of users only.
 */
void fgraph_choose(void)
{
	struct fgraph_ops *tracer = fgraph_users[FGRAPH_TRACER], *profiler = fgraph_users[FGRAPH_PROFILER];
	struct fgraph_ops *only = NULL;
	bool differ = false;
	u64 key = 0;

	for (unsigned i = 0; i < FGRAPH_USERS; i++) {
		if (!fgraph_users[i])
			continue;
		key |= 1U << i;
		differ |= only && sets_differ(only->ops, fgraph_users[i]->ops);
		fgraph_users[i]->direct_key = 0;
		only = fgraph_users[i];
	}
	fgraph_sets_differ = differ;
	fgraph_profiled_key = 0;
	key |= fgraph_epoch << FGRAPH_EPOCH_SHIFT;
	if (fgraph_nr_users == 1 && only->direct_enter) {
		set_handlers(only->direct_enter, only->direct_return);
		only->direct_key = key;
	} else if (fgraph_nr_users == 2 && tracer && profiler && tracer->profiled_enter && !differ) {
		set_handlers(tracer->profiled_enter, tracer->profiled_return);
		tracer->direct_key = profiler->direct_key = fgraph_profiled_key = key;
	} else {
		set_handlers(NULL, NULL);
	}
}

void fgraph_set_direct_enter(struct fgraph_ops *gops, ftrace_func_t enter)
{
	mutex_lock(&ftrace_lock);
	if (fgraph_enter_func == gops->direct_enter)
		WRITE_ONCE(fgraph_enter_func, enter);
	gops->direct_enter = enter;
	mutex_unlock(&ftrace_lock);
}

/*
 * Give the user a bit and put it where calls find it. The update of sites that follows chooses the handlers. 0; -EBUSY:
 * its fixed bit is taken; -ENOSPC: all bits are taken. [ftrace_lock]
 */
static int add_user(struct fgraph_ops *gops)
{
	bool any = gops->bit == FGRAPH_ANY;

	for (unsigned i = any ? FGRAPH_FIRST_ANY : gops->bit; i < (any ? FGRAPH_USERS : gops->bit + 1); i++) {
		if (fgraph_users[i])
			continue;
		gops->bit = i;
		gops->direct_key = 0;
		gops->since = ++fgraph_epoch << FGRAPH_EPOCH_SHIFT;
		gops->ops->flags |= FTRACE_OPS_FL_GRAPH;
		fgraph_nr_users++;
		fgraph_was_used = true;
		/* Calls from sites of other users find this one too from now on, so each must ask whose site it is. */
		WRITE_ONCE(fgraph_sets_differ, true);
		synchronize_rcu();
		WRITE_ONCE(fgraph_users[i], gops);
		WRITE_ONCE(fgraph_mask, fgraph_mask | 1U << i);
		return 0;
	}
	return any ? -ENOSPC : -EBUSY;
}

/*
 * No call finds the user any more. A task that has found it goes on with it: retire_user() must follow. [ftrace_lock]
 */
static void remove_user(struct fgraph_ops *gops)
{
	WRITE_ONCE(fgraph_sets_differ, true); /* its sites still call us */
	WRITE_ONCE(fgraph_mask, fgraph_mask & ~(1U << gops->bit));
	WRITE_ONCE(fgraph_users[gops->bit], NULL);
	fgraph_nr_users--;
	fgraph_epoch++;
	gops->direct_key = 0;
}

/*
 * Wait until no call uses the user any more; then its bit is free for another. A task's `room` is taken away before its
 * `key`, with a grace period between, so a call that still finds room has a good key. (No call gives room again: the
 * stop that changed the sites has waited for the calls that had found the user.)
 */
static void retire_user(struct fgraph_ops *gops)
{
	if (gops->bit >= FGRAPH_FIRST_ANY) {
		synchronize_rcu();
		gops->bit = FGRAPH_ANY;
		return;
	}
	fgraph_with_all_tasks(forget_room, &gops->bit);
	synchronize_rcu();
	fgraph_with_all_tasks(forget_key, &gops->bit);
}

/*
 * Make gops a user and switch its call sites. 0, -EBUSY, -ENOSPC (no place left), or the error of
 * register_ftrace_function().
 */
static int start_user(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = gops->ops->flags & FTRACE_OPS_FL_ENABLED ? -EBUSY : add_user(gops);
	mutex_unlock(&ftrace_lock);
	if (ret)
		return ret;
	ret = register_ftrace_function(gops->ops);
	if (!ret)
		return 0;
	mutex_lock(&ftrace_lock);
	gops->ops->flags &= ~FTRACE_OPS_FL_GRAPH;
	remove_user(gops);
	mutex_unlock(&ftrace_lock);
	retire_user(gops);
	return ret;
}

/* Without users no task needs a stack any more, unless it is still inside a hooked call. */
static void drop_stacks(void)
{
	if (fgraph_nr_users)
		return;
	WRITE_ONCE(stacks_wanted, false);
	free_empty_stacks();
}

/* Declared in <trace/fgraph.h>. Stacks come first: a call may be hooked as soon as the sites are switched. */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	mutex_lock(&ftrace_graph_lock);
	WRITE_ONCE(stacks_wanted, true);
	ret = alloc_all_stacks();
	if (!ret)
		ret = start_user(gops);
	if (ret)
		drop_stacks();
	mutex_unlock(&ftrace_graph_lock);
	return ret;
}

/*
 * The user is removed before its sites change, so a call that comes late by way of ftrace_caller does not find it.
 * retire_user waits for the calls that found it before; after that no frame is pushed for it. 0, or -EBUSY: it is no
 * user. Thread context; sleeps.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	int ret = -EBUSY;

	mutex_lock(&ftrace_graph_lock);
	mutex_lock(&ftrace_lock);
	if (gops->bit != FGRAPH_ANY && fgraph_users[gops->bit] == gops) {
		remove_user(gops);
		ret = 0;
	}
	mutex_unlock(&ftrace_lock);
	if (!ret) {
		ret = unregister_ftrace_function(gops->ops);
		gops->ops->flags &= ~FTRACE_OPS_FL_GRAPH;
		retire_user(gops);
		drop_stacks();
	}
	mutex_unlock(&ftrace_graph_lock);
	return ret;
}
