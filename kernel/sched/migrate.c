/* Which CPU a task is on: placement, affinity, moving it, and off a CPU that leaves. */
#include "sched.h"

#include <kernel/export.h>
#include <kernel/printk.h>
#include <proc/fork.h>
#include <sched/cpuhp.h>
#include <trace/events/sched.h>

/* p, which is new and has no CPU yet, begins on cpu. [pi_lock] */
void __set_task_cpu(struct task_struct *p, int cpu)
{
	/*
	 * Release: a CPU that reads the new number and takes that queue's lock sees what was done to the entity before.
	 */
	smp_store_release(&p->cpu, cpu);
}

/*
 * p belongs to cpu from now on. Context: p neither queued nor running, with pi_lock held; or both runqueues locked, p
 * taken off its queue by the caller.
 */
void set_task_cpu(struct task_struct *p, int cpu)
{
	if (p->cpu == cpu)
		return;
	trace_sched_migrate_task(p, cpu);
	if (p->sched_class->migrate_task_rq)
		p->sched_class->migrate_task_rq(p, cpu);
	p->se.nr_migrations++;
	__set_task_cpu(p, cpu);
}

/* Between two locked queues; the target's CPU is told if p is to run at once. */
void move_queued_task(struct rq *from, struct task_struct *p, struct rq *to)
{
	/*
	 * on_rq stays 1: a waker that read 0 here would take p for asleep and queue it a second time. Reading
	 * 1 it comes for the runqueue lock, and finds p's new queue when it gets it.
	 */
	update_rq_clock(from);
	dequeue_task(from, p, 0);
	set_task_cpu(p, to->cpu);
	update_rq_clock(to);
	enqueue_task(to, p, 0);
	wakeup_preempt(to, p);
}

static void widen_mask(struct task_struct *p);

/*
 * The first CPU that is online and allowed. When there is none, since all of them have left, p may run everywhere from
 * now on, as on Linux: its mask does not come back with its CPUs. Context: pi_lock, no runqueue locked.
 */
int select_fallback_rq(struct task_struct *p)
{
	unsigned cpu;

	for_each_online_cpu(cpu)
		if (task_allowed(p, cpu))
			return cpu;
	widen_mask(p);
	return cpumask_first(&cpu_online_mask);
}

/* Must p leave the CPU it is on? A sleeper need not: its wake-up looks at the mask. */
static bool must_move(struct task_struct *p)
{
	return p->on_rq && (!task_allowed(p, p->cpu) || unlikely(!cpu_online(p->cpu)));
}

/* Both queues locked, p on the first of them. Context: pi_lock. Returns the first. */
static struct rq *lock_both(struct task_struct *p, struct rq *to)
{
	for (;;) {
		struct rq *rq = task_rq(p);

		double_rq_lock(rq, to);
		if (rq == task_rq(p))
			return rq;
		double_rq_unlock(rq, to);
	}
}

/*
 * In the stopper of the CPU that p ran on: p has been preempted, so it can be moved like any queued task. Its new CPU
 * is chosen only now, under the locks that guard its mask: one where it runs at once, if there is such a CPU.
 */
static int migration_cpu_stop(void *data)
{
	struct task_struct *p = data;
	struct rq *rq, *dest;
	unsigned long flags;

	spin_lock_irqsave(&p->pi_lock, flags);
	dest = cpu_rq(select_task_rq(p, select_fallback_rq(p), 0));
	rq = lock_both(p, dest);
	if (must_move(p) && !task_current(rq, p))
		move_queued_task(rq, p, dest);
	double_rq_unlock(rq, dest);
	push_tasks(dest); /* a more important task may have come there first */
	spin_unlock_irqrestore(&p->pi_lock, flags);
	return 0;
}

/* Change the mask where it counts: two classes keep a count of who may move. Context: pi_lock and rq. */
static void set_cpus_allowed(struct rq *rq, struct task_struct *p, const struct cpumask *mask)
{
	bool queued_rt = p->on_rq && p->sched_class == &rt_sched_class;
	int movable = p->nr_cpus_allowed > 1;

	for (unsigned i = 0; i < ARRAY_SIZE(p->cpus_mask); i++)
		WRITE_ONCE(p->cpus_mask[i], mask->bits[i]);
	p->nr_cpus_allowed = cpumask_weight(mask);
	movable = (p->nr_cpus_allowed > 1) - movable;
	if (queued_rt)
		rq->rt.nr_migratory += movable;
	if (p->dl.queued)
		rq->dl.nr_migratory += movable;
	update_rt_overload(rq);
	update_dl_overload(rq);
}

