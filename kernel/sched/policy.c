/* Changing how a task is scheduled: policy, priority, nice; and giving up the CPU. */
#include "sched.h"

#include <kernel/export.h>
#include <lib/string.h>
#include <sched/timerslack.h>
#include <trace/events/sched.h>

static bool rt_policy(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool fair_policy(int policy)
{
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

/*
 * Are these parameters right in themselves? Priority 1 to 99 for real time, 0 for the others; nice -20 to
 * 19.
 */
static bool sched_params_valid(const struct sched_params *sp)
{
	if (sp->policy == SCHED_DEADLINE)
		return sp->rt_priority == 0 && dl_params_allowed(&sp->dl);
	if (rt_policy(sp->policy))
		return sp->rt_priority >= 1 && sp->rt_priority < MAX_RT_PRIO;
	return fair_policy(sp->policy) && sp->rt_priority == 0 && sp->nice >= -20 && sp->nice <= 19;
}

/*
 * The one number by which classes and tasks are compared, smaller first: -1 deadline, 0 to 98 real time (99
 * is the highest priority that a program can ask for, and maps to 0), 100 to 139 fair (nice -20 to 19).
 */
static int policy_prio(const struct task_struct *p)
{
	if (p->policy == SCHED_DEADLINE)
		return MAX_DL_PRIO - 1;
	return rt_policy(p->policy) ? MAX_RT_PRIO - 1 - (int)p->rt_priority : p->static_prio;
}

static const struct sched_class *prio_class(int prio)
{
	if (dl_prio(prio))
		return &dl_sched_class;
	return rt_prio(prio) ? &rt_sched_class : &fair_sched_class;
}

/* Context: rq locked, p taken off its queue. */
static void apply_params(struct task_struct *p, const struct sched_params *sp)
{
	p->policy = sp->policy;
	p->rt_priority = sp->rt_priority;
	p->sched_reset_on_fork = sp->reset_on_fork;
	if (fair_policy(sp->policy))
		p->static_prio = DEFAULT_PRIO + sp->nice;
	if (sp->policy == SCHED_DEADLINE) {
		p->dl.params = sp->dl;
		p->dl.flags = sp->dl_flags;
	}
	p->normal_prio = policy_prio(p);
	set_timer_slack(p, p->timer_slack_ns);
	set_load_weight(p);
}

/* Its own priority, or a better one that it was lent. Context as above. */
static void apply_prio(struct task_struct *p)
{
	p->prio = min(p->normal_prio, p->pi_prio);
	p->sched_class = prio_class(p->prio);
}

/* Which task runs now, after p's parameters have changed? Context: rq locked, p back on its queue. */
static void check_class_changed(struct rq *rq, struct task_struct *p, const struct sched_class *old, int oldprio)
{
	if (old != p->sched_class) {
		/* What waited behind it, in its old class or in one between, may come before it now. */
		if (task_current(rq, p) && sched_class_above(old, p->sched_class))
			resched_curr(rq);
		p->sched_class->switched_to(rq, p);
		return;
	}
	if (!p->on_rq || (p->prio == oldprio && !dl_task(p)))
		return;
	if (!task_current(rq, p))
		wakeup_preempt(rq, p);
	else if (p->prio > oldprio || dl_task(p)) /* another deadline, budget */
		resched_curr(rq);
}

/*
 * The change itself: off the queue with the old parameters, on again with the new ones. sp NULL: only what it is lent
 * has changed. Context: rq locked.
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
	if (sp)
		apply_params(p, sp);
	apply_prio(p);
	if (old != p->sched_class && old->switched_from)
		old->switched_from(rq, p);
	/* A real-time task whose priority falls goes in front of its new equals, else behind them (POSIX). */
	if (queued)
		enqueue_task(rq, p, ENQUEUE_CHANGED | (oldprio < p->prio ? ENQUEUE_HEAD : 0));
	if (running)
		set_next_task(rq, p);
	check_class_changed(rq, p, old, oldprio);
	/* Tasks of other CPUs that had to wait behind p may come here now. Last, since the lock may be let go. */
	if (running && sched_class_above(old, p->sched_class))
		pull_tasks(rq);
}

/*
 * The same parameters again change nothing: a real-time task keeps its place among its equals, a fair one its
 * slice, a deadline task its budget and deadline.
 */
static bool same_params(const struct task_struct *p, const struct sched_params *sp)
{
	if ((int)p->policy != sp->policy)
		return false;
	if (sp->policy == SCHED_DEADLINE)
		return p->dl.flags == sp->dl_flags && !memcmp(&p->dl.params, &sp->dl, sizeof(sp->dl));
	return rt_policy(sp->policy) ? p->rt_priority == sp->rt_priority : task_nice(p) == sp->nice;
}

/* Admit and make the change. The stopper and idle tasks keep theirs: -EINVAL. Context: rq locked, pi_lock. */
static int try_change_params(struct rq *rq, struct task_struct *p, const struct sched_params *sp)
{
	bool deadline = p->policy == SCHED_DEADLINE || sp->policy == SCHED_DEADLINE;
	int ret;

	if (p == rq->stop || p == rq->idle)
		return -EINVAL;
	/* After sched_dead() its bandwidth would never be given back. */
	if (deadline && READ_ONCE(p->state) == TASK_DEAD)
		return -ESRCH;
	ret = dl_admit(p, sp);
	if (ret)
		return ret;
	if (same_params(p, sp))
		p->sched_reset_on_fork = sp->reset_on_fork;
	else
		change_params(rq, p, sp);
	return 0;
}

/* Replace the parameters that the caller wants to keep by those that p has now. Context: rq locked. */
static void fill_kept(const struct task_struct *p, struct sched_params *sp)
{
	if (sp->keep & SCHED_KEEP_POLICY) {
		sp->policy = p->policy;
		sp->reset_on_fork = p->sched_reset_on_fork;
	}
	if (sp->keep & SCHED_KEEP_NICE)
		sp->nice = task_nice(p);
	if (!(sp->keep & SCHED_KEEP_PARAMS))
		return;
	sp->rt_priority = p->rt_priority;
	if (p->policy == SCHED_DEADLINE) {
		sp->dl = p->dl.params;
		sp->dl_flags = p->dl.flags;
	}
}

/*
 * Complete the parameters from those that p has, ask whether the caller may make this change, and make it.
 * Context: rq locked, pi_lock.
 *
 * A change of policy is decided here, under both locks, and not in the system call that asks for it.
 * sched_setparam, setpriority and the KEEP flags of sched_setattr leave some parameters as they are, and a
 * user other than root may only give things up: both depend on what the task has at the moment of the
 * change. Two things that would go wrong if it were read earlier:
 *
 * - An old policy is put back. CPU 0 reads NORMAL to set a new nice value; CPU 1 makes the task FIFO and
 *   returns success; CPU 0 writes NORMAL again.
 *
 * - A right is kept too long. A user asks for "FIFO 50 again" while the task has 50; root lowers it to 10;
 *   the user gets 50.
 *
 * So __sched_setscheduler is told what to keep (SCHED_KEEP_*) and which function decides (`permit`). Returns 0,
 * -EINVAL, -EPERM, -EBUSY.
 */
static int resolve_and_change(struct rq *rq, struct task_struct *p, struct sched_params *sp)
{
	bool nice_only = sp->keep == (SCHED_KEEP_POLICY | SCHED_KEEP_PARAMS);
	int ret;

	fill_kept(p, sp);
	if (!nice_only && !sched_params_valid(sp))
		return -EINVAL;
	ret = sp->permit ? sp->permit(p, sp) : 0;
	if (ret)
		return ret;
	if (!nice_only || fair_policy(p->policy))
		return try_change_params(rq, p, sp);
	/* Real time or deadline: kept for its return to the fair class. */
	p->static_prio = DEFAULT_PRIO + sp->nice;
	return 0;
}

/*
 * pi_lock is held longer than the runqueue lock: push_tasks takes runqueue locks itself, and p must not be woken to
 * another CPU meanwhile.
 */
int __sched_setscheduler(struct task_struct *p, struct sched_params *sp)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);
	int ret = resolve_and_change(rq, p, sp);

	rq_unlock(rq);
	push_tasks(rq);
	spin_unlock_irqrestore(&p->pi_lock, flags);
	return ret;
}

