/*
 * The deadline class: SCHED_DEADLINE, earliest deadline first, each task inside a constant-bandwidth server.
 *
 * A server has a budget (dl.left) and a deadline. The budget is charged with what the task runs, to the
 * nanosecond; when it is used up the task leaves the queue (it is throttled) until the next period, for which it gets
 * a new budget and deadline. So a task never disturbs the others by more than its bandwidth, whatever it does.
 *
 * WHERE A TASK IS. on_rq and in the tree: dl.queued; the running one stays in the tree. on_rq and throttled:
 * in no tree, not counted in any nr_running; dl.timer is set. Asleep: in no tree; may be throttled all the
 * same, then the timer replenishes the sleeper.
 *
 * TIMERS AND LOCKS. pi_lock, runqueue lock, then the timer base's lock: timers are started and stopped with the
 * runqueue locked, and a callback runs with no base locked. So no code waits for a callback under a lock. A callback
 * that cannot be stopped because it runs already waits for the runqueue lock, and looks at the state when it has it:
 * dl.throttled and dl.replenish_at say whether there is something to do. Both are changed only under that lock. So a
 * callback that lost the race against a change of policy, a migration or another timer finds that there is nothing to
 * do, or that it came too early, and then makes sure that the timer is set. Only dl_task_dead() waits for callbacks,
 * without locks, before the task's memory may go.
 */
#include "../sched.h"

#include <lib/string.h>
#include <proc/signal.h>
#include <uapi/sched.h>

static inline struct task_struct *task_of(const struct rb_node *n)
{
	return rb_entry(n, struct task_struct, dl.node);
}

static bool dl_less(const struct rb_node *a, const struct rb_node *b)
{
	return task_of(a)->dl.deadline < task_of(b)->dl.deadline;
}

static enum hrtimer_restart replenish_timer(struct hrtimer *t);
static enum hrtimer_restart budget_timer(struct hrtimer *t);

void init_dl_rq(struct dl_rq *dl)
{
	dl->tasks = RB_ROOT_CACHED;
	dl->earliest = DL_NONE;
	hrtimer_init(&dl->budget, budget_timer);
}

void init_dl_entity(struct sched_dl_entity *dl)
{
	memset(dl, 0, sizeof(*dl));
	RB_CLEAR_NODE(&dl->node);
	hrtimer_init(&dl->timer, replenish_timer);
}

/* Other CPUs read the first deadline without a lock, to find where a task would run soonest. */
static void dl_tree_changed(struct rq *rq)
{
	struct rb_node *first = rb_first_cached(&rq->dl.tasks);

	WRITE_ONCE(rq->dl.earliest, first ? task_of(first)->dl.deadline : DL_NONE);
	update_dl_overload(rq);
	update_rt_overload(rq); /* what waits behind us may run elsewhere */
}

/* The running task stays in the tree, as its deadline counts for others. */
static void queue_dl(struct rq *rq, struct task_struct *p)
{
	rb_add_cached(&p->dl.node, &rq->dl.tasks, dl_less);
	p->dl.queued = true;
	rq->dl.nr_running++;
	rq->dl.nr_migratory += p->nr_cpus_allowed > 1;
	rq->nr_running++;
	dl_tree_changed(rq);
}

static void unqueue_dl(struct rq *rq, struct task_struct *p)
{
	rb_erase_cached(&p->dl.node, &rq->dl.tasks);
	p->dl.queued = false;
	rq->dl.nr_running--;
	rq->dl.nr_migratory -= p->nr_cpus_allowed > 1;
	rq->nr_running--;
	dl_tree_changed(rq);
}

/* A fresh server: the whole budget, and the deadline counted from now. */
static void dl_renew(struct sched_dl_entity *dl, u64 now)
{
	dl->left = dl->params.runtime;
	dl->deadline = now + dl->params.deadline;
}

/* The next period's budget, less what the task ran beyond the last one. */
static void dl_replenish(struct sched_dl_entity *dl, u64 now)
{
	dl->throttled = false;
	dl_postpone(&dl->params, &dl->left, &dl->deadline);
	/* If this deadline is over as well, the server begins again: the past is not made up for. */
	if (dl->deadline < now)
		dl_renew(dl, now);
}

/*
 * The budget is spent: the task waits for the next period, unless that has begun. True: it must wait, and the timer is
 * set.
 */
static bool dl_throttle(struct sched_dl_entity *dl, u64 now)
{
	dl->replenish_at = dl_next_period(&dl->params, dl->deadline);
	dl->throttled = dl->replenish_at > now;
	if (!dl->throttled) {
		dl_replenish(dl, now);
		return false;
	}
	WRITE_ONCE(dl->throttles, dl->throttles + 1); /* tracers that follow p's waiting compare it */
	hrtimer_start(&dl->timer, dl->replenish_at);
	return true;
}

