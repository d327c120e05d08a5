/* What the scheduler does at each tick. */
#include <proc/resource.h>
#include <time/hrtimer.h>

#include "sched.h"

/* Context: the tick's timer callback, interrupts off; the running task is not idle. */
void noinline scheduler_tick(void)
{
	struct rq *rq = this_rq();
	struct task_struct *curr = rq->curr;

	rq_lock(rq);
	update_rq_clock(rq);
	account_process_tick(rq, curr, TICK_NSEC);
	curr->sched_class->task_tick(rq, curr);
	rq_unlock(rq);
	check_cpu_limits(TICK_NSEC);
	trigger_load_balance(rq);
	calc_global_load(rq->clock);
}
