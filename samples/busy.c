/*
 * Work on demand: something busy of a known length, for osnoise and timerlat to find. Two numbers written to a file of
 * debugfs's busy/ make it come so often, every 10 ms, on the writer's CPU, each time for so many microseconds:
 *
 *	echo 300 20 > /sys/kernel/debug/busy/irq	20 interrupts of 300 us
 *
 *	irq		in the timer's interrupt
 *	softirq		in a tasklet
 *	thread		in a thread of a real-time priority, the lowest
 *
 * Reading a file says how many are still to come.
 */
#include <fs/libfs.h>
#include <irq/tasklet.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#define BUSY_EVERY_NS  (10 * NSEC_PER_MSEC)
#define BUSY_MAX_US    5000
#define BUSY_MAX_COUNT 10000

enum busy_where {
	IN_IRQ,
	IN_SOFTIRQ,
	IN_THREAD,
};

static DEFINE_MUTEX(busy_mutex); /* of writers: one series at a time */

/* The series. Set before its timer starts, by the writer; after that it is the timer's and its helpers'. */
static enum busy_where busy_where;
static u64 busy_ns;
static unsigned busy_left;		/* to come */
static struct task_struct *busy_thread; /* [busy_mutex] NULL: none */
static bool busy_wanted;		/* the thread must be busy once */

/* As plant_spin(): there is no cpu_relax(), which would let QEMU run another CPU first. */
static void noinline busy_spin(void)
{
	u64 until = sched_clock() + busy_ns;

	while (sched_clock() < until)
		;
}

static void busy_tasklet_func(struct tasklet_struct *t)
{
	busy_spin();
}
static DECLARE_TASKLET(busy_tasklet, busy_tasklet_func);

/* The timer asks, by busy_wanted and a wake-up; the state is set before the look. */
static int busy_thread_func(void *unused)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		if (!READ_ONCE(busy_wanted)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		WRITE_ONCE(busy_wanted, false);
		busy_spin();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* One of the series. The count falls after it, so that a reader of 0 knows that the last has begun. Hard interrupt. */
static enum hrtimer_restart busy_timer_func(struct hrtimer *timer)
{
	switch (busy_where) {
	case IN_IRQ:
		busy_spin();
		break;
	case IN_SOFTIRQ:
		tasklet_schedule(&busy_tasklet);
		break;
	case IN_THREAD:
		WRITE_ONCE(busy_wanted, true);
		wake_up_process(busy_thread);
		break;
	}
	WRITE_ONCE(busy_left, busy_left - 1);
	if (!busy_left)
		return HRTIMER_NORESTART;
	hrtimer_forward(timer, ktime_get(), BUSY_EVERY_NS);
	return HRTIMER_RESTART;
}
static struct hrtimer busy_timer;

/* A thread of this CPU, if this series needs one. 0 or -errno. [busy_mutex] */
static int busy_thread_start(enum busy_where where)
{
	struct task_struct *t;

	if (where != IN_THREAD)
		return 0;
	t = kthread_create_on_cpu(busy_thread_func, NULL, smp_processor_id(), "busy");
	if (IS_ERR(t))
		return PTR_ERR(t);
	busy_thread = t;
	wake_up_process(t);
	sched_set_fifo_low(t);
	return 0;
}

/* What is left of an earlier series ends. [busy_mutex] */
static void busy_end(void)
{
	if (busy_timer.function)
		hrtimer_cancel(&busy_timer);
	busy_left = 0;
	if (busy_thread)
		kthread_stop(busy_thread);
	busy_thread = NULL;
	busy_wanted = false;
}

/* "US COUNT"; 0 of them ends what is left. -EINVAL, -ERANGE; 0. */
static int busy_parse(char *text, u64 *us, u64 *count)
{
	char *second = strchr(text, ' ');
	int err;

	if (!second)
		return -EINVAL;
	*second++ = '\0';
	err = kstrtoull(text, 10, us) ?: kstrtoull(second, 10, count);
	if (err)
		return err;
	return *us >= 1 && *us <= BUSY_MAX_US && *count <= BUSY_MAX_COUNT ? 0 : -ERANGE;
}

/*
 * An earlier series ends, and a new one begins on this CPU, unless its count is 0. Errors of busy_parse(), or -ENOMEM.
 */
static int busy_store(char *text, void *data)
{
	enum busy_where where = (unsigned long)data;
	u64 us, count;
	int err = busy_parse(text, &us, &count);

	if (err)
		return err;
	mutex_lock(&busy_mutex);
	busy_end();
	err = count ? busy_thread_start(where) : 0;
	if (!err && count) {
		busy_where = where;
		busy_ns = us * NSEC_PER_USEC;
		busy_left = count;
		hrtimer_init(&busy_timer, busy_timer_func);
		hrtimer_start(&busy_timer, ktime_get() + BUSY_EVERY_NS);
	}
	mutex_unlock(&busy_mutex);
	return err;
}

static int busy_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(busy_left));
	return 0;
}

#define BUSY_FILE(kind, where)                                                                                         \
	static const struct text_file busy_##kind##_file = {                                                           \
		.path = "busy/" #kind, .mode = 0600, .show = busy_show, .store = busy_store, .data = (void *)(where)}; \
	REGISTER_DEBUGFS(busy_##kind##_file)

BUSY_FILE(irq, IN_IRQ);
BUSY_FILE(softirq, IN_SOFTIRQ);
BUSY_FILE(thread, IN_THREAD);
