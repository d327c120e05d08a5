/*
 * timer_create(2) and its relatives: timers of a process, which send a signal when they expire.
 *
 * A timer of a clock that always runs is an hrtimer. When it fires it sends its signal and is not started again; the
 * task that takes the signal starts it for the next moment that lies in the future, and the moments in between are the
 * signal's overrun. So an interval of a nanosecond costs the time of the process that asked for it. If its signal is
 * ignored, no task takes it: such a timer goes on by itself, at most once a tick.
 *
 * A timer of CPU time is looked at by the ticks that find a thread of its process running. Reading the clock of a
 * process with many threads takes long, so a look also computes when the next one is worth it: a process cannot use up
 * what is left sooner than if it ran on all CPUs.
 *
 * A time of CLOCK_REALTIME is turned into one of the monotonic clock when it is set, and does not follow a clock that
 * is set later.
 *
 * Everything here is under the siglock of the process [S]. A timer is found by the process's list, so once it is off
 * the list, with its hrtimer cancelled and its signal taken back, no other context can reach it.
 */
#include <arch/processor.h>
#include <asm/uaccess.h>
#include <kernel/smp.h>
#include <lib/list.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/posix.h>
#include <time/vdso.h>

typedef int timer_t;

/* As timer_create(2) takes it. */
struct sigevent {
	u64 sigev_value;
	int sigev_signo, sigev_notify, sigev_tid, pad[11];
};
static_assert(sizeof(struct sigevent) == 64);

/* Locks: S siglock of its process; I immutable. */
struct k_itimer {
	struct list_head list; /* [S] signal->posix_timers */
	struct hrtimer timer;  /* of a clock that always runs */
	struct sigqueue *q;    /* [S] its signal's entry */
	struct task_struct
		*of; /* [I] whose CPU time it counts, with a reference: a thread, or its process; NULL: no CPU time */
	struct task_struct *thread; /* [I] of SIGEV_THREAD_ID, with a reference, as its number may be given again */
	int id, clock;		    /* [I] */
	int notify, signo;	    /* [I] SIGEV_* */
	pid_t tgid;		    /* [I] its process */
	u64 value;		    /* [I] what its signal carries */
	ktime_t expires;	    /* [S] by its clock (the monotonic one but for CPU time); 0: the timer is off */
	ktime_t interval;	    /* [S] 0: it expires once */
	bool fired;		    /* [S] it expired at `expires`, and waits for its signal to be taken */
	u64 overrun;		    /* [S] of the last signal that was taken */
	u64 lost;		    /* [S] expirations whose signal was ignored or thrown away: of the next overrun */
};

static bool counts_thread(const struct k_itimer *t)
{
	return t->clock == CLOCK_THREAD_CPUTIME_ID;
}

/* The clock that `expires` is compared with. [S] */
static ktime_t timer_now(const struct k_itimer *t)
{
	u64 utime, stime;

	if (!t->of)
		return ktime_get();
	if (counts_thread(t))
		return task_sched_runtime(t->of);
	thread_group_cputime_locked(t->of, &utime, &stime);
	return utime + stime;
}

/* [S] */
static void timer_start(struct k_itimer *t)
{
	if (t->notify == SIGEV_NONE)
		return;
	if (t->of)
		WRITE_ONCE(t->of->signal->cpu_timers_due, 0); /* the next tick looks */
	else
		hrtimer_start(&t->timer, t->expires);
}

/* Send its signal. False: it has no effect, because it is ignored or its thread has ended. [S] */
static bool timer_signal(struct k_itimer *t, struct task_struct *leader)
{
	struct siginfo info = {.si_signo = t->signo, .si_code = SI_TIMER, .si_pid = t->id, .si_value = t->value};

	if (!t->thread)
		return send_sigqueue(t->q, &info, leader, true);
	return !(t->thread->flags & PF_EXITING) && send_sigqueue(t->q, &info, t->thread, false);
}

/* It is over. Without a signal to be taken a timer with an interval goes on at once, at most once a tick. [S] */
static void timer_expire(struct k_itimer *t, struct task_struct *leader)
{
	ktime_t after = timer_now(t) + (t->interval < TICK_NSEC ? TICK_NSEC : 0);

	t->fired = t->interval;
	if (!t->interval)
		t->expires = 0;
	if (timer_signal(t, leader) || !t->interval)
		return;
	t->fired = false;
	t->lost += ktime_forward(&t->expires, after, t->interval);
	timer_start(t);
}

