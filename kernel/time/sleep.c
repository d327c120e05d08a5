/*
 * Sleeping for a time: in the kernel, and the system calls nanosleep and clock_nanosleep.
 *
 * A sleeper lies on the stack of its task, with an hrtimer in it. The task sets its state, starts the timer
 * and calls schedule(); the timer's callback clears `task` and wakes it. Times are absolute on the
 * monotonic clock, in ns, so that a sleep that was interrupted goes on to the same end.
 */
#include <asm/uaccess.h>
#include <kernel/export.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/posix.h>
#include <time/vdso.h>

/* A sleep in progress, on the sleeper's stack. */
struct hrtimer_sleeper {
	struct hrtimer timer;
	struct task_struct *task; /* NULL once the time has come [written by the callback] */
};

static enum hrtimer_restart noinline hrtimer_wakeup(struct hrtimer *t)
{
	struct hrtimer_sleeper *s = container_of(t, struct hrtimer_sleeper, timer);
	struct task_struct *task = s->task;

	/* Before the wake-up, whose barrier orders it. The sleeper's stack stays: its hrtimer_cancel waits for us. */
	WRITE_ONCE(s->task, NULL);
	wake_up_process(task);
	return HRTIMER_NORESTART;
}

/* Prepare a sleep of the current task. Nothing has to be undone when no timer is started. */
static void sleeper_init(struct hrtimer_sleeper *s)
{
	hrtimer_init(&s->timer, hrtimer_wakeup);
	s->task = current;
}

/* One sleep in the state that is set. Returns whether the time has come; other wake-ups end it, too. */
static bool sleep_once(struct hrtimer_sleeper *s, ktime_t expires)
{
	hrtimer_start(&s->timer, expires);
	if (likely(READ_ONCE(s->task)))
		schedule();
	hrtimer_cancel(&s->timer);
	__set_current_state(TASK_RUNNING);
	return !s->task;
}

/*
 * Sleep until `expires`. A wake-up that comes for another reason only goes round the loop. The state is set
 * before the timer is started: a timer that fires at once finds a sleeper. Returns 0, or -ERESTARTNOHAND
 * for a signal.
 */
static int noinline do_nanosleep(struct hrtimer_sleeper *s, ktime_t expires, unsigned state)
{
	for (;;) {
		set_current_state(state);
		if (sleep_once(s, expires))
			return 0;
		if ((state & TASK_INTERRUPTIBLE) && signal_pending(current))
			return -ERESTARTNOHAND;
	}
}

int hrtimer_sleep_until(ktime_t expires, unsigned state)
{
	struct hrtimer_sleeper s;

	sleeper_init(&s);
	return do_nanosleep(&s, expires, state);
}

s64 schedule_timeout_ns(s64 timeout)
{
	struct hrtimer_sleeper s;
	ktime_t expires;

	if (timeout <= 0) {
		__set_current_state(TASK_RUNNING);
		return 0;
	}
	expires = ktime_add_safe(ktime_get(), timeout);
	sleeper_init(&s);
	if (sleep_once(&s, expires))
		return 0;
	return max_t(s64, expires - ktime_get(), 0);
}
EXPORT_SYMBOL(schedule_timeout_ns);

/* Write the time that is left to the user; 0 when it is over. 0 or -EFAULT. */
static int put_remaining(struct timespec __user *rmtp, ktime_t expires)
{
	ktime_t now = ktime_get();

	return put_timespec_ns(rmtp, expires > now ? expires - now : 0);
}

/* Relative sleeps go on after a signal with the same end (restart_syscall), not from their beginning. */
static long nanosleep_restart(struct task_struct *t);

/*
 * Sleep; when a signal interrupts, write what is left of the time and note how to go on (restart_syscall). Returns 0,
 * -EFAULT or -ERESTART_RESTARTBLOCK, which becomes -EINTR when a handler runs.
 */
static long noinline hrtimer_nanosleep(ktime_t expires, struct timespec __user *rmtp)
{
	int ret = hrtimer_sleep_until(expires, TASK_INTERRUPTIBLE);

	if (!ret)
		return 0;
	if (rmtp && put_remaining(rmtp, expires))
		return -EFAULT;
	current->restart_fn = nanosleep_restart;
	current->restart_data[0] = expires;
	current->restart_data[1] = (unsigned long)rmtp;
	return -ERESTART_RESTARTBLOCK;
}

static long nanosleep_restart(struct task_struct *t)
{
	return hrtimer_nanosleep(t->restart_data[0], (struct timespec __user *)t->restart_data[1]);
}

SYSCALL_DEFINE2(nanosleep, struct timespec __user *, rqtp, struct timespec __user *, rmtp)
{
	u64 ns;
	int ret = get_timespec_ns(rqtp, &ns);

	return ret ? ret : hrtimer_nanosleep(ktime_add_safe(ktime_get(), ns), rmtp);
}

/*
 * Translate an absolute time of the given clock into our monotonic one. If the wall clock is set during the
 * sleep, the end does not move (Linux's does).
 */
static ktime_t absolute_end(int clock, u64 ns)
{
	u64 offset = clock == CLOCK_REALTIME || clock == CLOCK_TAI ? wall_clock_offset() : 0;

	return ns > offset ? ns - offset : 0;
}

/*
 * clock_nanosleep(2). A relative sleep writes what is left of it (rmtp) when a signal ends it; an absolute one does
 * not, as it can be repeated as it is. -EOPNOTSUPP for clocks that exist but do not serve for sleeping, -EINVAL,
 * -EFAULT, -EINTR.
 */
SYSCALL_DEFINE4(clock_nanosleep, const clockid_t, which_clock, int, flags, const struct timespec __user *, rqtp,
		struct timespec __user *, rmtp)
{
	u64 ns;
	int ret;

	switch (which_clock) {
	case CLOCK_REALTIME:
	case CLOCK_TAI:
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
		break;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
	ret = get_timespec_ns(rqtp, &ns);
	if (ret)
		return ret;
	if (!(flags & TIMER_ABSTIME))
		return hrtimer_nanosleep(ktime_add_safe(ktime_get(), ns), rmtp);
	return hrtimer_sleep_until(absolute_end(which_clock, ns), TASK_INTERRUPTIBLE);
}
