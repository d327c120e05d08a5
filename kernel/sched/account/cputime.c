/*
 * CPU time of tasks and CPUs. The sum of a task's time is exact, as each switch charges it in nanoseconds
 * (se.sum_exec_runtime). How much of it was in user mode and how much in the kernel is only sampled by ticks (utime,
 * stime): looking at the clock at each system call would cost more than the answer is worth.
 */
#include <asm/ptrace.h>
#include <irq/irq.h>

#include "../sched.h"

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

/* A running task is charged first. */
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

/*
 * Split the exact sum in the proportion that the ticks saw. When no tick saw the task in user mode, all of it counts
 * as system time: a task that always sleeps before the tick comes is mostly woken and put to sleep.
 */
static void split_cputime(u64 total, u64 ut, u64 st, u64 *utime, u64 *stime)
{
	if (!ut) {
		*utime = 0;
		*stime = total;
		return;
	}
	/*
	 * The products below must fit into 64 bits: with both weights below 2^31, the whole and the remainder of the
	 * quotient each do. Only the proportion matters, so low bits may go.
	 */
	while ((ut | st) >> 31) {
		ut >>= 1;
		st >>= 1;
	}
	*utime = total / (ut + st) * ut + total % (ut + st) * ut / (ut + st);
	*stime = total - *utime;
}

static DEFINE_SPINLOCK(shown_lock); /* innermost; irqsave */

/*
 * The proportion changes with each tick, so the part that grows slower would be less than before now and then: top,
 * which subtracts two readings, would show millions of percent. So the parts that were shown last are the least that is
 * shown, and a reader that comes with an older total gets them as they are.
 */
void cputime_settle(struct cputime_shown *shown, u64 total, u64 ut, u64 st, u64 *utime, u64 *stime)
{
	unsigned long flags;
	u64 user, system;

	split_cputime(total, ut, st, &user, &system);
	spin_lock_irqsave(&shown_lock, flags);
	if (total > shown->utime + shown->stime) {
		shown->utime = clamp(user, shown->utime, total - shown->stime);
		shown->stime = total - shown->utime;
	}
	*utime = shown->utime;
	*stime = shown->stime;
	spin_unlock_irqrestore(&shown_lock, flags);
}

void task_cputime_adjusted(struct task_struct *p, u64 *utime, u64 *stime)
{
	cputime_settle(&p->shown, task_sched_runtime(p), READ_ONCE(p->utime), READ_ONCE(p->stime), utime, stime);
}

/*
 * User and system are sampled by ticks, idle is exact. An interrupt's time counts to the task that it has interrupted.
 */
void cpu_times_ns(int cpu, u64 *user, u64 *system, u64 *idle)
{
	struct rq *rq = cpu_rq(cpu);

	*user = READ_ONCE(rq->user_ns);
	*system = READ_ONCE(rq->system_ns);
	*idle = cpu_idle_ns(cpu);
}
