/*
 * A walk over the processes of a group, or over all of them, in pieces: between two of them interrupts are on and
 * processes come, go and change their groups.
 */
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/spinlock.h>

/* The members of a group, or all, in the order of joining or of birth. */
struct walk {
	pid_t pgrp;		  /* EVERY_PROCESS: all */
	struct task_struct *last; /* the last one that was looked at, with a reference; NULL: none was */
	u64 place;		  /* where that one stands in the order */
};

static u64 place_of(const struct walk *walk, const struct task_struct *p)
{
	return walk->pgrp == EVERY_PROCESS ? p->signal->birth : p->signal->joined;
}

/* The process behind p (NULL: the first) in that order; NULL: there is none. [T] */
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

/* The next one to be looked at. The last one may have gone, or to another group: then its place is searched. [T] */
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

/* As many processes as are not too long to have interrupts off. Returns whether there may be more. */
#define AT_ONCE 32

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
