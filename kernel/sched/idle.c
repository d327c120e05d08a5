/*
 * The idle class and the idle loop: what a CPU does when nothing is runnable.
 *
 * A waiting CPU can be told of new work in two ways. While it polls need_resched (TIF_POLLING_NRFLAG is set) setting
 * the flag is enough. While it waits for an interrupt it must get one. Which of the two holds is in the same word as
 * the flag, so the other side cannot be wrong about it (resched_curr, default_idle_call).
 */
#include "sched.h"

#include <arch/processor.h>
#include <irq/softirq.h>
#include <kernel/printk.h>
#include <sched/cpuhp.h>
#include <sched/cpuidle.h>
#include <time/hrtimer.h>
#include <trace/events/power.h>

/*
 * The idle task is on no queue: it is what remains when every class above has nothing. So it is neither enqueued nor
 * dequeued.
 */
static void enqueue_task_idle(struct rq *rq, struct task_struct *p, int flags)
{
	BUG();
}

static void dequeue_task_idle(struct rq *rq, struct task_struct *p, int flags)
{
	BUG(); /* the idle task slept */
}

static void yield_task_idle(struct rq *rq)
{
}

/* Any task runs before the idle task. */
static void wakeup_preempt_idle(struct rq *rq, struct task_struct *p)
{
	resched_curr(rq);
}

/* The mask is a hint for the other CPUs' balancing. */
static void set_next_task_idle(struct rq *rq, struct task_struct *p)
{
	rq->idle_since = rq->clock;
	cpumask_set_cpu(rq->cpu, &idle_cpus_mask);
}

static struct task_struct *pick_next_task_idle(struct rq *rq)
{
	set_next_task_idle(rq, rq->idle);
	return rq->idle;
}

/* Idle time is measured exactly, from switch to switch. */
static void put_prev_task_idle(struct rq *rq, struct task_struct *p)
{
	cpumask_clear_cpu(rq->cpu, &idle_cpus_mask);
	rq->idle_ns += rq->clock - rq->idle_since;
	rq->idle_since = 0;
}

static int select_task_rq_idle(struct task_struct *p, int cpu, int flags)
{
	return cpu;
}

static void task_tick_idle(struct rq *rq, struct task_struct *p)
{
}

static void update_curr_idle(struct rq *rq)
{
}

static u64 get_rr_interval_idle(struct rq *rq, struct task_struct *p)
{
	return 0;
}

const struct sched_class idle_sched_class = {
	.next = NULL,
	.enqueue_task = enqueue_task_idle,
	.dequeue_task = dequeue_task_idle,
	.yield_task = yield_task_idle,
	.wakeup_preempt = wakeup_preempt_idle,
	.pick_next_task = pick_next_task_idle,
	.put_prev_task = put_prev_task_idle,
	.set_next_task = set_next_task_idle,
	.select_task_rq = select_task_rq_idle,
	.task_tick = task_tick_idle,
	.update_curr = update_curr_idle,
	.get_rr_interval = get_rr_interval_idle,
};

/* With the period that is under way, if the CPU idles now. */
u64 cpu_idle_ns(int cpu)
{
	unsigned long flags;
	struct rq *rq = rq_lock_irqsave(cpu, &flags);
	u64 ns = rq->idle_ns;

	if (rq->curr == rq->idle && !rq->offline_since)
		ns += sched_clock() - rq->idle_since;
	rq_unlock_irqrestore(rq, flags);
	return ns;
}

/* How long a CPU was not there since it first came up; an absence that lasts counts up to now. */
u64 cpu_offline_ns(int cpu)
{
	unsigned long flags;
	struct rq *rq = rq_lock_irqsave(cpu, &flags);
	u64 ns = rq->offline_ns;

	if (rq->offline_since)
		ns += sched_clock() - rq->offline_since;
	rq_unlock_irqrestore(rq, flags);
	return ns;
}

/* The CPU's times stand still from now on, and balancing does not take it for an idle CPU. init_idle() undoes that. */
void sched_cpu_dead(void)
{
	struct rq *rq = this_rq();

	rq_lock(rq);
	update_rq_clock(rq);
	rq->idle_ns += rq->clock - rq->idle_since;
	rq->offline_since = rq->clock;
	rq_unlock(rq);
	cpumask_clear_cpu(rq->cpu, &idle_cpus_mask);
}

static inline bool idle_has_work(void)
{
	return need_resched() || local_softirq_pending();
}

/*
 * While the CPU waits, no task is delayed, so the latency tracers stop measuring; interrupts that come are measured
 * from their own entry. A probe of the event cpu_idle may wake a task of this CPU (tp_printk does so through the
 * console), and no interrupt follows from that. So the last look is here, and nothing between it and the wait can be
 * traced. Interrupts are off; an interrupt that is pending ends the machine's wait all the same.
 *
 * The readers of the log are woken by a tick. When an interrupt, or a probe of these events, has printed since the tick
 * of this CPU ended, no other CPU may have one either, so it gets one more.
 */
static inline void wait_for_interrupt(void)
{
	u64 start;

	trace_power_start(POWER_CSTATE, CPUIDLE_SLEEP, smp_processor_id());
	trace_cpu_idle(CPUIDLE_SLEEP, smp_processor_id());
	if (unlikely(READ_ONCE(printk_wake_pending)))
		tick_nohz_idle_keep();
	stop_critical_timings();
	start = sched_clock();
	if (!idle_has_work())
		arch_cpu_idle();
	cpuidle_account(CPUIDLE_SLEEP, start);
	start_critical_timings();
	trace_cpu_idle(PWR_EVENT_EXIT, smp_processor_id());
	trace_power_end(smp_processor_id());
}

/*
 * Wait for an interrupt. From here to the wait this CPU must be interrupted to make it reschedule. Clearing the polling
 * bit and setting need_resched are atomic operations on one word: either the test below sees need_resched, or the CPU
 * that sets it sees that this one does not poll, and sends an interrupt, which stays pending and ends the wait.
 */
static void noinline default_idle_call(void)
{
	u64 start = sched_clock();

	local_irq_disable();
	clear_tsk_thread_flag(current, TIF_POLLING_NRFLAG);
	if (!idle_has_work())
		wait_for_interrupt();
	else
		cpuidle_account(CPUIDLE_POLL, start);
	set_tsk_thread_flag(current, TIF_POLLING_NRFLAG);
	local_irq_enable();
}

/* One idle period: from when nothing is runnable until something may be. The tick is stopped meanwhile. */
static void noinline do_idle(void)
{
	tick_nohz_idle_enter();
	set_tsk_thread_flag(current, TIF_POLLING_NRFLAG);
	while (!need_resched()) {
		if (unlikely(local_softirq_pending()))
			do_softirq(); /* marked, not raised: no interrupt has served it yet */
		default_idle_call();
	}
	clear_tsk_thread_flag(current, TIF_POLLING_NRFLAG);
	tick_nohz_idle_exit();
	schedule_idle();
}

/* Not traced, like cpuhp_idle_dead(): a CPU that comes back begins with it once more, and it never returns. */
notrace void cpu_startup_entry(void)
{
	while (likely(this_rq()->online))
		do_idle();
	cpuhp_idle_dead();
}
