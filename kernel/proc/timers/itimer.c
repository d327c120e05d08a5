/* Interval timers: the system calls, and ITIMER_REAL, which sends SIGALRM. The others are in cpu_itimer.c. */
#include <arch/processor.h>
#include <asm/uaccess.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/cpu_itimer.h>
#include <time/hrtimer.h>
#include <time/posix.h>

/*
 * The callback of ITIMER_REAL, in the timer interrupt. The process is found by its number, as it may be
 * ending.
 *
 * An interval timer cannot take the CPU. The callback sends SIGALRM and does not start the timer again; the
 * task that takes the signal does (posixtimer_rearm_itimer). So between two expiries the process runs at
 * least as far as taking a signal, and an interval of a microsecond costs the time of the process that
 * asked for it. If the callback restarted the timer, the CPU would serve timer interrupts and nothing else.
 * Linux does the same.
 */
enum hrtimer_restart noinline it_real_fn(struct hrtimer *t)
{
	struct task_struct *p = find_get_task((long)t->data);

	if (!p)
		return HRTIMER_NORESTART;
	send_sig(SIGALRM, p, 1);
	put_task_struct(p);
	return HRTIMER_NORESTART;
}

/*
 * Start the timer for its next interval. Context: siglock, called by dequeue_signal when SIGALRM is taken.
 *
 * The timer may be queued already: then this SIGALRM came from elsewhere, e.g. kill(2). The callback may be running on
 * another CPU at this moment, for the same reason: it has left the tree and waits for siglock to send. Then
 * the timer is started here, the callback sends one more signal, and the timer is queued once. That the
 * next expiry lies after now, and is no sum that overflowed, is ktime_forward's argument in <time/ktime.h>.
 */
void posixtimer_rearm_itimer(void)
{
	struct signal_struct *sig = current->signal;

	if (!sig->it_interval || sig->real_timer.state)
		return;
	hrtimer_forward(&sig->real_timer, ktime_get(), sig->it_interval);
	hrtimer_start(&sig->real_timer, sig->real_timer.expires);
}

/* Context: siglock. At least a microsecond while it is still to come: 0 would say that it is not set. */
static void read_itimer(struct signal_struct *sig, struct itimerval *out)
{
	u64 left = 0, now = ktime_get();

	if (sig->real_timer.state)
		left = max_t(s64, sig->real_timer.expires - now, NSEC_PER_USEC);
	out->it_value = ns_to_timeval(left);
	out->it_interval = ns_to_timeval(sig->it_interval);
}

/* The time left and the interval, of one moment. Context: a task; takes siglock. */
static void do_getitimer(struct itimerval *out)
{
	spin_lock_irq(&current->sighand->siglock);
	read_itimer(current->signal, out);
	spin_unlock_irq(&current->sighand->siglock);
}

/*
 * Set the timer, value and interval in ns; value 0 stops it. Returns the old setting in *old.
 *
 * The callback takes siglock to send its signal, so waiting for it with siglock held would be a deadlock.
 * Therefore the lock is let go and taken again until the callback is through; `old` is read again each
 * time.
 */
static void do_setitimer(u64 value, u64 interval, struct itimerval *old)
{
	struct signal_struct *sig = current->signal;

	for (;;) {
		spin_lock_irq(&current->sighand->siglock);
		read_itimer(sig, old);
		if (hrtimer_try_to_cancel(&sig->real_timer) >= 0)
			break;
		spin_unlock_irq(&current->sighand->siglock);
		cpu_relax();
	}
	sig->it_interval = value ? interval : 0;
	sig->real_timer.data = (void *)(long)current->tgid;
	if (value)
		hrtimer_start(&sig->real_timer, ktime_add_safe(ktime_get(), value));
	spin_unlock_irq(&current->sighand->siglock);
}

SYSCALL_DEFINE2(getitimer, int, which, struct itimerval __user *, value)
{
	struct itimerval val;

	if (which == ITIMER_REAL)
		do_getitimer(&val);
	else if (which == ITIMER_VIRTUAL || which == ITIMER_PROF)
		get_cpu_itimer(which, &val);
	else
		return -EINVAL;
	return copy_to_user(value, &val, sizeof(val)) ? -EFAULT : 0;
}

/*
 * setitimer(2). No new value means zero, which stops the timer (Linux does the same). The old value is written last:
 * -EFAULT there leaves the new one set, as Linux does.
 */
SYSCALL_DEFINE3(setitimer, int, which, struct itimerval __user *, value, struct itimerval __user *, ovalue)
{
	struct itimerval val = {{0, 0}, {0, 0}}, old;
	u64 first, interval;

	if (value && copy_from_user(&val, value, sizeof(val)))
		return -EFAULT;
	if (get_timeval_ns(&val.it_value, &first) || get_timeval_ns(&val.it_interval, &interval))
		return -EINVAL;
	if (which == ITIMER_REAL)
		do_setitimer(first, interval, &old);
	else if (which == ITIMER_VIRTUAL || which == ITIMER_PROF)
		set_cpu_itimer(which, first, interval, &old);
	else
		return -EINVAL;
	if (ovalue && copy_to_user(ovalue, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

/* Seconds in, seconds out: what was left is rounded, but never to 0, which would say that no alarm was set. */
SYSCALL_DEFINE1(alarm, unsigned int, seconds)
{
	struct itimerval old;

	do_setitimer(seconds * NSEC_PER_SEC, 0, &old);
	if (old.it_value.tv_usec >= 500000 || (!old.it_value.tv_sec && old.it_value.tv_usec))
		old.it_value.tv_sec++;
	return old.it_value.tv_sec;
}
