/*
 * Real-time tasks over all CPUs: when there are N CPUs, the N most important tasks that may run there do run.
 *
 * A task that waits is moved from two sides. The CPU that queues it pushes it to a CPU with something less important; a
 * CPU that turns to something less important pulls. Both look at other runqueues without a lock first (a guess) and
 * check again with both runqueues locked. Why a push and a pull do not miss each other stands above push_rt_tasks.
 */
#include "sched.h"

/* CPUs with a task that waits and may move. A hint for pullers: what it promises is checked under the locks. */
struct cpumask rt_overloaded_mask;

/*
 * How important is what the CPU runs or is about to run? Larger is less. Not locked: a guess, checked under the lock.
 */
static int cpu_priority(const struct rq *rq)
{
	unsigned long low = READ_ONCE(rq->rt.bitmap[0]), high = READ_ONCE(rq->rt.bitmap[1]);

	if (stopper_queued(rq) || READ_ONCE(rq->dl.nr_running))
		return -1;
	if (low)
		return __builtin_ctzl(low);
	if (high)
		return 64 + __builtin_ctzl(high);
	return READ_ONCE(rq->nr_running) ? MAX_RT_PRIO : MAX_PRIO;
}

/* The CPU where p disturbs least and would run at once, `home` when it is as good as any. -1: nowhere. */
static int find_lowest_rq(struct task_struct *p, int home)
{
	int best = -1, best_prio = p->prio;
	unsigned cpu;

	if (task_allowed(p, home)) {
		int prio = cpu_priority(cpu_rq(home));

		if (prio > best_prio) {
			best = home;
			best_prio = prio;
		}
	}
	for_each_online_cpu(cpu) {
		int prio = cpu_priority(cpu_rq(cpu));

		if (prio > best_prio && task_allowed(p, cpu)) {
			best = cpu;
			best_prio = prio;
		}
	}
	return best;
}

/*
 * The CPU where it was, if it can run there at once: its data is in the cache, and the task that it preempts may move.
 */
int select_task_rq_rt(struct task_struct *p, int cpu, int flags)
{
	int best;

	if (cpu_priority(cpu_rq(cpu)) > p->prio)
		return cpu;
	best = find_lowest_rq(p, smp_processor_id());
	return best >= 0 ? best : cpu;
}

/* The first task that is queued, does not run and may move, to `cpu` if that is not -1. Context: rq locked. */
static struct task_struct *pick_pushable_rt_task(struct rq *rq, int cpu)
{
	struct task_struct *p;

	for (int prio = 0; prio < MAX_RT_PRIO; prio++) {
		if (!test_bit(prio, rq->rt.bitmap))
			continue;
		list_for_each_entry(p, &rq->rt.queue[prio], rt.run_list)
			if (!task_current(rq, p) && p->nr_cpus_allowed > 1 && (cpu < 0 || task_allowed(p, cpu)))
				return p;
	}
	return NULL;
}

/* Is p still here to be moved to `to`, and worth it? Both are locked; the lock of `rq` may have been let go before. */
static bool can_push_rt_task(struct rq *rq, struct task_struct *p, struct rq *to)
{
	return task_rq(p) == rq && p->on_rq && !task_current(rq, p) && p->sched_class == &rt_sched_class &&
	       task_allowed(p, to->cpu) && cpu_priority(to) > p->prio;
}

/*
 * Is there a real-time task that does not run and may move? A count of 2 with the deadline tasks means that
 * one of them waits.
 */
bool rt_task_waits(const struct rq *rq)
{
	unsigned n = READ_ONCE(rq->rt.nr_running);

	return n && n + READ_ONCE(rq->dl.nr_running) > 1 && READ_ONCE(rq->rt.nr_migratory);
}

/*
 * Move p to a CPU where it runs at once. Context: rq locked; may be let go. Returns whether one was found and p moved.
 */
static bool push_rt_task(struct rq *rq, struct task_struct *p)
{
	bool moved = false;
	int cpu = find_lowest_rq(p, rq->cpu);
	struct rq *to;

	if (cpu < 0 || cpu == rq->cpu)
		return false;
	to = cpu_rq(cpu);
	double_lock_balance(rq, to);
	if (can_push_rt_task(rq, p, to)) {
		move_queued_task(rq, p, to);
		moved = true;
	}
	rq_unlock(to);
	return moved;
}

/*
 * Move waiting tasks away as long as there is a better place. Context: interrupts off, no runqueue lock.
 *
 * A push and a pull do not miss each other. The pusher marks its CPU as overloaded (when it queued the
 * task), and then looks at what the others run. The puller takes the task that it ran off its queue, and
 * then looks for marks. Each has a full barrier between its write and its look, so at least one of them
 * sees the other (store buffering). The same holds in the deadline class.
 *
 * It matters what the pusher looks at: the queues' first priority and deadline, and the stopper's on_rq,
 * all of which change before the puller's barrier (cpu_priority). rq->curr changes only after it, when the
 * next task is chosen. A pusher that trusted rq->curr would still find the stopper there, though the puller
 * has looked for marks already: the task would wait.
 */
void push_rt_tasks(struct rq *rq)
{
	struct task_struct *p;
	bool more = true;

	while (more && rt_task_waits(rq)) {
		rq_lock(rq);
		p = pick_pushable_rt_task(rq, -1);
		/* One that comes before the running one gets this CPU anyway: its wake-up has asked for that. */
		if (!p || p->prio < rq->curr->prio) {
			rq_unlock(rq);
			return;
		}
		get_task_struct(p); /* the lock may be dropped, p may exit meanwhile */
		smp_mb();	    /* as in push_dl_tasks: marked as overloaded, then looks at the others */
		more = push_rt_task(rq, p);
		rq_unlock(rq);
		put_task_struct(p);
	}
}

/* Take one task from `src` if it beats what waits here. Context: here locked, may be let go. */
static void pull_rt_from(struct rq *here, struct rq *src)
{
	struct task_struct *p;

	double_lock_balance(here, src);
	p = pick_pushable_rt_task(src, here->cpu);
	/* One that comes before the task that runs there is about to run there itself. */
	if (p && p->prio >= src->curr->prio && !here->dl.nr_running &&
	    (!here->rt.nr_running || p->prio < cpu_priority(here)))
		move_queued_task(src, p, here);
	rq_unlock(src);
}

/*
 * Look at each overloaded CPU in turn, and take the most important task of each. The mask may be a moment
 * old: a CPU that is missing from it has seen our queue after our barrier, and pushes. Context: rq locked,
 * may be let go.
 */
void pull_rt_task(struct rq *rq)
{
	unsigned cpu;

	if (!rq->pulls)
		return;
	for_each_cpu(cpu, &rt_overloaded_mask)
		if (cpu != rq->cpu)
			pull_rt_from(rq, cpu_rq(cpu));
}
