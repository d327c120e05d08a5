/*
 * Looking at a whole runqueue, for tracers. Not traced, because a tracer runs it. Each class is walked in the order in
 * which it would run its tasks, and the classes from the most important one on. The runqueue is locked by the caller.
 */
#include "../sched.h"

#include <lib/bitmap.h>

/* Deadline tasks in the order of their deadlines, the running one too. False: fn has ended the walk. */
static notrace bool walk_dl(struct dl_rq *dl, bool (*fn)(struct task_struct *p, void *data), void *data)
{
	for (struct rb_node *n = rb_first_cached(&dl->tasks); n; n = rb_next(n))
		if (!fn(rb_entry(n, struct task_struct, dl.node), data))
			return false;
	return true;
}

/* The real-time lists from the highest priority on; the running task is on its list. */
static notrace bool walk_rt(struct rt_rq *rt, bool (*fn)(struct task_struct *p, void *data), void *data)
{
	struct task_struct *p;

	for (unsigned prio = find_first_bit(rt->bitmap, MAX_RT_PRIO); prio < MAX_RT_PRIO;
	     prio = find_next_bit(rt->bitmap, MAX_RT_PRIO, prio + 1))
		list_for_each_entry(p, &rt->queue[prio], rt.run_list)
			if (!fn(p, data))
				return false;
	return true;
}

/* The fair tasks by virtual run time, the running one, which is not in the tree, before them. */
static notrace void walk_fair(struct cfs_rq *cfs, bool (*fn)(struct task_struct *p, void *data), void *data)
{
	struct sched_entity *curr = cfs->curr;

	if (curr && curr->on_rq && !fn(container_of(curr, struct task_struct, se), data))
		return;
	for (struct rb_node *n = rb_first_cached(&cfs->timeline); n; n = rb_next(n))
		if (!fn(rb_entry(n, struct task_struct, se.run_node), data))
			return;
}

notrace void for_each_queued_task(int cpu, bool (*fn)(struct task_struct *p, void *data), void *data)
{
	struct rq *rq = cpu_rq(cpu);

	if (rq->stop && rq->stop->on_rq && !fn(rq->stop, data))
		return;
	if (walk_dl(&rq->dl, fn, data) && walk_rt(&rq->rt, fn, data))
		walk_fair(&rq->cfs, fn, data);
}
