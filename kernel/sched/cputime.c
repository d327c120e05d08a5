/* CPU time of tasks and CPUs: exact in sum, sampled by ticks as to user and system. */
#include <asm/ptrace.h>
#include <irq/irq.h>

#include "sched.h"

/* A tick found p running, `delta` ns after the last: true in user mode. Context: the tick's interrupt, rq locked. */
bool account_process_tick(struct rq *rq, struct task_struct *p, u64 delta)
{
	struct pt_regs *regs = get_irq_regs();
	bool user = regs && user_mode(regs);

	if (is_idle_task(p))
		return false;
	if (user) {
		p->utime += delta;
		rq->user_ns += delta;
	} else {
		p->stime += delta;
		rq->system_ns += delta;
	}
	return user;
}

u64 task_sched_runtime(struct task_struct *p)
{
	unsigned long flags;
	struct rq *rq = task_rq_lock(p, &flags);
	u64 ns;

	if (task_current(rq, p) && p->on_rq) {
		update_rq_clock(rq);
		p->sched_class->update_curr(rq);
	}
	ns = p->se.sum_exec_runtime;
	task_rq_unlock(rq, p, flags);
	return ns;
}

/* Split the exact sum in the proportion that the ticks saw; no tick saw it: system, since it slept before one
 * came. */
static void split(u64 total, u64 ut, u64 st, u64 *utime, u64 *stime)
{
	if (!ut) {
		*utime = 0;
		*stime = total;
		return;
	}
	/* In 64 bits: both weights below 2^31, then whole and remainder of the quotient each fit. */
	while ((ut | st) >> 31) {
		ut >>= 1;
		st >>= 1;
	}
	*utime = total / (ut + st) * ut + total % (ut + st) * ut / (ut + st);
	*stime = total - *utime;
}

void task_cputime_adjusted(struct task_struct *p, u64 *utime, u64 *stime)
{
	split(task_sched_runtime(p), READ_ONCE(p->utime), READ_ONCE(p->stime), utime, stime);
}

void cpu_times_ns(int cpu, u64 *user, u64 *system, u64 *idle)
{
	struct rq *rq = cpu_rq(cpu);

	*user = READ_ONCE(rq->user_ns);
	*system = READ_ONCE(rq->system_ns);
	*idle = cpu_idle_ns(cpu);
}
