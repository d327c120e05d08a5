/*
 * /dev/rtc: periodic interrupts, with the calls that Linux has for them. A program sets a rate (RTC_IRQP_SET) and
 * switches the interrupts on (RTC_PIE_ON). Each read(2) gives it an unsigned long: how many interrupts there were since
 * the read before. A read that finds none waits for one, or returns -EAGAIN with O_NONBLOCK. A read that returns an
 * error takes no interrupt away. /proc/driver/rtc shows counts.
 *
 * The chips cannot interrupt at any rate (the PL031 once a second at most, the MC146818 in powers of two), so a timer
 * of the processor's stands in for them, as in Linux.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/init.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <sched/mutex.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <uapi/fcntl.h>

#define RTC_PIE_ON    0x7005	 /* _IO('p', 5) */
#define RTC_PIE_OFF   0x7006	 /* _IO('p', 6) */
#define RTC_IRQP_READ 0x8008700b /* _IOR('p', 11, unsigned long): interrupts a second */
#define RTC_IRQP_SET  0x4008700c /* _IOW('p', 12, unsigned long) */
#define RATE_MIN      2
#define RATE_MAX      200000

/* Locks: m mutex; i the interrupt, which is off when the holder of the mutex writes. */
struct rtc_device {
	struct mutex mutex;
	wait_queue_head_t wait; /* readers */
	struct hrtimer timer;
	bool on;	       /* [m] */
	u64 period;	       /* [m, i reads] ns */
	unsigned long fired;   /* [i] interrupts since they were switched on */
	unsigned long pending; /* those that no read has returned yet */
	unsigned long reads;   /* reads that have returned a number, since they were switched on */
	unsigned long most;    /* the greatest of these numbers */
};
static struct rtc_device rtc_dev;

/* Hard interrupt. One that comes late stands for all that were due until then. */
static enum hrtimer_restart noinline rtc_interrupt(struct hrtimer *timer)
{
	u64 n = hrtimer_forward(timer, sched_clock(), rtc_dev.period);

	rtc_dev.fired += n;
	rtc_dev.pending += n;
	if (waitqueue_active(&rtc_dev.wait))
		wake_up_interruptible_all(&rtc_dev.wait);
	return HRTIMER_RESTART;
}

/* For /proc/driver/rtc: a read returns n interrupts. */
static void noinline rtc_account(unsigned long n)
{
	rtc_dev.reads++;
	if (n > rtc_dev.most)
		rtc_dev.most = n;
}

/* -EINVAL: no room for a number; -EAGAIN, -ERESTARTSYS: there is none yet; -EFAULT. Context: thread. */
static ssize_t rtc_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	unsigned long n;
	int err = 0;

	if (size < sizeof(n))
		return -EINVAL;
	while (!(n = READ_ONCE(rtc_dev.pending))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&rtc_dev.wait, READ_ONCE(rtc_dev.pending));
		if (err)
			return err;
	}
	if (copy_to_user(buf, &n, sizeof(n)))
		return -EFAULT;
	rtc_account(n);
	rtc_dev.pending = 0;
	return sizeof(n);
}

/* [m] Begin to count from nothing; the first interrupt comes a period from now. */
static void rtc_switch_on(void)
{
	if (rtc_dev.on)
		return;
	rtc_dev.on = true;
	rtc_dev.fired = 0;
	rtc_dev.pending = rtc_dev.reads = rtc_dev.most = 0;
	hrtimer_start(&rtc_dev.timer, sched_clock() + rtc_dev.period);
}

/* [m] What is pending can still be read. */
static void rtc_switch_off(void)
{
	if (rtc_dev.on)
		hrtimer_cancel(&rtc_dev.timer);
	rtc_dev.on = false;
}

/* [m] -EBUSY: not while the interrupts are on. */
static long rtc_set_rate(unsigned long rate)
{
	if (rate < RATE_MIN || rate > RATE_MAX)
		return -EINVAL;
	if (rtc_dev.on)
		return -EBUSY;
	rtc_dev.period = NSEC_PER_SEC / rate;
	return 0;
}

static long rtc_ioctl(struct file *file, unsigned cmd, unsigned long arg)
{
	long res = 0;

	mutex_lock(&rtc_dev.mutex);
	if (cmd == RTC_PIE_ON)
		rtc_switch_on();
	else if (cmd == RTC_PIE_OFF)
		rtc_switch_off();
	else if (cmd == RTC_IRQP_SET)
		res = rtc_set_rate(arg);
	else if (cmd == RTC_IRQP_READ)
		res = put_user(NSEC_PER_SEC / rtc_dev.period, (unsigned long __user *)arg);
	else
		res = -ENOTTY;
	mutex_unlock(&rtc_dev.mutex);
	return res;
}

static int rtc_show(struct seq_file *m, void *data)
{
	seq_printf(m, "interrupts: %lu\npending: %lu\nreads: %lu\nmost: %lu\n", READ_ONCE(rtc_dev.fired),
		   READ_ONCE(rtc_dev.pending), READ_ONCE(rtc_dev.reads), READ_ONCE(rtc_dev.most));
	return 0;
}

static const struct text_file rtc_entry = {.path = "driver/rtc", .mode = 0444, .show = rtc_show};
REGISTER_PROC(rtc_entry);

static const struct file_operations rtc_fops = {.read = rtc_read, .unlocked_ioctl = rtc_ioctl, .llseek = no_llseek};
static const struct device_node rtc_node = {"rtc", S_IFCHR | 0600, MKDEV(10, 135), &rtc_fops, NULL};

static int rtc_dev_init(void)
{
	mutex_init(&rtc_dev.mutex);
	init_waitqueue_head(&rtc_dev.wait);
	hrtimer_init(&rtc_dev.timer, rtc_interrupt);
	rtc_dev.period = NSEC_PER_SEC / 1024;
	return device_add(&rtc_node);
}
late_initcall(rtc_dev_init);
