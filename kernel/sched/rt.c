/*
 * The real-time class: SCHED_FIFO and SCHED_RR. There is a list for each priority, and a bitmap of the lists that are
 * not empty, so the next task is found in constant time:
 *
 *	bitmap	0 0 1 0 ... 1 0
 *	            |       `- queue[97]: D
 *	            `- queue[2]: A (runs) - B - C
 *
 * The running task stays on its list, at the head. So a task that is preempted by a higher priority remains the first
 * of its equals, as POSIX asks for (sched_setscheduler, "Scheduling Policies"); yielding or a spent slice moves it to
 * the end. Priority 0 in this file is the most important. Every function runs with the runqueue locked.
 */
#include "sched.h"

#include <time/hrtimer.h>
#include <trace/events/sched.h>

void init_rt_rq(struct rt_rq *rt)
{
	for (int i = 0; i < MAX_RT_PRIO; i++)
		INIT_LIST_HEAD(&rt->queue[i]);
}

/*
 * Charge the running task up to rq->clock, for classes that have no account of their own. A clock that has not moved
 * charges nothing.
 */
void update_curr_common(struct rq *rq)
{
	struct sched_entity *se = &rq->curr->se;
	s64 delta = rq->clock - se->exec_start;

	if (delta <= 0)
		return;
	trace_sched_stat_runtime(rq->curr, delta);
	se->exec_start = rq->clock;
	se->sum_exec_runtime += delta;
}

/*
 * Tell other CPUs whether there is a task to pull from here. The mask is written only when the answer changes, as all
 * CPUs read its cache line.
 */
void update_rt_overload(struct rq *rq)
{
	bool over = rt_task_waits(rq);

	if (over == cpumask_test_cpu(rq->cpu, &rt_overloaded_mask))
		return;
	if (over)
		cpumask_set_cpu(rq->cpu, &rt_overloaded_mask);
	else
		cpumask_clear_cpu(rq->cpu, &rt_overloaded_mask);
}

/*
 * ENQUEUE_HEAD is for a task whose priority was lowered: it goes in front of its new equals. rt.timeout counts the time
 * without sleeping (RLIMIT_RTTIME), so a wake-up starts it at zero.
 */
static void enqueue_task_rt(struct rq *rq, struct task_struct *p, int flags)
{
	struct rt_rq *rt = &rq->rt;

	if (flags & (ENQUEUE_WAKEUP | ENQUEUE_INITIAL))
		p->rt.timeout = 0;
	if (flags & ENQUEUE_HEAD)
		list_add(&p->rt.run_list, &rt->queue[p->prio]);
	else
		list_add_tail(&p->rt.run_list, &rt->queue[p->prio]);
	rt->bitmap[p->prio / 64] |= BIT(p->prio % 64);
	rt->nr_running++;
	rq->nr_running++;
	rt->nr_migratory += p->nr_cpus_allowed > 1;
	update_rt_overload(rq);
}

/* The running task is charged first, since it may be about to sleep and would not be charged any more. */
static void dequeue_task_rt(struct rq *rq, struct task_struct *p, int flags)
{
	struct rt_rq *rt = &rq->rt;

	if (task_current(rq, p))
		update_curr_common(rq);
	list_del_init(&p->rt.run_list);
	if (list_empty(&rt->queue[p->prio]))
		rt->bitmap[p->prio / 64] &= ~BIT(p->prio % 64);
	rt->nr_running--;
	rq->nr_running--;
	rt->nr_migratory -= p->nr_cpus_allowed > 1;
	update_rt_overload(rq);
}

static void requeue_task_rt(struct rq *rq, struct task_struct *p)
{
	list_move_tail(&p->rt.run_list, &rq->rt.queue[p->prio]);
}

static void yield_task_rt(struct rq *rq)
{
	requeue_task_rt(rq, rq->curr);
}

/* An equal priority does not preempt: it waits for its turn behind the running task. */
static void check_preempt_curr_rt(struct rq *rq, struct task_struct *p)
{
	if (p->prio < rq->curr->prio)
		resched_curr(rq);
}

/* The lowest bit that is set stands for the most important list. The task stays on its list while it runs. */
static struct task_struct *pick_next_task_rt(struct rq *rq)
{
	struct rt_rq *rt = &rq->rt;
	struct task_struct *p;
	int prio;

	if (!rt->nr_running)
		return NULL;
	prio = rt->bitmap[0] ? __builtin_ctzl(rt->bitmap[0]) : 64 + __builtin_ctzl(rt->bitmap[1]);
	p = list_first_entry(&rt->queue[prio], struct task_struct, rt.run_list);
	p->se.exec_start = rq->clock;
	return p;
}

static void put_prev_task_rt(struct rq *rq, struct task_struct *p)
{
	update_curr_common(rq);
}

static void set_next_task_rt(struct rq *rq, struct task_struct *p)
{
	p->se.exec_start = rq->clock;
}

/*
 * A slice of SCHED_RR counts down in ticks; SCHED_FIFO has none. A task alone on its list gets the next slice without a
 * switch.
 */
static void task_tick_rt(struct rq *rq, struct task_struct *p)
{
	struct list_head *queue = &rq->rt.queue[p->prio];

	update_curr_common(rq);
	p->rt.timeout += TICK_NSEC;
	if (p->policy != SCHED_RR)
		return;
	p->rt.time_slice -= TICK_NSEC;
	if (p->rt.time_slice > 0)
		return;
	p->rt.time_slice = RR_TIMESLICE_NS;
	if (queue->next == queue->prev)
		return;
	requeue_task_rt(rq, p);
	resched_curr(rq);
}

/* A task joins the class: it begins with a full slice, and may have to run at once. */
static void switched_to_rt(struct rq *rq, struct task_struct *p)
{
	p->rt.time_slice = RR_TIMESLICE_NS;
	p->rt.timeout = 0;
	if (p->on_rq && !task_current(rq, p))
		wakeup_preempt(rq, p);
}

/* 0 means that the task runs until it gives the CPU up. */
static u64 get_rr_interval_rt(struct rq *rq, struct task_struct *p)
{
	return p->policy == SCHED_RR ? RR_TIMESLICE_NS : 0;
}

const struct sched_class rt_sched_class = {
	.next = &fair_sched_class,
	.enqueue_task = enqueue_task_rt,
	.dequeue_task = dequeue_task_rt,
	.yield_task = yield_task_rt,
	.wakeup_preempt = check_preempt_curr_rt,
	.pick_next_task = pick_next_task_rt,
	.put_prev_task = put_prev_task_rt,
	.set_next_task = set_next_task_rt,
	.select_task_rq = select_task_rq_rt,
	.task_tick = task_tick_rt,
	.update_curr = update_curr_common,
	.switched_to = switched_to_rt,
	.get_rr_interval = get_rr_interval_rt,
};