/*
 * The callback, in the timer interrupt. The process is found by its number, which it keeps as long as it has timers. A
 * timer is changed and deleted only when its callback does not run (lock_timer), so it is still as it was when it
 * fired; but a taker of an older signal may have started it again.
 */
static enum hrtimer_restart posix_timer_fn(struct hrtimer *h)
{
	struct k_itimer *t = container_of(h, struct k_itimer, timer);
	struct task_struct *p = find_get_task(t->tgid);
	struct sighand_struct *sighand;
	unsigned long flags;

	if (!p)
		return HRTIMER_NORESTART;
	sighand = lock_task_sighand(p, &flags);
	if (t->expires && !t->fired)
		timer_expire(t, p);
	unlock_task_sighand(sighand, flags);
	put_task_struct(p);
	return HRTIMER_NORESTART;
}

/*
 * The expirations up to now are counted, and a timer with an interval goes on after them. Expirations that no task has
 * seen stay counted until a signal is taken. [S]
 */
static void posixtimer_taken(struct k_itimer *t, struct siginfo *info)
{
	u64 passed = 1;

	if (t->fired) {
		t->fired = false;
		passed = ktime_forward(&t->expires, timer_now(t), t->interval);
		timer_start(t);
	}
	t->lost += passed;
	if (!info)
		return;
	t->overrun = min(t->lost ? t->lost - 1 : 0, (u64)INT_MAX);
	t->lost = 0;
	info->si_uid = t->overrun; /* si_overrun has its place */
}

/* What is left until its next expiration, ns; 0: it is off. [S] */
static u64 k_itimer_left(const struct k_itimer *t)
{
	ktime_t expires = t->expires, now;

	if (!expires)
		return 0;
	now = timer_now(t);
	ktime_forward(&expires, now, t->interval);
	if (expires > now)
		return expires - now;
	return t->notify == SIGEV_NONE ? 0 : 1; /* its signal is on the way */
}

/* [S] */
static struct k_itimer *find_timer(int id)
{
	struct k_itimer *t;

	list_for_each_entry(t, &current->signal->posix_timers, list)
		if (t->id == id)
			return t;
	return NULL;
}

/*
 * The timer of this number, with siglock held; NULL, without the lock: there is none. `stop`: it is cancelled, and its
 * callback, which takes siglock, does not run. To wait for that the lock is let go, and the timer is looked for again.
 */
static struct k_itimer *lock_timer(int id, bool stop)
{
	struct k_itimer *t;

	for (;;) {
		spin_lock_irq(&current->sighand->siglock);
		t = find_timer(id);
		if (t && (!stop || hrtimer_try_to_cancel(&t->timer) >= 0))
			return t;
		spin_unlock_irq(&current->sighand->siglock);
		if (!t)
			return NULL;
		cpu_relax();
	}
}

static void unlock_timer(void)
{
	spin_unlock_irq(&current->sighand->siglock);
}

static void timer_free(struct k_itimer *t)
{
	if (t->of)
		put_task_struct(t->of);
	if (t->thread)
		put_task_struct(t->thread);
	if (t->q)
		sigqueue_free(t->q);
	kfree(t);
}

/* 0 or -EINVAL. Thread context. */
static int timer_remove(int id)
{
	struct k_itimer *t = lock_timer(id, true);

	if (!t)
		return -EINVAL;
	list_del(&t->list);
	sigqueue_take_back(t->q);
	unlock_timer();
	timer_free(t);
	return 0;
}

/* Delete all of current's process. Thread context. */
static void exit_posix_timers(void)
{
	struct k_itimer *t;
	int id;

	for (;;) {
		spin_lock_irq(&current->sighand->siglock);
		t = list_first_entry_or_null(&current->signal->posix_timers, struct k_itimer, list);
		id = t ? t->id : -1;
		spin_unlock_irq(&current->sighand->siglock);
		if (id < 0)
			return;
		timer_remove(id);
	}
}