void sched_set_pi_prio(struct task_struct *p, int prio)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);

	p->pi_prio = prio;
	if (p->prio != min(p->normal_prio, prio)) {
		trace_sched_pi_setprio(p, prio);
		change_params(rq, p, NULL);
	}
	rq_unlock(rq);
	push_tasks(rq);
	spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* A nice value that is out of range is passed over, as in Linux. */
void set_user_nice(struct task_struct *p, long nice)
{
	struct sched_params sp = {.nice = nice, .keep = SCHED_KEEP_POLICY | SCHED_KEEP_PARAMS};

	if (nice >= -20 && nice <= 19)
		__sched_setscheduler(p, &sp);
}
EXPORT_SYMBOL(set_user_nice);

/* A kernel thread asks for what it was made for, so a refusal is a bug of the caller. */
void sched_set_fifo_priority(struct task_struct *p, unsigned priority)
{
	struct sched_params sp = {.policy = SCHED_FIFO, .rt_priority = priority, .keep = SCHED_KEEP_NICE};

	WARN_ON(__sched_setscheduler(p, &sp));
}

/* In the middle of the real-time priorities. If such tasks need another order, an administrator must set it. */
void sched_set_fifo(struct task_struct *p)
{
	sched_set_fifo_priority(p, MAX_RT_PRIO / 2);
}
EXPORT_SYMBOL(sched_set_fifo);

void sched_set_fifo_low(struct task_struct *p)
{
	sched_set_fifo_priority(p, 1);
}
EXPORT_SYMBOL(sched_set_fifo_low);

void sched_set_normal(struct task_struct *p, int nice)
{
	struct sched_params sp = {.policy = SCHED_NORMAL, .nice = nice};

	WARN_ON(__sched_setscheduler(p, &sp));
}
EXPORT_SYMBOL(sched_set_normal);

/* There are others, or a budget to give up: the class decides. Interrupts off; they are on afterwards. */
static noinline void yield_rq(struct rq *rq)
{
	rq_lock(rq);
	update_rq_clock(rq);
	current->sched_class->yield_task(rq);
	preempt_disable(); /* otherwise it could be preempted first and then yield a second time */
	rq_unlock(rq);
	local_irq_enable();
	preempt_enable_no_resched();
	schedule();
}

/* Let others of the same class run. Context: a task that may be preempted. */
void do_sched_yield(void)
{
	struct rq *rq;

	local_irq_disable();
	rq = this_rq();
	/*
	 * Alone on this CPU: there is no other task to give it to. One that arrives later preempts or waits as after a
	 * yield. But a deadline task gives the rest of its budget up, whether or not another task waits.
	 */
	if (READ_ONCE(rq->nr_running) == 1 && likely(!dl_task(current)))
		local_irq_enable();
	else
		yield_rq(rq);
}

u64 sched_rr_interval_ns(struct task_struct *p)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);
	u64 ns = p->sched_class->get_rr_interval(rq, p);

	task_rq_unlock(rq, p, flags);
	return ns;
}
