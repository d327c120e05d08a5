/*
 * Walks over the processes of a group, or over all processes, in pieces. A machine may have thousands of processes,
 * and tasklist_lock is taken with interrupts off, so holding it for a whole walk would delay every interrupt. Between
 * two pieces the lock is free, and processes come, go and change their groups.
 *
 * The walk keeps its place by a number that rises along the list: `birth` along the list of all processes, `joined`
 * along a group. If the last process that was looked at has left the list, the walk goes on with the first one whose
 * number is higher. So a process that is in the list all the time is met exactly once.
 */
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/spinlock.h>

/* Where a walk stands. Local to one call of walk_processes(). */
struct walk {
	pid_t pgrp;		  /* EVERY_PROCESS: all */
	struct task_struct *last; /* the last one that was looked at, with a reference; NULL: none was */
	u64 place;		  /* where that one stands in the order */
};

/* The number of p that rises along the list of this walk. [T] */
static u64 place_of(const struct walk *walk, const struct task_struct *p)
{
	return walk->pgrp == EVERY_PROCESS ? p->signal->birth : p->signal->joined;
}

/* The process behind p in the list, the first one for NULL; NULL at the end. [T] */
static struct task_struct *next_one(const struct walk *walk, struct task_struct *p)
{
	struct signal_struct *sig;

	if (walk->pgrp != EVERY_PROCESS) {
		sig = next_in_group(PIDTYPE_PGID, walk->pgrp, p ? p->signal : NULL);
		return sig ? sig->leader : NULL;
	}
	p = p ? list_next_entry(p, tasks) : list_first_entry(&init_tasks, struct task_struct, tasks);
	return &p->tasks == &init_tasks ? NULL : p;
}

/*
 * The next process to be looked at, after the lock was free. As long as the last one is still in the list at its old
 * place, its neighbour is next. Otherwise the list is searched from its beginning for the first higher place. [T]
 */
static struct task_struct *go_on(const struct walk *walk)
{
	struct task_struct *p = walk->last;

	if (p && thread_group_leader(p) && place_of(walk, p) == walk->place &&
	    !list_empty(walk->pgrp == EVERY_PROCESS ? &p->tasks : &p->signal->group_node[PIDTYPE_PGID]))
		return next_one(walk, p);
	for (p = next_one(walk, NULL); p && place_of(walk, p) <= walk->place;)
		p = next_one(walk, p);
	return p;
}

/*
 * How many processes are looked at between taking tasklist_lock and releasing it. Interrupts are off for that long,
 * so the number bounds the delay that a walk causes.
 */
#define AT_ONCE 32

/*
 * One piece of a walk: take the lock, go on from the last place, call fn for up to AT_ONCE processes. The reference
 * to the last one keeps its struct readable when the next piece begins. put_task_struct() may free memory, so it
 * comes after the lock. Returns whether there may be more.
 */
static bool walk_some(struct walk *walk, void (*fn)(struct task_struct *p, void *arg), void *arg)
{
	struct task_struct *p, *before = walk->last;
	unsigned long flags;
	int n;

	spin_lock_irqsave(&tasklist_lock, flags);
	p = go_on(walk);
	for (n = 0; p && n < AT_ONCE; n++, p = next_one(walk, p)) {
		fn(p, arg);
		walk->last = p;
		walk->place = place_of(walk, p);
	}
	if (n)
		get_task_struct(walk->last);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	if (n && before)
		put_task_struct(before);
	return p;
}

void walk_processes(pid_t pgrp, void (*fn)(struct task_struct *p, void *arg), void *arg)
{
	struct walk walk = {.pgrp = pgrp};

	while (walk_some(&walk, fn, arg))
		;
	if (walk.last)
		put_task_struct(walk.last);
}
