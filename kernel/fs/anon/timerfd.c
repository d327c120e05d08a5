/*
 * timerfd_create(2) and its relatives: a timer whose expirations are read from a file, or waited for by poll.
 *
 * The timer is an hrtimer, which fires once and is not started again before somebody reads: the number of intervals
 * that have passed meanwhile is computed then. So a short interval costs no interrupts that nobody asks for.
 *
 * A time of CLOCK_REALTIME is turned into one of the monotonic clock when it is set, and does not follow a clock that
 * is set later.
 *
 * The timer's callback runs in a hard interrupt and takes the lock. So the lock is released while the timer is
 * cancelled, since a callback that runs at this moment needs it.
 */
#include <asm/uaccess.h>
#include <fs/anon_inode.h>
#include <fs/poll.h>
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

static bool timerfd_take(struct timerfd *t, u64 *ticks)
{
	spin_lock_irq(&t->lock);
	*ticks = take_ticks(t);
	spin_unlock_irq(&t->lock);
	return *ticks;
}

static ssize_t timerfd_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct timerfd *t = f->private_data;
	u64 ticks;

	if (n < sizeof(ticks))
		return -EINVAL;
	if (!timerfd_take(t, &ticks)) {
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(&t->wait, timerfd_take(t, &ticks)))
			return -ERESTARTSYS;
	}
	return put_user(ticks, (u64 __user *)buf) ? -EFAULT : (ssize_t)sizeof(ticks);
}

static unsigned timerfd_poll(struct file *f, struct poll_table *pt)
{
	struct timerfd *t = f->private_data;

	poll_wait(f, &t->wait, pt);
	return READ_ONCE(t->fired) ? POLLIN : 0;
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

static const struct file_operations timerfd_fops = {
	.read = timerfd_read,
	.poll = timerfd_poll,
	.release = timerfd_release,
};

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

/*
 * The settings as they were, and new ones. A time of the clock becomes one of the hrtimers', which is monotonic, by the
 * offset between the two clocks. If both clocks were read instead, the result would be wrong by the time that the task
 * waits for its CPU between the two readings.
 */
static void timerfd_set(struct timerfd *t, u64 value, u64 interval, bool absolute, u64 old[2])
{
	s64 offset = t->clock == CLOCK_REALTIME ? wall_clock_offset() : 0;

	lock_and_cancel(t);
	old[0] = t->interval;
	old[1] = timerfd_left(t);
	t->fired = false;
	t->interval = interval;
	t->expires = 0;
	if (value) {
		t->expires = ktime_add_safe(value, absolute ? -offset : ktime_get());
		t->expires = max_t(s64, t->expires, 1); /* 0 is "off" */
		hrtimer_start(&t->timer, t->expires);
	}
	spin_unlock_irq(&t->lock);
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

/* A flag that is not carried out is refused: nothing here is told of a clock that is set. */
SYSCALL_DEFINE4(timerfd_settime, int, ufd, int, flags, const struct itimerspec __user *, utmr,
		struct itimerspec __user *, otmr)
{
	u64 value, interval, was[2];
	struct file *f;
	int err;

	if (flags & ~TFD_TIMER_ABSTIME)
		return -EINVAL;
	err = get_timespec_ns(&utmr->it_value, &value);
	if (!err)
		err = get_timespec_ns(&utmr->it_interval, &interval);
	if (err)
		return err;
	f = timerfd_get(ufd);
	if (IS_ERR(f))
		return PTR_ERR(f);
	timerfd_set(f->private_data, value, interval, flags & TFD_TIMER_ABSTIME, was);
	fput(f);
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
