/* Changing how a task is scheduled: policy, priority, nice; and giving up the CPU. */
#include "sched.h"

static bool rt_policy(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool fair_policy(int policy)
{
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

static bool params_valid(const struct sched_params *sp)
{
	if (rt_policy(sp->policy))
		return sp->rt_priority >= 1 && sp->rt_priority < MAX_RT_PRIO;
	return fair_policy(sp->policy) && sp->rt_priority == 0 && sp->nice >= -20 && sp->nice <= 19;
}

/* Context: rq locked, p taken off its queue. */
static void apply_params(struct task_struct *p, const struct sched_params *sp)
{
	p->policy = sp->policy;
	p->rt_priority = sp->rt_priority;
	p->sched_reset_on_fork = sp->reset_on_fork;
	if (fair_policy(sp->policy))
		p->static_prio = DEFAULT_PRIO + sp->nice;
	p->normal_prio = rt_policy(sp->policy) ? MAX_RT_PRIO - 1 - (int)sp->rt_priority : p->static_prio;
	p->prio = p->normal_prio;
	p->sched_class = rt_policy(sp->policy) ? &rt_sched_class : &fair_sched_class;
	set_load_weight(p);
}

/* Who runs now, after p's parameters changed? Context: rq locked, p back on its queue. */
static void check_class_changed(struct rq *rq, struct task_struct *p, const struct sched_class *old,
				int oldprio)
{
	if (old != p->sched_class) {
		p->sched_class->switched_to(rq, p);
		return;
	}
	if (!p->on_rq || p->prio == oldprio)
		return;
	if (!task_current(rq, p))
		wakeup_preempt(rq, p);
	else if (p->prio > oldprio)
		resched_curr(rq);
}

/* The change itself: off the queue with the old parameters, on again with the new ones. Context: rq locked.
 */
static void change_params(struct rq *rq, struct task_struct *p, const struct sched_params *sp)
{
	const struct sched_class *old = p->sched_class;
	bool queued = p->on_rq, running = task_current(rq, p);
	int oldprio = p->prio;

	update_rq_clock(rq);
	if (queued)
		dequeue_task(rq, p, 0);
	if (running)
		put_prev_task(rq, p);
	apply_params(p, sp);
	if (old != p->sched_class && old->switched_from)
		old->switched_from(rq, p);
	/* A real-time task whose priority falls goes in front of its new equals, else behind them (POSIX). */
	if (queued)
		enqueue_task(rq, p, oldprio < p->prio ? ENQUEUE_HEAD : 0);
	if (running)
		set_next_task(rq, p);
	check_class_changed(rq, p, old, oldprio);
}

int __sched_setscheduler(struct task_struct *p, const struct sched_params *sp)
{
	unsigned long flags;
	struct rq *rq;
	int ret = -EINVAL;

	if (!params_valid(sp))
		return -EINVAL;
	rq = task_rq_lock(p, &flags);
	if (p != rq->stop && p != rq->idle) {
		change_params(rq, p, sp);
		ret = 0;
	}
	rq_unlock(rq);
	if (rq->rt.nr_running > 1)
		push_rt_tasks(rq);
	spin_unlock_irqrestore(&p->pi_lock, flags);
	return ret;
}

int sched_setscheduler(struct task_struct *p, int policy, int rt_priority)
{
	struct sched_params sp = {
		.policy = policy,
		.nice = task_nice(p),
		.rt_priority = rt_priority,
		.reset_on_fork = p->sched_reset_on_fork,
	};

	return __sched_setscheduler(p, &sp);
}

void sched_set_fifo(struct task_struct *p)
{
	WARN_ON(sched_setscheduler(p, SCHED_FIFO, MAX_RT_PRIO / 2));
}

int set_user_nice(struct task_struct *p, int nice)
{
	struct sched_params sp = {
		.policy = p->policy, .rt_priority = p->rt_priority, .reset_on_fork = p->sched_reset_on_fork};

	sp.nice = clamp(nice, -20, 19);
	if (fair_policy(sp.policy))
		return __sched_setscheduler(p, &sp);
	/* Real time: remembered for the day it goes back to the fair class. */
	p->static_prio = DEFAULT_PRIO + sp.nice;
	return 0;
}

void do_sched_yield(void)
{
	struct rq *rq;

	local_irq_disable();
	rq = this_rq();
	/* Alone on this CPU: there is nobody to give it to. Who arrives later preempts or waits like after a
	 * yield. */
	if (READ_ONCE(rq->nr_running) == 1) {
		local_irq_enable();
		return;
	}
	rq_lock(rq);
	update_rq_clock(rq);
	current->sched_class->yield_task(rq);
	preempt_disable(); /* not to be preempted first and then yield a second time */
	rq_unlock(rq);
	local_irq_enable();
	preempt_enable_no_resched();
	schedule();
}

u64 sched_rr_interval_ns(struct task_struct *p)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);
	u64 ns = p->sched_class->get_rr_interval(rq, p);

	task_rq_unlock(rq, p, flags);
	return ns;
}
