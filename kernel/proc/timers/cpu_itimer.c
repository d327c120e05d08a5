/*
 * Interval timers in CPU time of a process: ITIMER_VIRTUAL runs while its threads are in user mode and sends
 * SIGVTALRM, ITIMER_PROF runs in the kernel, too, and sends SIGPROF. As on Linux the ticks measure that time
 * and look at the timers, so an end comes at a tick, and a tick is added to a new timer's time: it is never
 * early.
 */
#include <lib/types.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <time/cpu_itimer.h>
#include <time/hrtimer.h>
#include <time/posix.h>

/* Which of the clocks in signal->cpu_clock drives a timer. */
static enum cpu_clock clock_of(int which)
{
	return which == ITIMER_VIRTUAL ? CPU_CLOCK_USER : CPU_CLOCK_ALL;
}

/*
 * What is left of a timer. One whose time is over while its tick is still to come shows a tick, because 0 would say
 * that it is not set. The interval is shown of a stopped timer, too. [S]
 */
static void read_timer(const struct cpu_itimer *it, u64 now, struct itimerval *out)
{
	u64 left = 0;

	if (it->expires)
		left = it->expires > now ? it->expires - now : TICK_NSEC;
	out->it_value = ns_to_timeval(left);
	out->it_interval = ns_to_timeval(it->interval);
}

void get_cpu_itimer(int which, struct itimerval *out)
{
	struct signal_struct *sig = current->signal;
	enum cpu_clock clock = clock_of(which);

	spin_lock_irq(&current->sighand->siglock);
	read_timer(&sig->cpu_timer[clock], READ_ONCE(sig->cpu_clock[clock]), out);
	spin_unlock_irq(&current->sighand->siglock);
}

void set_cpu_itimer(int which, u64 value, u64 interval, struct itimerval *old)
{
	struct signal_struct *sig = current->signal;
	enum cpu_clock clock = clock_of(which);
	struct cpu_itimer *it = &sig->cpu_timer[clock];
	u64 now;

	spin_lock_irq(&current->sighand->siglock);
	now = READ_ONCE(sig->cpu_clock[clock]);
	read_timer(it, now, old);
	it->interval = interval;
	WRITE_ONCE(it->expires, value ? ktime_add_safe(now, ktime_add_safe(value, TICK_NSEC)) : 0);
	spin_unlock_irq(&current->sighand->siglock);
}

/*
 * One timer, at a tick. The first look is without a lock, since nearly always nothing is due; setitimer may change
 * the timer until the lock is held, so the second look decides.
 */
static void check_timer(struct cpu_itimer *it, u64 now, int signo)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	bool over;

	/* 0, which is a stopped timer, becomes the latest time. */
	if (likely(READ_ONCE(it->expires) - 1 >= now))
		return;
	sighand = lock_task_sighand(current, &flags);
	over = it->expires && it->expires <= now;
	if (over)
		WRITE_ONCE(it->expires, it->interval ? ktime_add_safe(it->expires, it->interval) : 0);
	unlock_task_sighand(sighand, flags);
	if (over)
		send_sig(signo, current, 1);
}

void check_cpu_itimers(struct signal_struct *sig)
{
	check_timer(&sig->cpu_timer[CPU_CLOCK_USER], READ_ONCE(sig->cpu_clock[CPU_CLOCK_USER]), SIGVTALRM);
	check_timer(&sig->cpu_timer[CPU_CLOCK_ALL], READ_ONCE(sig->cpu_clock[CPU_CLOCK_ALL]), SIGPROF);
}
