/*
 * Waking tasks: try_to_wake_up, new tasks, and why no wake-up is lost.
 *
 * THE ORDERING ARGUMENT
 *
 * Four words decide: p->state (written by p before it sleeps, by its waker after), p->on_rq (runqueue lock),
 * p->on_cpu (set before p's context is loaded, cleared with release when it is saved) and p->cpu (see
 * sched.h). pi_lock serialises the wakers of one task.
 *
 * 1. The sleep that is not missed. Sleeper: state = S; full barrier; read the condition. Waker: write the
 * condition; full barrier (below, after pi_lock); read the state. One of the two reads sees the other's write
 * (store buffering with a full barrier on both sides): the sleeper does not sleep, or the waker wakes it.
 *
 * 2. on_rq after state. Sleeper in __schedule, rq locked: reads state, then on_rq = 0 (release). If it goes to sleep
 * again later: on_rq = 1 by the waker, before p sees state = RUNNING; then p stores state = S, then on_rq = 0. The
 * waker reads state, then on_rq, with a read barrier between. If it sees the new S, it cannot see an on_rq older than
 * the 1 that p ran with; so "state says asleep, on_rq 1" means that p is still on its queue or on the way off it.
 * ttwu_runnable finds out which, under the runqueue lock, where the two are consistent.
 *
 * 3. on_cpu after on_rq. Switching in: on_cpu = 1 before p runs at all, thus before it can store on_rq = 0.
 * The waker reads on_rq = 0 (acquire, pairs with the release in deactivate_task), then on_cpu: it sees the 1
 * of the run in which p went to sleep, or a later 0. It then waits for 0 with acquire, which pairs with the
 * release in finish_task_switch: all of p's registers are saved, and everything p did before is visible to
 * the CPU that will run it next.
 *
 * 4. The wait in 3 ends: it is made with interrupts off and pi_lock held, without a runqueue lock, and the
 * CPU that is switching p out takes no pi_lock on its way to finish_task_switch.
 *
 * 5. The wake-up carries data. Waker's writes, then the runqueue lock (release on unlock); the CPU that picks
 * p takes that lock: p sees all that the waker wrote before.
 */
#include "sched.h"

#include <kernel/export.h>
#include <mm/mm.h>
#include <trace/events/sched.h>

/* p is on rq and is to run. Context: rq locked. */
static inline void ttwu_do_wakeup(struct task_struct *p)
{
	WRITE_ONCE(p->state, TASK_RUNNING);
	trace_sched_wakeup(p);
}

/* p has not left its queue yet: clearing its state is the whole wake-up. False when it has left in the meantime. */
static bool ttwu_runnable(struct task_struct *p)
{
	struct rq *rq = __task_rq_lock(p);
	bool queued = p->on_rq;

	if (queued) {
		/* Preempted between setting its state and sleeping: it waits for a CPU like one just woken. */
		if (!task_current(rq, p)) {
			update_rq_clock(rq);
			wakeup_preempt(rq, p);
		}
		ttwu_do_wakeup(p);
	}
	rq_unlock(rq);
	return queued;
}

static void ttwu_do_activate(struct rq *rq, struct task_struct *p, int flags)
{
	if (p->contributes_to_load) {
		rq->nr_uninterruptible--;
		p->contributes_to_load = false;
	}
	if (tracepoint_key_on(&sched_stat_key))
		sched_stat_wake(rq, p);
	activate_task(rq, p, flags | ENQUEUE_WAKEUP);
	wakeup_preempt(rq, p);
	ttwu_do_wakeup(p);
}

/*
 * Put p on cpu's queue. Also another CPU's queue is changed directly: one lock that is held for a short time costs less
 * than to interrupt that CPU when p does not preempt there. Context: pi_lock.
 */
static void ttwu_queue(struct task_struct *p, int cpu, int flags)
{
	struct rq *rq = cpu_rq(cpu);

	rq_lock(rq);
	update_rq_clock(rq);
	ttwu_do_activate(rq, p, flags);
	rq_unlock(rq);
	/* Placed behind a more important one that came at the same time: some other CPU may be free for it. */
	push_tasks(rq);
}

/*
 * A task "wakes" itself before it has slept, or an interrupt on top of it does. No other code changes its state
 * meanwhile.
 */
static bool wake_current(struct task_struct *p, unsigned mask)
{
	unsigned long flags;
	bool match;

	local_irq_save(flags);
	match = READ_ONCE(p->state) & mask;
	if (match) {
		trace_sched_waking(p);
		ttwu_do_wakeup(p);
	}
	local_irq_restore(flags);
	return match;
}