/*
 * A task becomes runnable: which deadline and budget does it get? It keeps the pair that it has if that does not exceed
 * its bandwidth from now on; else it gets a fresh pair (CBS). A constrained deadline (shorter than the period) that is
 * still to come stays, and the budget is cut to what the density allows; when it is over the task waits for its period.
 * Returns whether it may be queued.
 */
static bool dl_start_server(struct sched_dl_entity *dl, u64 now)
{
	bool implicit = dl_is_implicit(&dl->params);
	u64 laxity = dl->deadline - now;

	if (dl->throttled)
		return false;
	if (!dl->deadline) {
		dl_renew(dl, now);
	} else if (dl->deadline <= now) {
		if (!implicit && now < dl_next_period(&dl->params, dl->deadline))
			dl->left = min_t(s64, dl->left, 0);
		else
			dl_renew(dl, now);
	} else if (dl->left > 0 && dl_overflow(&dl->params, laxity, dl->left)) {
		if (implicit)
			dl_renew(dl, now);
		else
			dl->left = dl_revised_runtime(&dl->params, laxity);
	}
	return dl->left > 0 || !dl_throttle(dl, now);
}

static void enqueue_task_dl(struct rq *rq, struct task_struct *p, int flags)
{
	if (flags & (ENQUEUE_WAKEUP | ENQUEUE_INITIAL | ENQUEUE_CHANGED))
		dl_start_server(&p->dl, rq->clock);
	if (!p->dl.throttled)
		queue_dl(rq, p);
}

/* SIGXCPU cannot be sent under the runqueue's lock: p sends it to itself on its way to user space. */
static void tell_overrun(struct task_struct *p)
{
	WRITE_ONCE(p->dl.overrun, true);
	set_tsk_thread_flag(p, TIF_NOTIFY_RESUME); /* release: a CPU that sees it sees the word above */
}

/* On the way to user space, where signals may be sent. Interrupts on, nothing locked. */
void sched_notify_resume(void)
{
	if (!READ_ONCE(current->dl.overrun))
		return;
	WRITE_ONCE(current->dl.overrun, false);
	send_sig(SIGXCPU, current, 1);
}

/*
 * Charges the running task. When the budget is used up, the task is taken out of the tree and throttled. It may be out
 * of the tree already, on its way to sleep; then its next wake-up looks at the budget.
 */
static void update_curr_dl(struct rq *rq)
{
	struct task_struct *p = rq->curr;
	struct sched_dl_entity *dl = &p->dl;
	s64 delta = rq->clock - p->se.exec_start;

	if (delta <= 0)
		return;
	update_curr_common(rq);
	dl->left -= delta;
	if (dl->left > 0 || !dl->queued)
		return;
	if (dl->flags & SCHED_FLAG_DL_OVERRUN)
		tell_overrun(p);
	unqueue_dl(rq, p);
	if (!dl_throttle(dl, rq->clock))
		queue_dl(rq, p);
	resched_curr(rq);
}

static void dequeue_task_dl(struct rq *rq, struct task_struct *p, int flags)
{
	if (task_current(rq, p))
		update_curr_dl(rq);
	if (p->dl.queued)
		unqueue_dl(rq, p);
}

/* The rest of the budget is given up: the task runs again in its next period. */
static void yield_task_dl(struct rq *rq)
{
	struct task_struct *p = rq->curr;

	update_curr_dl(rq);
	if (!p->dl.queued)
		return;
	unqueue_dl(rq, p);
	p->dl.left = 0;
	if (!dl_throttle(&p->dl, rq->clock))
		queue_dl(rq, p);
}

static void wakeup_preempt_dl(struct rq *rq, struct task_struct *p)
{
	if (p->dl.queued && p->dl.deadline < rq->curr->dl.deadline)
		resched_curr(rq);
}

/*
 * Set the timer for the end of the budget, so that it is noticed when it comes and not at a tick. On the task's own CPU
 * only: code that makes the task of another CPU current (its parameters change) asks that CPU to reschedule, and it
 * passes here itself.
 */
static void dl_start_budget(struct rq *rq, struct task_struct *p)
{
	if (p->dl.queued && rq->cpu == (int)smp_processor_id())
		hrtimer_start(&rq->dl.budget, rq->clock + p->dl.left);
}

/*
 * The running task's budget may be used up. The task for which the timer was set may have gone meanwhile; then the
 * budget of the one that runs now is looked at, if it has any. Context: hard interrupt on this CPU.
 */