/*
 * Wall time until a timer of CPU time can be over at the earliest; 0: it is over now. CPUs that are away count, as they
 * may be back before that. [S]
 */
static u64 cpu_time_left(const struct k_itimer *t, ktime_t now)
{
	if (now >= t->expires)
		return 0;
	return max_t(u64, (t->expires - now) / (counts_thread(t) ? 1 : nr_cpu_ids), 1);
}

/* Look at all timers of CPU time, and say when to look again. The clock of the process is read once. [S] */
static void check_all(struct signal_struct *sig)
{
	u64 due = KTIME_MAX, left;
	ktime_t group = 0, now;
	struct k_itimer *t;

	list_for_each_entry(t, &sig->posix_timers, list) {
		if (!t->of || !t->expires || t->fired || t->notify == SIGEV_NONE)
			continue;
		now = counts_thread(t) || !group ? timer_now(t) : group;
		if (!counts_thread(t))
			group = now;
		left = cpu_time_left(t, now);
		if (!left) {
			timer_expire(t, sig->leader);
			left = t->expires && !t->fired ? cpu_time_left(t, now) : KTIME_MAX;
		}
		due = min(due, (u64)ktime_add_safe(ktime_get(), left));
	}
	WRITE_ONCE(sig->cpu_timers_due, due);
}

/* Send the signals of the current process's timers in CPU time that are over. The tick's interrupt, no lock. */
static void check_cpu_posix_timers(struct signal_struct *sig)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	sighand = lock_task_sighand(current, &flags);
	check_all(sig);
	unlock_task_sighand(sighand, flags);
}

static const struct task_part posix_timer_part = {
	.release_process = exit_posix_timers,
	.cpu_time_due = check_cpu_posix_timers,
	.timer_taken = posixtimer_taken,
};
REGISTER_TASK_PART(posix_timer_part);

/* How it is to tell. 0 or -EINVAL. Thread context. */
static int timer_take_event(struct k_itimer *t, const struct sigevent *event)
{
	t->notify = event->sigev_notify;
	t->signo = event->sigev_signo;
	t->value = event->sigev_value;
	switch (t->notify) {
	case SIGEV_THREAD_ID:
		t->thread = find_get_task(event->sigev_tid);
		if (!t->thread || t->thread->signal != current->signal)
			return -EINVAL;
		break;
	case SIGEV_SIGNAL:
	case SIGEV_THREAD:
		break;
	case SIGEV_NONE:
		return 0;
	default:
		return -EINVAL;
	}
	return t->signo < 1 || t->signo > NSIG ? -EINVAL : 0;
}

/*
 * The clock. 0; -EINVAL: there is no such; -EOPNOTSUPP: it has no timers. Those are the coarse and raw ones, as on
 * Linux, and the CPU time of other processes.
 */
static int timer_take_clock(struct k_itimer *t, int clock)
{
	u64 ns;

	t->clock = clock;
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_TAI:
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
		return 0;
	}
	if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0)
		t->of = get_cpu_clock_task(clock);
	if (!t->of)
		return clock < 0 || clock_read_ns(clock, &ns) ? -EINVAL : -EOPNOTSUPP;
	if (t->of->signal != current->signal || !cpu_clock_is_exact(clock))
		return -EOPNOTSUPP;
	t->clock = cpu_clock_of_thread(clock) ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
	return 0;
}

/*
 * Give it a number that no other timer of the process has, and make it known. Without an event the signal carries
 * that number.
 */
static int timer_publish(struct k_itimer *t, bool value_is_id)
{
	struct signal_struct *sig = current->signal;
	int id;

	spin_lock_irq(&current->sighand->siglock);
	do {
		id = sig->next_timer_id;
		sig->next_timer_id = id == INT_MAX ? 0 : id + 1;
	} while (find_timer(id));
	t->id = id;
	if (value_is_id)
		t->value = id;
	list_add_tail(&t->list, &sig->posix_timers);
	spin_unlock_irq(&current->sighand->siglock);
	return id;
}

/* A timer that is off, not known yet. ERR_PTR. */
static struct k_itimer *timer_new(int clock, const struct sigevent *event)
{
	struct k_itimer *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err = -EAGAIN;

