/* Sleeping for a number of jiffies or milliseconds, over the sleep by nanoseconds (sleep.c). */
#include <kernel/export.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <time/jiffies.h>

/* For modules: the inline form reads the machine's counter, which is the kernel's own business. */
ktime_t(ktime_get)(void)
{
	return ktime_get();
}
EXPORT_SYMBOL(ktime_get);

u64 get_jiffies_64(void)
{
	return jiffies;
}
EXPORT_SYMBOL(get_jiffies_64);

/* The time that is left is rounded up: 0 says that it is over. */
long noinline schedule_timeout(long timeout)
{
	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeout;
	}
	return timeout <= 0 ? schedule_timeout_ns(0)
			    : nsecs_to_jiffies_up(schedule_timeout_ns(jiffies_to_nsecs(timeout)));
}
EXPORT_SYMBOL(schedule_timeout);

long schedule_timeout_interruptible(long timeout)
{
	set_current_state(TASK_INTERRUPTIBLE);
	return schedule_timeout(timeout);
}
EXPORT_SYMBOL(schedule_timeout_interruptible);

long schedule_timeout_uninterruptible(long timeout)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(timeout);
}
EXPORT_SYMBOL(schedule_timeout_uninterruptible);

void noinline msleep(unsigned ms)
{
	hrtimer_sleep_until(ktime_get() + ms * NSEC_PER_MSEC, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL(msleep);

/* The end of the sleep stays where it was when a wake-up comes for another reason. */
unsigned long noinline msleep_interruptible(unsigned ms)
{
	ktime_t end = ktime_get() + ms * NSEC_PER_MSEC;

	if (!hrtimer_sleep_until(end, TASK_INTERRUPTIBLE))
		return 0;
	return DIV_ROUND_UP(max_t(s64, end - ktime_get(), 0), NSEC_PER_MSEC);
}
EXPORT_SYMBOL(msleep_interruptible);

void noinline usleep_range(unsigned long min, unsigned long max)
{
	hrtimer_sleep_until(ktime_get() + min * NSEC_PER_USEC, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL(usleep_range);