static enum hrtimer_restart noinline budget_timer(struct hrtimer *t)
{
	struct rq *rq = container_of(t, struct rq, dl.budget);
	struct task_struct *curr;

	rq_lock(rq);
	curr = rq->curr;
	if (curr->sched_class == &dl_sched_class) {
		update_rq_clock(rq);
		update_curr_dl(rq);
		dl_start_budget(rq, curr);
	}
	rq_unlock(rq);
	return HRTIMER_NORESTART;
}

static void set_next_task_dl(struct rq *rq, struct task_struct *p)
{
	p->se.exec_start = rq->clock;
	dl_start_budget(rq, p);
}

static struct task_struct *pick_next_task_dl(struct rq *rq)
{
	struct rb_node *first = rb_first_cached(&rq->dl.tasks);

	if (!first)
		return NULL;
	set_next_task_dl(rq, task_of(first));
	return task_of(first);
}

static void put_prev_task_dl(struct rq *rq, struct task_struct *p)
{
	update_curr_dl(rq);
	hrtimer_try_to_cancel(&rq->dl.budget); /* if it runs already, it finds another task */
}

static void task_tick_dl(struct rq *rq, struct task_struct *p)
{
	update_curr_dl(rq);
}

/*
 * p waited for its period when its CPU left, and was not in the list of tasks any more, as it exits. It is on no queue.
 * Context: pi_lock, rq locked. Returns the queue on which it is to go on, locked instead.
 */
static struct rq *leave_dead_rq(struct rq *rq, struct task_struct *p)
{
	struct rq *to;

	rq_unlock(rq);
	to = cpu_rq(select_fallback_rq(p));
	double_rq_lock(rq, to);
	set_task_cpu(p, to->cpu);
	rq_unlock(rq);
	update_rq_clock(to);
	return to;
}

/* The next period begins. Context: hard interrupt on any CPU; p cannot go, see dl_task_dead(). */
static enum hrtimer_restart noinline replenish_timer(struct hrtimer *t)
{
	struct task_struct *p = container_of(t, struct task_struct, dl.timer);
	struct sched_dl_entity *dl = &p->dl;
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);

	update_rq_clock(rq);
	if (!dl->throttled)
		goto unlock;
	if (rq->clock < dl->replenish_at) { /* throttled again meanwhile */
		hrtimer_start(t, dl->replenish_at);
		goto unlock;
	}
	if (task_current(rq, p))
		update_curr_dl(rq); /* on its way out still: this belongs to the old budget */
	dl_replenish(dl, rq->clock);
	if (!p->on_rq)
		goto unlock;
	if (unlikely(!cpu_online(rq->cpu)))
		rq = leave_dead_rq(rq, p);
	queue_dl(rq, p);
	if (!task_current(rq, p)) {
		if (tracepoint_key_on(&sched_stat_key))
			sched_stat_queued(rq, p);
		wakeup_preempt(rq, p);
	}
unlock:
	rq_unlock(rq);
	push_tasks(rq);
	spin_unlock_irqrestore(&p->pi_lock, flags);
	return HRTIMER_NORESTART;
}

/* It keeps its budget and deadline for the case that it comes back: it gains nothing by leaving the class. */
static void switched_from_dl(struct rq *rq, struct task_struct *p)
{
	p->dl.throttled = false;
	hrtimer_try_to_cancel(&p->dl.timer);
}

static void switched_to_dl(struct rq *rq, struct task_struct *p)
{
	if (!p->on_rq)
		return;
	if (task_current(rq, p))
		resched_curr(rq);
	else if (p->dl.queued)
		wakeup_preempt(rq, p);
}

static u64 get_rr_interval_dl(struct rq *rq, struct task_struct *p)
{
	return 0;
}

void dl_task_dead(struct task_struct *p)
{
	dl_release(p);
	/* Off its queue for good and TASK_DEAD: the timer is not started any more, but it may be set or running. */
	hrtimer_cancel(&p->dl.timer);
}

const struct sched_class dl_sched_class = {
	.next = &rt_sched_class,
	.enqueue_task = enqueue_task_dl,
	.dequeue_task = dequeue_task_dl,
	.yield_task = yield_task_dl,
	.wakeup_preempt = wakeup_preempt_dl,
	.pick_next_task = pick_next_task_dl,
	.put_prev_task = put_prev_task_dl,
	.set_next_task = set_next_task_dl,
	.select_task_rq = select_task_rq_dl,
	.task_tick = task_tick_dl,
	.update_curr = update_curr_dl,
	.switched_from = switched_from_dl,
	.switched_to = switched_to_dl,
	.get_rr_interval = get_rr_interval_dl,
};
