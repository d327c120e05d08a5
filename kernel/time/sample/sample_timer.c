/*
 * Sampling all CPUs (<time/sample_timer.h>): by the machine's source of NMIs, or else by a timer on each CPU.
 *
 * The source may still interrupt a CPU when it has been stopped on another one, so each tick looks for the function,
 * and stopping waits until no CPU is in it any more.
 */
#include <irq/irq.h>
#include <kernel/init.h>
#include <kernel/nmi.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <sched/cpuhp.h>
#include <sched/mutex.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/sample_timer.h>

const struct nmi_timer *nmi_timer;

static sample_fn sample;	   /* [atomic] NULL: there is no sampling */
static DEFINE_MUTEX(sample_mutex); /* the source starts and stops, and which CPUs it interrupts */
struct cpumask sample_cpus;	   /* [sample_mutex] */
static u64 sample_period;	   /* [sample_mutex] */
static enum { SAMPLE_OFF, SAMPLE_BY_NMI, SAMPLE_BY_TIMER } sample_source; /* [sample_mutex] */

/* Where the machine has no source. [this CPU, its timer interrupt] */
struct sample_cpu {
	struct hrtimer timer;
	struct sample_grid grid;
};
static DEFINE_PER_CPU(struct sample_cpu, sample_cpu);

notrace void sample_timer_tick(const struct pt_regs *regs)
{
	sample_fn fn = smp_load_acquire(&sample);

	if (likely(fn))
		fn(regs);
}

/* Hard interrupt: what it has interrupted is in the interrupt's registers. */
static enum hrtimer_restart sample_timer_fn(struct hrtimer *timer)
{
	struct sample_cpu *c = container_of(timer, struct sample_cpu, timer);

	sample_timer_tick(get_irq_regs());
	timer->expires = sample_grid_next(&c->grid, sched_clock());
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);

	hrtimer_init(&c->timer, sample_timer_fn);
	sample_grid_start(&c->grid, sched_clock(), sample_period);
	hrtimer_start(&c->timer, sample_grid_next(&c->grid, c->grid.begin));
}

/*
 * Begin and end on one CPU of `sample_cpus`; a source that has no part of each CPU's is none of theirs. [sample_mutex]
 */
static void start_on(unsigned cpu)
{
	smp_call_func_t start = sample_source == SAMPLE_BY_TIMER ? start_timer : nmi_timer->start_cpu;

	if (start)
		smp_call_function_single(cpu, start, NULL, true);
}

static void sample_timer_stop_on(unsigned cpu)
{
	if (sample_source == SAMPLE_BY_TIMER)
		hrtimer_cancel(&per_cpu(sample_cpu, cpu).timer);
	else if (nmi_timer->stop_cpu)
		smp_call_function_single(cpu, nmi_timer->stop_cpu, NULL, true);
}

/* On all CPUs that are there; the machine's source first. [sample_mutex] */
static void sample_timer_start_source(void)
{
	unsigned cpu;

	sample_cpus = cpu_active_mask;
	sample_source = nmi_timer && !nmi_timer->start(sample_period) ? SAMPLE_BY_NMI : SAMPLE_BY_TIMER;
	for_each_cpu(cpu, &sample_cpus)
		start_on(cpu);
}

/* Before clock_event is known, at boot, there is no timer to sample by: then start_sampling() begins later. */
int sample_timer_start(sample_fn fn, u64 period_ns)
{
	sample_fn nobody = NULL;

	if (period_ns < SAMPLE_PERIOD_MIN || period_ns > SAMPLE_PERIOD_MAX)
		return -EINVAL;
	if (!__atomic_compare_exchange_n(&sample, &nobody, fn, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return -EBUSY;
	mutex_lock(&sample_mutex);
	sample_period = period_ns;
	if (clock_event)
		sample_timer_start_source();
	mutex_unlock(&sample_mutex);
	return 0;
}

/* Begin what the command line has asked for, as soon as all CPUs run. */
static int start_sampling(void)
{
	mutex_lock(&sample_mutex);
	if (sample && sample_source == SAMPLE_OFF)
		sample_timer_start_source();
	mutex_unlock(&sample_mutex);
	return 0;
}
core_initcall(start_sampling);

/* No new call begins after this; hrtimer_cancel() waits for a timer's callback. [sample_mutex] */
static void stop_source(void)
{
	unsigned cpu;

	if (sample_source == SAMPLE_OFF)
		return;
	for_each_cpu(cpu, &sample_cpus)
		sample_timer_stop_on(cpu);
	if (sample_source == SAMPLE_BY_NMI)
		nmi_timer->stop();
	sample_source = SAMPLE_OFF;
}

/* First stop the source; then wait until no CPU is in the function any more: NMIs may be served still. */
void sample_timer_stop(void)
{
	mutex_lock(&sample_mutex);
	stop_source();
	mutex_unlock(&sample_mutex);
	smp_store_release(&sample, NULL);
	nmi_synchronize();
}

/*
 * A CPU comes or goes. Where each has a part of its own, that begins or ends. Else the source is one for all, and has
 * to be told its CPUs again: it stops, and starts with those that are active now.
 */
static int sample_cpu_changes(unsigned cpu)
{
	bool active;

	mutex_lock(&sample_mutex);
	active = cpumask_test_cpu(cpu, &cpu_active_mask);
	if (sample_source == SAMPLE_OFF || active == cpumask_test_cpu(cpu, &sample_cpus))
		goto unlock;
	if (sample_source == SAMPLE_BY_NMI && !nmi_timer->start_cpu) {
		stop_source();
		sample_timer_start_source();
	} else if (active) {
		cpumask_set_cpu(cpu, &sample_cpus);
		start_on(cpu);
	} else {
		sample_timer_stop_on(cpu);
		cpumask_clear_cpu(cpu, &sample_cpus);
	}
unlock:
	mutex_unlock(&sample_mutex);
	return 0;
}
static const struct cpuhp_step sample_step = {
	.name = "time:samples", .stage = CPUHP_ONLINE, .up = sample_cpu_changes, .down = sample_cpu_changes};
REGISTER_CPUHP(sample_step);
