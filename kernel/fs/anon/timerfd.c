/*
 * timerfd_create(2) and its relatives: a timer whose expirations are read from a file, or waited for by poll.
 *
 * The timer is an hrtimer, which fires once and is not started again before somebody reads: the number of intervals
 * that have passed meanwhile is computed then. So a short interval costs no interrupts that nobody asks for.
 *
 * A time of CLOCK_REALTIME is turned into one of the monotonic clock when it is set, and does not follow a clock that
 * is set later. A program that must know asks for TFD_TIMER_CANCEL_ON_SET: then a clock that was set ends its read with
 * ECANCELED. That it was set is seen by the offset between the clocks, and clock_set_wait wakes who waits.
 *
 * The timer's callback runs in a hard interrupt and takes the lock. So the lock is released while the timer is
 * cancelled, since a callback that runs at this moment needs it.
 */
#include <asm/uaccess.h>
#include <fs/anon_inode.h>
#include <fs/poll.h>
#include <fs/seq_file.h>
#include <fs/vfs.h>
#include <kernel/smp.h>
#include <mm/slab.h>
#include <proc/syscall.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/posix.h>
#include <time/vdso.h>
#include <uapi/fcntl.h>

#define TFD_TIMER_ABSTIME	1
#define TFD_TIMER_CANCEL_ON_SET 2

/* Locks: l lock, with interrupts off. */
struct timerfd {
	spinlock_t lock;
	wait_queue_head_t wait;
	struct hrtimer timer;
	ktime_t expires;  /* [l] of the next expiration, or of the last that nobody has read; 0: the timer is off */
	ktime_t interval; /* [l] 0: it fires once */
	bool fired;	  /* [l] since the last read */
	int flags;	  /* [l] TFD_TIMER_*, as it was set last */
	u64 offset;	  /* [l] of the wall clock, when it was set or the caller was told last */
	int clock;	  /* [immutable] CLOCK_* */
};

static enum hrtimer_restart timerfd_fire(struct hrtimer *timer)
{
	struct timerfd *t = container_of(timer, struct timerfd, timer);
	unsigned long flags;

	spin_lock_irqsave(&t->lock, flags);
	t->fired = true;
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up_all(&t->wait);
	return HRTIMER_NORESTART;
}

/* Expirations since the last read, 0: none. The timer goes on. [l] */
static u64 take_ticks(struct timerfd *t)
{
	u64 ticks = 1;

	if (!t->fired)
		return 0;
	t->fired = false;
	if (t->interval) {
		ticks = ktime_forward(&t->expires, ktime_get(), t->interval);
		hrtimer_start(&t->timer, t->expires);
	} else {
		t->expires = 0;
	}
	return ticks;
}

/* Was the clock set, and the caller wants to know, and was not told yet? Asked without [l], the answer is a hint. */
static bool is_cancelled(const struct timerfd *t)
{
	const int both = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;

	return t->clock == CLOCK_REALTIME && (READ_ONCE(t->flags) & both) == both &&
	       READ_ONCE(t->offset) != wall_clock_offset();
}

/* What a read gives: how many expirations, or -ECANCELED; false: it has to wait. A timer that is cancelled is off. */
static bool timerfd_take(struct timerfd *t, s64 *res)
{
	spin_lock_irq(&t->lock);
	if (is_cancelled(t)) {
		WRITE_ONCE(t->offset, wall_clock_offset());
		t->fired = false;
		*res = -ECANCELED;
	} else {
		*res = take_ticks(t);
	}
	spin_unlock_irq(&t->lock);
	return *res;
}

/* Until there is something to take, which is taken. 0 or -ERESTARTSYS. */
static int timerfd_wait(struct timerfd *t, s64 *res)
{
	struct wait_queue_entry clock_set = {
		.entry = LIST_HEAD_INIT(clock_set.entry), .task = current, .func = default_wake_function};
	int err;

	add_wait_queue(&clock_set_wait, &clock_set);
	err = wait_event_interruptible(&t->wait, timerfd_take(t, res));
	remove_wait_queue(&clock_set_wait, &clock_set);
	return err;
}

/* A clock that was set is an error, once, for who has asked to be told. */
static ssize_t timerfd_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct timerfd *t = f->private_data;
	s64 ticks;

	if (n < sizeof(ticks))
		return -EINVAL;
	if (!timerfd_take(t, &ticks)) {
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (timerfd_wait(t, &ticks))
			return -ERESTARTSYS;
	}
	if (ticks < 0)
		return ticks;
	return put_user((u64)ticks, (u64 __user *)buf) ? -EFAULT : (ssize_t)sizeof(ticks);
}

static unsigned timerfd_poll(struct file *f, struct poll_table *pt)
{
	struct timerfd *t = f->private_data;

	poll_wait(f, &t->wait, pt);
	if (t->clock == CLOCK_REALTIME)
		poll_wait(f, &clock_set_wait, pt);
	return READ_ONCE(t->fired) || is_cancelled(t) ? POLLIN : 0;
}

/* Lock, with the timer off and its callback not running. */
static void lock_and_cancel(struct timerfd *t)
{
	for (;;) {
		spin_lock_irq(&t->lock);
		if (hrtimer_try_to_cancel(&t->timer) >= 0)
			return;
		spin_unlock_irq(&t->lock);
		cpu_relax();
	}
}

static int timerfd_release(struct inode *inode, struct file *f)
{
	struct timerfd *t = f->private_data;

	hrtimer_cancel(&t->timer);
	kfree(t);
	return 0;
}