	if (!t)
		return ERR_PTR(-EAGAIN);
	hrtimer_init(&t->timer, posix_timer_fn);
	t->tgid = current->tgid;
	err = timer_take_clock(t, clock);
	if (!err)
		err = timer_take_event(t, event);
	if (!err) {
		t->q = sigqueue_alloc_timer(t);
		err = t->q ? 0 : -EAGAIN;
	}
	if (!err)
		return t;
	timer_free(t);
	return ERR_PTR(err);
}

/* The number is told last: when that fails, the timer goes again. */
SYSCALL_DEFINE3(timer_create, const clockid_t, which_clock, struct sigevent __user *, timer_event_spec,
		timer_t __user *, created_timer_id)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct k_itimer *t;
	int id;

	if (timer_event_spec && copy_from_user(&event, timer_event_spec, sizeof(event)))
		return -EFAULT;
	t = timer_new(which_clock, &event);
	if (IS_ERR(t))
		return PTR_ERR(t);
	id = timer_publish(t, !timer_event_spec);
	if (!put_user(id, created_timer_id))
		return 0;
	timer_remove(id);
	return -EFAULT;
}

/* When it expires, by the clock it runs by. `value` is not 0. [S] */
static ktime_t first_expiration(const struct k_itimer *t, u64 value, bool absolute)
{
	u64 offset = 0;

	if (!absolute)
		return ktime_add_safe(timer_now(t), value);
	if (t->clock == CLOCK_REALTIME || t->clock == CLOCK_TAI)
		offset = wall_clock_offset();
	return value > offset ? value - offset : 1; /* in the past: at once */
}

/* Value and interval in ns; value 0 stops it. A signal of the old setting that is still pending is taken back. [S] */
static void timer_set(struct k_itimer *t, u64 value, u64 interval, bool absolute)
{
	sigqueue_take_back(t->q);
	t->fired = false;
	t->overrun = t->lost = 0;
	t->interval = value ? interval : 0;
	t->expires = value ? first_expiration(t, value, absolute) : 0;
	if (!value)
		return;
	if (t->of && t->notify != SIGEV_NONE && timer_now(t) >= t->expires)
		timer_expire(t, current->signal->leader);
	else
		timer_start(t);
}

static int put_itimerspec(struct itimerspec __user *to, u64 left, u64 interval)
{
	return put_timespec_ns(&to->it_interval, interval) || put_timespec_ns(&to->it_value, left) ? -EFAULT : 0;
}

/* The old setting is written last: -EFAULT there leaves the new one set, as on Linux. */
SYSCALL_DEFINE4(timer_settime, timer_t, timer_id, int, flags, const struct itimerspec __user *, new_setting,
		struct itimerspec __user *, old_setting)
{
	u64 value, interval, left, old_interval;
	struct k_itimer *t;
	int err;

	if (!new_setting)
		return -EINVAL;
	err = get_timespec_ns(&new_setting->it_value, &value);
	if (!err)
		err = get_timespec_ns(&new_setting->it_interval, &interval);
	if (err)
		return err;
	t = lock_timer(timer_id, true);
	if (!t)
		return -EINVAL;
	left = k_itimer_left(t);
	old_interval = t->interval;
	timer_set(t, value, interval, flags & TIMER_ABSTIME);
	unlock_timer();
	return old_setting ? put_itimerspec(old_setting, left, old_interval) : 0;
}

SYSCALL_DEFINE2(timer_gettime, timer_t, timer_id, struct itimerspec __user *, setting)
{
	struct k_itimer *t = lock_timer(timer_id, false);
	u64 left, interval;

	if (!t)
		return -EINVAL;
	left = k_itimer_left(t);
	interval = t->interval;
	unlock_timer();
	return put_itimerspec(setting, left, interval);
}

/* How many expirations the last signal stood for besides its own. */
SYSCALL_DEFINE1(timer_getoverrun, timer_t, timer_id)
{
	struct k_itimer *t = lock_timer(timer_id, false);
	long overrun;

	if (!t)
		return -EINVAL;
	overrun = t->overrun;
	unlock_timer();
	return overrun;
}

SYSCALL_DEFINE1(timer_delete, timer_t, timer_id)
{
	return timer_remove(timer_id);
}
