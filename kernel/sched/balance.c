/*
 * Fair tasks over all CPUs: where a waking task goes, and how CPUs with too little to do get more. There are four
 * occasions:
 *
 *	a task wakes up or is new	select_task_rq_fair	an idle CPU, or the least loaded
 *	a CPU is about to idle		newidle_balance		pulls one waiting task
 *	a busy CPU's tick, rarely	load_balance		pulls a few, until the loads are even
 *	a busy CPU's tick, others idle	push_to_idle		hands one task over
 *
 * Loads are read without locks first, as a guess, and looked at again with both runqueues locked.
 */
#include "sched.h"

#include <irq/softirq.h>

#define BALANCE_TICKS 4 /* periodic pull every so many ticks of a busy CPU: 16 ms */
#define BALANCE_MOVES 4 /* tasks at a time */

/*
 * The weight of the fair tasks on a CPU, as pressure on each of them. Real-time work in front of them counts as two
 * ordinary tasks, so that those behind are worth moving even to a CPU that is busy.
 */
static unsigned long cpu_load(const struct rq *rq)
{
	unsigned long load = READ_ONCE(rq->cfs.load);

	if (READ_ONCE(rq->rt.nr_running) || READ_ONCE(rq->dl.nr_running))
		load += 2 * NICE_0_LOAD;
	return load;
}

/* An idle CPU that p may use, `home` if that is one, as p's data may still be in its cache. -1: there is none. */
static int find_idle_cpu(struct task_struct *p, int home)
{
	unsigned cpu;

	if (task_allowed(p, home) && idle_cpu(home))
		return home;
	if (cpumask_empty(&idle_cpus_mask))
		return -1;
	for_each_cpu(cpu, &idle_cpus_mask)
		if (task_allowed(p, cpu) && idle_cpu(cpu))
			return cpu;
	return -1;
}

/* For a new task, which has nothing in any cache. With equal loads it stays at home. */
static int find_least_loaded_cpu(struct task_struct *p, int home)
{
	unsigned long least = task_allowed(p, home) ? cpu_load(cpu_rq(home)) : ~0UL;
	int best = home;
	unsigned cpu;

	for_each_online_cpu(cpu) {
		unsigned long load = cpu_load(cpu_rq(cpu));

		if (load < least && task_allowed(p, cpu)) {
			least = load;
			best = cpu;
		}
	}
	return best;
}

/*
 * An idle CPU, if there is one; a new task goes to the least loaded. When all are busy p stays at home, where its data
 * is in the cache; unless its home is clearly busier than the waker's CPU, whose cache has what p is woken for.
 */
int select_task_rq_fair(struct task_struct *p, int cpu, int flags)
{
	int idle = find_idle_cpu(p, cpu), here = smp_processor_id();

	if (idle >= 0)
		return idle;
	if (flags & WF_FORK)
		return find_least_loaded_cpu(p, cpu);
	if (task_allowed(p, here) && cpu_load(cpu_rq(here)) + p->se.weight < cpu_load(cpu_rq(cpu)))
		return here;
	return cpu;
}

/* The CPU with the highest load among those that have a task to spare; NULL: there is no such CPU. */
static struct rq *find_busiest(struct rq *here)
{
	struct rq *busiest = NULL;
	unsigned long most = 0;
	unsigned cpu;

	for_each_online_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);

		if (rq == here || READ_ONCE(rq->nr_running) < 2 || !READ_ONCE(rq->cfs.nr_running))
			continue;
		if (cpu_load(rq) > most) {
			most = cpu_load(rq);
			busiest = rq;
		}
	}
	return busiest;
}

/*
 * The last task has left: before this CPU idles it looks for a task that waits elsewhere. Called from __schedule() with
 * the old task still current. The lock may be let go in between, and what comes in meanwhile is found by the caller's
 * pick.
 */
bool noinline newidle_balance(struct rq *rq)
{
	struct rq *src;
	struct task_struct *p;

	if (!rq->pulls)
		return false;
	src = find_busiest(rq);
	if (!src)
		return false;
	double_lock_balance(rq, src);
	if (!rq->nr_running && src->nr_running > 1) {
		p = fair_migratable(src, rq->cpu, ~0UL);
		if (p)
			move_queued_task(src, p, rq);
	}
	rq_unlock(src);
	return rq->nr_running;
}

/*
 * Moving weight w changes a difference D to |D - 2w|: better exactly when w < D. False when there is nothing to move.
 */
static bool pull_one(struct rq *here, struct rq *src)
{
	unsigned long from = cpu_load(src), to = cpu_load(here);
	struct task_struct *p;

	if (from <= to || src->nr_running < 2)
		return false;
	p = fair_migratable(src, here->cpu, from - to);
	if (!p)
		return false;
	move_queued_task(src, p, here);
	return true;
}

/*
 * The busiest CPU is found without a lock, and both runqueues are locked for all moves together. A CPU that leaves may
 * serve a softirq that was left over when its own tasks have gone already (rq->pulls): it must not get others. Softirq
 * context, interrupts on.
 */
static void noinline load_balance(struct rq *here)
{
	struct rq *src = here->pulls ? find_busiest(here) : NULL;
	int moves = 0;

	if (!src)
		return;
	local_irq_disable();
	double_rq_lock(here, src);
	while (moves < BALANCE_MOVES && pull_one(here, src))
		moves++;
	double_rq_unlock(here, src);
	local_irq_enable();
}

/* Hands one waiting task to an idle CPU that it may use. True: done. Softirq context, interrupts on. */
static bool push_to_idle(struct rq *here, int cpu)
{
	struct rq *to = cpu_rq(cpu);
	struct task_struct *p = NULL;

	local_irq_disable();
	double_rq_lock(here, to);
	if (here->nr_running > 1 && idle_cpu(cpu))
		p = fair_migratable(here, cpu, ~0UL);
	if (p)
		move_queued_task(here, p, to);
	double_rq_unlock(here, to);
	local_irq_enable();
	return p;
}

/* The softirq. Idle CPUs have no tick and cannot pull, so a CPU with too much looks for one of them first. */
static void noinline run_rebalance_domains(void)
{
	struct rq *rq = this_rq();
	unsigned cpu;

	if (READ_ONCE(rq->nr_running) > 1)
		for_each_cpu(cpu, &idle_cpus_mask)
			if (cpu != rq->cpu && push_to_idle(rq, cpu))
				return;
	load_balance(rq);
}

/*
 * From the tick, interrupts off. The balancing itself is left to a softirq, as it locks two runqueues and takes longer
 * than an interrupt should.
 */
void trigger_load_balance(struct rq *rq)
{
	bool spare = rq->nr_running > 1 && !cpumask_empty(&idle_cpus_mask);

	if (nr_cpu_ids == 1)
		return;
	if (!spare && ++rq->balance_ticks < BALANCE_TICKS)
		return;
	rq->balance_ticks = 0;
	raise_softirq_irqoff(SCHED_SOFTIRQ);
}

void balance_init(void)
{
	open_softirq(SCHED_SOFTIRQ, run_rebalance_domains);
}