/* Time until the next expiration, at least 1 ns where it is over; 0: the timer is off. [l] */
static u64 timerfd_left(const struct timerfd *t)
{
	ktime_t expires = t->expires, now = ktime_get();

	if (!expires)
		return 0;
	if (t->interval)
		ktime_forward(&expires, now, t->interval);
	else if (t->fired)
		return 0;
	return expires > now ? expires - now : 1;
}

/* As Linux shows it: what is left is counted to the expiration that was set, 0 when it is over and nobody has read. */
static void timerfd_show_fdinfo(struct seq_file *m, const struct file *f)
{
	struct timerfd *t = f->private_data;
	u64 left, interval;
	int flags, fired;

	spin_lock_irq(&t->lock);
	left = t->expires && !t->fired ? max_t(s64, t->expires - ktime_get(), 0) : 0;
	interval = t->interval;
	flags = t->flags;
	fired = t->fired;
	spin_unlock_irq(&t->lock);
	seq_printf(m, "clockid: %d\nticks: %d\nsettime flags: 0%o\n", t->clock, fired, flags);
	seq_printf(m, "it_value: (%llu, %llu)\nit_interval: (%llu, %llu)\n", (unsigned long long)left / NSEC_PER_SEC,
		   (unsigned long long)left % NSEC_PER_SEC, (unsigned long long)interval / NSEC_PER_SEC,
		   (unsigned long long)interval % NSEC_PER_SEC);
}

static const struct file_operations timerfd_fops = {
	.read = timerfd_read,
	.poll = timerfd_poll,
	.release = timerfd_release,
	.show_fdinfo = timerfd_show_fdinfo,
};

/*
 * The settings as they were, and new ones. A time of the clock becomes one of the hrtimers', which is monotonic, by the
 * offset between the two clocks. If both clocks were read instead, the result would be wrong by the time that the task
 * waits for its CPU between the two readings. -ECANCELED: it is set, but the clock was set under the settings before,
 * and nobody was told. 0.
 */
static int timerfd_set(struct timerfd *t, u64 value, u64 interval, int flags, u64 old[2])
{
	s64 offset = wall_clock_offset();
	bool cancelled;

	lock_and_cancel(t);
	cancelled = value && is_cancelled(t) && flags & TFD_TIMER_CANCEL_ON_SET;
	t->flags = flags;
	t->offset = offset;
	if (t->clock != CLOCK_REALTIME || !(flags & TFD_TIMER_ABSTIME))
		offset = 0;
	old[0] = t->interval;
	old[1] = timerfd_left(t);
	t->fired = false;
	t->interval = interval;
	t->expires = 0;
	if (value) {
		t->expires = ktime_add_safe(value, flags & TFD_TIMER_ABSTIME ? -offset : ktime_get());
		t->expires = max_t(s64, t->expires, 1); /* 0 is "off" */
		hrtimer_start(&t->timer, t->expires);
	}
	spin_unlock_irq(&t->lock);
	return cancelled ? -ECANCELED : 0;
}

static struct file *timerfd_get(int fd)
{
	struct file *f = fget(fd);

	if (!f)
		return ERR_PTR(-EBADF);
	if (f->f_op == &timerfd_fops)
		return f;
	fput(f);
	return ERR_PTR(-EINVAL);
}

/* There are no clocks that wake a machine from its sleep: those are -EINVAL. */
SYSCALL_DEFINE2(timerfd_create, int, clockid, int, flags)
{
	struct timerfd *t;
	int fd;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (clockid != CLOCK_REALTIME && clockid != CLOCK_MONOTONIC && clockid != CLOCK_BOOTTIME)
		return -EINVAL;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	spin_lock_init(&t->lock);
	init_waitqueue_head(&t->wait);
	hrtimer_init(&t->timer, timerfd_fire);
	t->clock = clockid;
	fd = anon_inode_fd("[timerfd]", &timerfd_fops, t, O_RDWR | flags);
	if (fd < 0)
		kfree(t);
	return fd;
}

/* The timer is set also when it is told that the clock was set (-ECANCELED); the old settings are not told then. */
SYSCALL_DEFINE4(timerfd_settime, int, ufd, int, flags, const struct itimerspec __user *, utmr,
		struct itimerspec __user *, otmr)
{
	u64 value, interval, was[2];
	struct file *f;
	int err;

	if (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
		return -EINVAL;
	err = get_timespec_ns(&utmr->it_value, &value);
	if (!err)
		err = get_timespec_ns(&utmr->it_interval, &interval);
	if (err)
		return err;
	f = timerfd_get(ufd);
	if (IS_ERR(f))
		return PTR_ERR(f);
	err = timerfd_set(f->private_data, value, interval, flags, was);
	fput(f);
	if (err)
		return err;
	if (otmr && (put_timespec_ns(&otmr->it_interval, was[0]) || put_timespec_ns(&otmr->it_value, was[1])))
		return -EFAULT;
	return 0;
}

/* The file is put back before user memory is touched: a bad address changes nothing. */
SYSCALL_DEFINE2(timerfd_gettime, int, ufd, struct itimerspec __user *, otmr)
{
	struct file *f = timerfd_get(ufd);
	struct timerfd *t;
	u64 is[2];

	if (IS_ERR(f))
		return PTR_ERR(f);
	t = f->private_data;
	spin_lock_irq(&t->lock);
	is[0] = t->interval;
	is[1] = timerfd_left(t);
	spin_unlock_irq(&t->lock);
	fput(f);
	return put_timespec_ns(&otmr->it_interval, is[0]) || put_timespec_ns(&otmr->it_value, is[1]) ? -EFAULT : 0;
}
