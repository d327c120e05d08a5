/* What the scheduler does at each tick. */
#include <arch/processor.h>
#include <proc/resource.h>
#include <time/hrtimer.h>

#include "sched.h"

/*
 * Under an emulator that runs the CPUs in turns, in one thread, a CPU may be left without any. QEMU's -icount
 * does so: a turn lasts until the next timer of anybody is due, and a CPU that never waits uses all of it.
 * The next CPU is then given what is left, nothing, and loses its claim to the turn that follows. So it goes
 * at each timer, for seconds: that CPU stands where an interrupt is pending for it, and whoever waits for it
 * hangs (docs/latency.md, "Several CPUs").
 *
 * A busy CPU has nothing but its tick in which to notice. What it sees: a timer interrupt of the other CPU is
 * long due, or that CPU has been given a task and its runqueue's clock stands still since. cpu_relax() then
 * ends our turn before its time, and what is left is the other's. Several times, as to set its next timer
 * ends a turn of the other, too: one would do for its tick and for nothing else. A CPU that was starved and
 * has its tick sees nobody late, and goes on.
 *
 * Where CPUs run at the same time this is a look at two words of each CPU. A false alarm costs a few
 * instructions.
 */
#define LATE_NS	    ((s64)TICK_NSEC / 4)
#define STANDING_NS ((s64)TICK_NSEC * 2)
#define TURNS_GIVEN 4

static bool cpu_starves(unsigned cpu, u64 now)
{
	const struct rq *rq = cpu_rq(cpu);

	if (hrtimers_late_by(cpu, now) > LATE_NS)
		return true;
	return READ_ONCE(rq->nr_running) && (s64)(now - READ_ONCE(rq->clock)) > STANDING_NS;
}

static void give_turns(u64 now)
{
	unsigned cpu, self = smp_processor_id();

	for_each_online_cpu(cpu)
		if (cpu != self && cpu_starves(cpu, now)) {
			for (unsigned i = 0; i < TURNS_GIVEN; i++)
				cpu_relax();
			return;
		}
}

/* Context: the tick's timer callback, interrupts off; the running task is not idle. */
void noinline scheduler_tick(void)
{
	struct rq *rq = this_rq();
	struct task_struct *curr = rq->curr;
	bool user;

	rq_lock(rq);
	update_rq_clock(rq);
	user = account_process_tick(rq, curr, TICK_NSEC);
	curr->sched_class->task_tick(rq, curr);
	rq_unlock(rq);
	check_cpu_limits(TICK_NSEC, user);
	trigger_load_balance(rq);
	calc_global_load(rq->clock);
	give_turns(rq->clock);
}
