/* What the scheduler does at each tick. */
#include <arch/processor.h>
#include <proc/resource.h>
#include <time/hrtimer.h>

#include "sched.h"

/*
 * Under an emulator that runs the CPUs in turns, in one thread, a CPU may never get a turn. QEMU's -icount does so: a
 * turn lasts until the next timer of any CPU is due, and a CPU that never waits uses all of it. Nothing of the turn is
 * left for the next CPU then, which also loses its claim to the turn that follows. The same happens at each timer, for
 * seconds: that CPU makes no step although an interrupt is pending for it, and all that waits for it hangs
 * (docs/latency.md, "Several CPUs").
 *
 * A busy CPU can notice that only in its tick. It sees that a timer interrupt of the other CPU is long due, or that the
 * other CPU has been given a task and the clock of its runqueue stands still since. Then cpu_relax() ends this CPU's
 * turn early, and the other CPU gets the rest. It is called several times, because the other CPU's turn ends, too, when
 * it sets its next timer: with one call it would do its tick and nothing else. A CPU that was starved itself and has
 * its tick now sees no other CPU that is late, and goes on.
 *
 * Where CPUs run at the same time this is a look at two words of each CPU. A false alarm costs a few instructions.
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
	check_soft_lockup(rq, user);
}
