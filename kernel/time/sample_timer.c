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
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/sample_timer.h>

const struct nmi_timer *nmi_timer;

static sample_fn sample; /* [atomic] NULL: there is no sampling */
/* [the user that starts and stops: one at a time] */
static u64 sample_period;
static enum { SAMPLE_OFF, SAMPLE_BY_NMI, SAMPLE_BY_TIMER } sample_source;

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
	hrtimer_start(&c->timer, sample_grid_next(&c->grid, c->grid.line));
}

/* On all CPUs that are online; the machine's source first. */
static void start_source(void)
{
	if (nmi_timer && !nmi_timer->start(sample_period)) {
		sample_source = SAMPLE_BY_NMI;
		if (nmi_timer->start_cpu)
			on_each_cpu(nmi_timer->start_cpu, NULL, true);
		return;
	}
	sample_source = SAMPLE_BY_TIMER;
	on_each_cpu(start_timer, NULL, true);
}

/* Before clock_event is known, at boot, there is no timer to sample by: then start_sampling() begins later. */
int sample_timer_start(sample_fn fn, u64 period_ns)
{
	sample_fn nobody = NULL;

	if (period_ns < SAMPLE_PERIOD_MIN || period_ns > SAMPLE_PERIOD_MAX)
		return -EINVAL;
	if (!__atomic_compare_exchange_n(&sample, &nobody, fn, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return -EBUSY;
	sample_period = period_ns;
	if (clock_event)
		start_source();
	return 0;
}

/* Begin what the command line has asked for, as soon as all CPUs run. */
static int start_sampling(void)
{
	if (sample && sample_source == SAMPLE_OFF)
		start_source();
	return 0;
}
core_initcall(start_sampling);

/*
 * First stop the source, so that no new call begins; then wait until no CPU is in the function any more:
 * hrtimer_cancel() waits for a timer's callback, and NMIs that are being served are waited for here.
 */
void sample_timer_stop(void)
{
	unsigned cpu;

	if (sample_source == SAMPLE_BY_NMI) {
		if (nmi_timer->stop_cpu)
			on_each_cpu(nmi_timer->stop_cpu, NULL, true);
		nmi_timer->stop();
	} else if (sample_source == SAMPLE_BY_TIMER) {
		for_each_online_cpu(cpu)
			hrtimer_cancel(&per_cpu(sample_cpu, cpu).timer);
	}
	sample_source = SAMPLE_OFF;
	smp_store_release(&sample, NULL);
	nmi_synchronize();
}
