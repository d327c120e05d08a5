/*
 * The tick: a timer on each CPU while a task runs there, for slices, accounting, balancing.
 *
 * A CPU that goes idle does not cancel the timer: short idle periods, as between two halves of a conversation over a
 * pipe, would pay for that each time. The timer ends by itself when it expires next and finds the CPU idle; a CPU that
 * stays idle has no tick. The log's readers, who are woken by a tick, get one all the same (tick_nohz_idle_keep).
 */
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <sched/cpuhp.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/events/timer.h>

/* Locks: c its CPU with interrupts off. */
struct tick {
	struct hrtimer timer;
	bool armed; /* [c] queued, or its callback runs and will be queued again */
};
static DEFINE_PER_CPU(struct tick, ticks);

/*
 * The tick of this CPU. It ends by itself when the CPU is idle, and is armed again when a task comes. Context: timer
 * interrupt.
 */
static enum hrtimer_restart noinline tick_sched_timer(struct hrtimer *t)
{
	struct tick *tick = this_cpu_ptr(&ticks);

	printk_tick();
	/*
	 * Not with need_resched set: the idle loop may have passed tick_nohz_idle_exit(), which found the tick armed,
	 * and the task that it is about to switch to would run without one.
	 */
	if (is_idle_task(current) && !need_resched()) {
		tick->armed = false;
		calc_global_load_idle(ktime_get());
		trace_tick_stop(1, 0);
		return HRTIMER_NORESTART;
	}
	scheduler_tick();
	hrtimer_forward(t, ktime_get(), TICK_NSEC);
	return HRTIMER_RESTART;
}

/* Called by each CPU when it starts, interrupts off. */
void tick_init_cpu(void)
{
	hrtimer_init(&this_cpu_ptr(&ticks)->timer, tick_sched_timer);
	this_cpu_ptr(&ticks)->armed = false;
}

static int tick_cpu_starting(unsigned cpu)
{
	tick_init_cpu();
	return 0;
}

/* The CPU does not leave its idle loop again, which would start the tick. */
static int tick_cpu_dying(unsigned cpu)
{
	hrtimer_cancel(&this_cpu_ptr(&ticks)->timer);
	return 0;
}
static const struct cpuhp_step tick_step = {
	.name = "time:tick", .stage = CPUHP_STARTING, .up = tick_cpu_starting, .down = tick_cpu_dying};
REGISTER_CPUHP(tick_step);

void noinline tick_nohz_idle_enter(void)
{
	/* The tick that is armed may be the last for long: wake the readers of the log now. */
	printk_tick();
}

void tick_nohz_idle_keep(void)
{
	struct tick *tick = this_cpu_ptr(&ticks);

	if (!tick->armed) {
		tick->armed = true;
		hrtimer_start(&tick->timer, ktime_get() + TICK_NSEC);
	}
}

/* A task will run: start the tick. Context: the idle task, preemption off. */
void noinline tick_nohz_idle_exit(void)
{
	local_irq_disable();
	tick_nohz_idle_keep();
	local_irq_enable();
}
