/*
 * Walks of modules over processes and threads: for_each_process(), for_each_thread() and next_task().
 *
 * A module may walk without a lock, as examples of tutorials do, or sleep for a second between two steps. So a walk
 * holds nothing from one step to the next but a number or an address: the number of the next task that may come, or
 * the address of the process at which the walk stands. An address is compared with those of the processes that are
 * there now, and read only if it is among them.
 *
 * The caller gets no reference. The struct that a step has returned stays readable for as long as the process is not
 * reaped, and longer under an rcu_read_lock() that was taken before the step.
 */
#include <kernel/export.h>
#include <kernel/module_tasks.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/spinlock.h>
#include <sched/task_inline.h>

EXPORT_SYMBOL(init_task);

/* Is a process with this address in the list? Then it stays there as long as the lock is held. [T] */
static bool is_process(const struct task_struct *wanted)
{
	struct task_struct *p;

	for_each_process(p)
		if (p == wanted)
			return true;
	return false;
}

struct task_struct *next_task(struct task_struct *p)
{
	struct list_head *at = &init_tasks;
	struct task_struct *next = &init_task;
	unsigned long flags;

	spin_lock_irqsave(&tasklist_lock, flags);
	if (is_process(p))
		at = &p->tasks;
	if ((at != &init_tasks || p == &init_task) && at->next != &init_tasks)
		next = list_entry(at->next, struct task_struct, tasks);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return next;
}
EXPORT_SYMBOL(next_task);

struct task_struct *process_from(pid_t *nr)
{
	struct task_struct *p = next_process(*nr);

	if (p) {
		*nr = p->pid + 1;
		put_task_struct(p);
	}
	return p;
}
EXPORT_SYMBOL(process_from);

/* The list of threads has no order, so each step goes through the whole of it. */
struct task_struct *thread_from(struct task_struct *leader, pid_t *nr)
{
	struct task_struct *t, *best = NULL;
	unsigned long flags;

	spin_lock_irqsave(&tasklist_lock, flags);
	if (is_process(leader))
		for_each_thread(leader, t)
			if (t->pid >= *nr && (!best || t->pid < best->pid))
				best = t;
	if (best)
		*nr = best->pid + 1;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return best;
}
EXPORT_SYMBOL(thread_from);