/* The log names programs, but no kernel threads; the words and the rule are Linux's. Context: pi_lock. */
static void widen_mask(struct task_struct *p)
{
	struct rq *rq = __task_rq_lock(p);

	if (p->mm)
		pr_warn("process %d (%s) no longer affine to cpu%d\n", p->pid, p->comm, p->cpu);
	set_cpus_allowed(rq, p, &cpu_possible_mask);
	rq_unlock(rq);
}

/* Context: pi_lock and rq. */
static int try_set_cpus(struct rq *rq, struct task_struct *p, const struct cpumask *mask)
{
	struct cpumask online;

	if (!cpumask_and(&online, mask, &cpu_online_mask))
		return -EINVAL;
	if (!dl_affinity_allowed(p, mask))
		return -EBUSY;
	set_cpus_allowed(rq, p, mask);
	return 0;
}

/*
 * Where p may run. When p runs on a CPU that is forbidden from now on it is moved before this returns. 0, -EINVAL: no
 * CPU of the mask is online, -EBUSY: a deadline task that was admitted for more. Thread context.
 */
int sched_setaffinity(struct task_struct *p, const struct cpumask *mask)
{
	unsigned long flags;
	struct rq *rq;
	int ret, cpu;

	rq = task_rq_lock(p, &flags);
	ret = try_set_cpus(rq, p, mask);
	cpu = must_move(p) ? rq->cpu : -1;
	rq_unlock(rq);
	push_tasks(rq); /* if p waits here: a CPU that is new in its mask may be free */
	spin_unlock_irqrestore(&p->pi_lock, flags);
	/*
	 * It may have moved by itself since; then the stopper on its old CPU finds it elsewhere, allowed, or
	 * running where it may not: only in the last case is there something left to do.
	 */
	while (!ret && cpu >= 0) {
		stop_one_cpu(cpu, migration_cpu_stop, p);
		rq = task_rq_lock(p, &flags);
		cpu = must_move(p) ? rq->cpu : -1;
		task_rq_unlock(rq, p, flags);
	}
	return ret;
}
EXPORT_SYMBOL(sched_setaffinity);

bool task_curr(const struct task_struct *p)
{
	return READ_ONCE(task_rq(p)->curr) == p;
}

void wait_task_inactive(struct task_struct *p)
{
	/*
	 * Off its queue first, then off its CPU: the order in which they are given up. Acquire pairs with both
	 * releases.
	 */
	while (smp_load_acquire(&p->on_rq)) {
		__set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_timeout_ns(NSEC_PER_MSEC);
	}
	while (smp_load_acquire(&p->on_cpu))
		cpu_relax();
}

/* ---- A CPU leaves. On that CPU, in its stopper, with all others stopped. */

/* For for_each_queued_task: the first task but the stopper. */
static bool first_to_move(struct task_struct *p, void *data)
{
	if (p == this_rq()->stop)
		return true;
	*(struct task_struct **)data = p;
	return false;
}

/* Deadline tasks that wait for their next period are on no queue, but belong to this CPU all the same. */
static void move_throttled(unsigned cpu)
{
	struct task_struct *leader, *p;

	for_each_process(leader)
		for_each_thread(leader, p)
			if (p->on_rq && p->dl.throttled && p->cpu == (int)cpu)
				migration_cpu_stop(p);
}

/*
 * All tasks go elsewhere, the most important ones first, each to where it would run now if it had just woken up. The
 * stopper stays, which is bound to this CPU and sleeps until it comes back; and sleeping tasks, whose wake-up finds
 * that the CPU has gone.
 */
static int sched_cpu_dying(unsigned cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *p;

	rq->online = rq->pulls = false;
	for (;;) {
		p = NULL;
		for_each_queued_task(cpu, first_to_move, &p);
		if (!p)
			break;
		migration_cpu_stop(p);
	}
	move_throttled(cpu);
	hrtimer_try_to_cancel(&rq->dl.budget);
	return 0;
}
static const struct cpuhp_step sched_step = {.name = "sched:tasks", .stage = CPUHP_STARTING, .down = sched_cpu_dying};
REGISTER_CPUHP(sched_step);
