/*
 * The stop class: one stopper thread a CPU that runs before everything else and is never preempted. stop_machine and
 * the balancer use it to have a CPU for themselves. There is nothing to queue and nothing to share: a CPU has one
 * stopper, which is on the runqueue or not. Lock: the runqueue's, held in every function here.
 */
#include "sched.h"

static void enqueue_task_stop(struct rq *rq, struct task_struct *p, int flags)
{
	rq->nr_running++; /* the rest are the runqueue's stop pointer and p->on_rq */
}

static void dequeue_task_stop(struct rq *rq, struct task_struct *p, int flags)
{
	update_curr_common(rq);
	rq->nr_running--;
}

static void yield_task_stop(struct rq *rq)
{
	WARN_ON_ONCE(1); /* stoppers end, they do not yield */
}

/* A CPU has one stopper, so it never competes with another. */
static void wakeup_preempt_stop(struct rq *rq, struct task_struct *p)
{
}

/* The highest class is asked first at every switch, so the answer is mostly NULL, and quick. */
static struct task_struct *pick_next_task_stop(struct rq *rq)
{
	struct task_struct *stop = rq->stop;

	if (!stop || !stop->on_rq)
		return NULL;
	stop->se.exec_start = rq->clock;
	return stop;
}

static void put_prev_task_stop(struct rq *rq, struct task_struct *p)
{
	update_curr_common(rq);
}

static void set_next_task_stop(struct rq *rq, struct task_struct *p)
{
	p->se.exec_start = rq->clock;
}

/* A stopper belongs to its CPU. */
static int select_task_rq_stop(struct task_struct *p, int cpu, int flags)
{
	return cpu;
}

/* A stopper has no slice. */
static void task_tick_stop(struct rq *rq, struct task_struct *p)
{
}

static u64 get_rr_interval_stop(struct rq *rq, struct task_struct *p)
{
	return 0;
}

const struct sched_class stop_sched_class = {
	.next = &dl_sched_class,
	.enqueue_task = enqueue_task_stop,
	.dequeue_task = dequeue_task_stop,
	.yield_task = yield_task_stop,
	.wakeup_preempt = wakeup_preempt_stop,
	.pick_next_task = pick_next_task_stop,
	.put_prev_task = put_prev_task_stop,
	.set_next_task = set_next_task_stop,
	.select_task_rq = select_task_rq_stop,
	.task_tick = task_tick_stop,
	.update_curr = update_curr_common,
	.get_rr_interval = get_rr_interval_stop,
};