/* p sleeps, its state is ours to change: find it a CPU and queue it there. Context: pi_lock. */
static void wake_sleeping(struct task_struct *p)
{
	int cpu, flags = 0;

	WRITE_ONCE(p->state, TASK_WAKING);
	while (smp_load_acquire(&p->on_cpu)) /* point 3 */
		cpu_relax();
	cpu = select_task_rq(p, p->cpu, WF_TTWU);
	if (cpu != p->cpu) {
		flags |= ENQUEUE_MIGRATED;
		set_task_cpu(p, cpu);
	}
	ttwu_queue(p, cpu, flags);
}

/*
 * Three cases, the cheapest first: the task is the current one; it is on a queue or still runs; it sleeps. Points 1 and
 * 2 are those of the argument above.
 */
bool noinline try_to_wake_up(struct task_struct *p, unsigned mask)
{
	unsigned long flags;
	bool woken = false;

	if (p == current)
		return wake_current(p, mask);
	spin_lock_irqsave(&p->pi_lock, flags);
	smp_mb(); /* point 1 */
	if (!(READ_ONCE(p->state) & mask))
		goto unlock;
	woken = true;
	trace_sched_waking(p);
	smp_rmb(); /* point 2 */
	if (smp_load_acquire(&p->on_rq) && ttwu_runnable(p))
		goto unlock;
	wake_sleeping(p);
unlock:
	spin_unlock_irqrestore(&p->pi_lock, flags);
	return woken;
}
EXPORT_SYMBOL(try_to_wake_up);

bool noinline wake_up_process(struct task_struct *p)
{
	return try_to_wake_up(p, TASK_NORMAL);
}
EXPORT_SYMBOL(wake_up_process);

bool wake_up_state(struct task_struct *p, unsigned mask)
{
	return try_to_wake_up(p, mask);
}

/*
 * A task's first wake-up: it has no CPU yet, no sleep to end, and cannot be found by another waker, so there is no
 * race. Thread context; fork.
 */
void wake_up_new_task(struct task_struct *p)
{
	unsigned long flags;
	struct rq *rq;

	spin_lock_irqsave(&p->pi_lock, flags);
	WRITE_ONCE(p->state, TASK_RUNNING);
	__set_task_cpu(p, select_task_rq(p, p->cpu, WF_FORK));
	rq = __task_rq_lock(p);
	update_rq_clock(rq);
	if (tracepoint_key_on(&sched_stat_key))
		sched_stat_queued(rq, p);
	activate_task(rq, p, ENQUEUE_INITIAL);
	trace_sched_wakeup_new(p);
	wakeup_preempt(rq, p);
	rq_unlock(rq);
	push_tasks(rq); /* as in ttwu_queue */
	spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* What the child does not inherit. */
static void __sched_fork(struct task_struct *p)
{
	p->on_rq = 0;
	p->on_cpu = 0;
	p->nvcsw = p->nivcsw = 0;
	p->utime = p->stime = 0;
	p->shown = (struct cputime_shown){0};
	p->contributes_to_load = false;
	p->stat.kind = SCHED_STAT_NONE;
	p->thread_flags &= ~(_TIF_NEED_RESCHED | _TIF_POLLING_NRFLAG);
	p->preempt_count = SCHED_SWITCH_PREEMPT_COUNT;
	spin_lock_init(&p->pi_lock);
	p->se = (struct sched_entity){.weight = p->se.weight, .inv_weight = p->se.inv_weight};
	RB_CLEAR_NODE(&p->se.run_node);
	INIT_LIST_HEAD(&p->rt.run_list);
	p->rt.time_slice = RR_TIMESLICE_NS;
	init_dl_entity(&p->dl);
}

/*
 * What sched(7) says of SCHED_RESET_ON_FORK: a child is not real time, nor nicer than 0; batch and idle tasks stay so.
 */
static void reset_policy(struct task_struct *p)
{
	if (rt_prio(p->normal_prio)) {
		p->policy = SCHED_NORMAL;
		p->rt_priority = 0;
		p->static_prio = DEFAULT_PRIO;
	}
	p->static_prio = max(p->static_prio, DEFAULT_PRIO);
	p->normal_prio = p->static_prio;
	p->sched_reset_on_fork = false;
	set_load_weight(p);
}

/* -EAGAIN for a deadline task's child: it would have to be admitted, too. */
int sched_fork(struct task_struct *p, u64 clone_flags)
{
	/* It must not be woken or moved before wake_up_new_task. */
	p->state = TASK_NEW;
	p->flags &= ~PF_NO_SETAFFINITY;
	__sched_fork(p);
	if (p->sched_reset_on_fork)
		reset_policy(p);
	p->pi_prio = MAX_PRIO; /* what its parent was lent is not the child's */
	p->prio = p->normal_prio;
	if (dl_prio(p->prio))
		return -EAGAIN;
	p->sched_class = rt_prio(p->prio) ? &rt_sched_class : &fair_sched_class;
	p->cpu = smp_processor_id();
	return 0;
}
