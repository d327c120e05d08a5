/*
 * RLIMIT_CPU and RLIMIT_RTTIME: CPU time that a process may use, and that a real-time task may use without
 * sleeping. Both are measured and looked at in ticks, as on Linux: a task that sleeps before each tick
 * goes unseen. The interval timers in CPU time use the same measure.
 */
#include <lib/atomic.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/cpu_itimer.h>
#include <time/hrtimer.h>

/*
 * SIGKILL at the hard limit, SIGXCPU at the soft one, which then moves on by a second so that the next signal comes a
 * second later. `second`: how many of the units of `used` and of the limits make a second. Context: the tick's
 * interrupt.
 */
static void check_limit(u64 *limit, u64 used, u64 second)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	int sig = 0;

	if (likely(READ_ONCE(limit[0]) > used && READ_ONCE(limit[1]) > used))
		return;
	sighand = lock_task_sighand(current, &flags); /* setrlimit may be at it */
	if (limit[1] <= used) {
		sig = SIGKILL;
	} else if (limit[0] <= used) {
		sig = SIGXCPU;
		WRITE_ONCE(limit[0], limit[0] + second);
	}
	unlock_task_sighand(sighand, flags);
	if (sig)
		send_sig(sig, current, 1);
}

/*
 * The tick has found `current` running for `delta` ns, in user mode or not: charge its process, and send what its
 * timers and limits ask for. Context: interrupt, interrupts off.
 */
void check_cpu_limits(u64 delta, bool user)
{
	struct task_struct *t = current;
	struct signal_struct *sig = t->signal;
	u64 used;

	if (t->flags & (PF_KTHREAD | PF_EXITING))
		return;
	used = __atomic_add_fetch(&sig->cpu_clock[CPU_CLOCK_ALL], delta, __ATOMIC_RELAXED);
	if (user)
		__atomic_add_fetch(&sig->cpu_clock[CPU_CLOCK_USER], delta, __ATOMIC_RELAXED);
	check_cpu_itimers(sig);
	if (unlikely(sched_clock() >= READ_ONCE(sig->cpu_timers_due)))
		task_parts_cpu_time_due(sig);
	check_limit(sig->rlim[RLIMIT_CPU], used / NSEC_PER_SEC, 1);
	if (t->policy == SCHED_FIFO || t->policy == SCHED_RR)
		check_limit(sig->rlim[RLIMIT_RTTIME], t->rt.timeout / NSEC_PER_USEC, NSEC_PER_SEC / NSEC_PER_USEC);
}
