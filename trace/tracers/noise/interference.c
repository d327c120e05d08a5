/*
 * Counting what takes a CPU from a thread: NMIs, interrupts, softirqs, other threads.
 *
 * Probes stand where each kind begins and ends. They nest as the contexts do:
 *
 *	thread   |----------------------------------------|
 *	softirq        |-------------------|
 *	irq                 |------|
 *
 * Each kind on a CPU has one window (struct noise_window). Where a window ends, its whole length goes to the next
 * window below that is open, as time that was not its own (`inner`). So each event tells net times, and their sum is
 * the time that was taken.
 *
 * Races. A window's fields are written by its own context; `inner` also by contexts that interrupt it. A context that
 * interrupts counts itself in `interruptions` when it comes, and corrects `inner` before it leaves. So code that reads
 * several of these values reads them again when that number has changed meanwhile. Additions to `inner` are atomic
 * operations, because an NMI may come in the middle of one.
 *
 * A probe does nothing until the CPU's thread is there (`sampling`). A window that was not seen to begin has no end.
 */
#include <arch/smp.h>
#include <kernel/smp.h>
#include <lib/string.h>
#include <time/clock.h>
#include <trace/events/ipi.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>

#define CREATE_TRACE_POINTS
#include <trace/events/osnoise.h>

#include <trace/machine_irq.h>

#include "interference.h"

DEFINE_PER_CPU(struct noise_cpu, noise_cpu);
static bool noise_timerlat; /* [t; probes read it, and there are none when it changes] */

void noise_begin(struct noise_cpu *cpu, pid_t pid)
{
	cpu->pid = pid;
	cpu->timer_fired = false;
	for (unsigned kind = 0; kind < NOISE_KINDS; kind++)
		cpu->of[kind].open = false;
	barrier();
	WRITE_ONCE(cpu->sampling, true);
}

/* ---- Windows. Preemption off, this CPU. */

/*
 * A window of this kind begins. `begin` and `inner` must belong together, so they are set again until no interruption
 * came in between: the time of one that came before `begin` was read would be in `inner` only, and not in the window.
 */
static void window_open(struct noise_cpu *here, enum noise_kind kind)
{
	struct noise_window *w = &here->of[kind];
	u32 seen;

	w->arrival = sched_clock();
	w->count++;
	WRITE_ONCE(w->open, true);
	do {
		seen = READ_ONCE(here->interruptions);
		barrier();
		WRITE_ONCE(w->inner, 0);
		w->begin = sched_clock();
		barrier();
	} while (seen != READ_ONCE(here->interruptions));
	__atomic_fetch_add(&here->interruptions, 1, __ATOMIC_RELAXED);
}

/* An interruption of `kind` took `ns` from the next window below that is open: count them in its `inner`. */
static void take_from_below(struct noise_cpu *here, enum noise_kind kind, u64 ns)
{
	while (kind-- > 0)
		if (READ_ONCE(here->of[kind].open)) {
			__atomic_fetch_add(&here->of[kind].inner, ns, __ATOMIC_RELAXED);
			return;
		}
}

/* The window ends. Returns its net time in ns. The window must be open. */
static u64 window_close(struct noise_cpu *here, enum noise_kind kind)
{
	struct noise_window *w = &here->of[kind];
	u64 whole, net;
	u32 seen;

	do {
		seen = READ_ONCE(here->interruptions);
		barrier();
		whole = sched_clock() - w->begin;
		net = whole - READ_ONCE(w->inner);
		barrier();
	} while (seen != READ_ONCE(here->interruptions));
	WRITE_ONCE(w->open, false);
	take_from_below(here, kind, whole);
	return net;
}

/*
 * Timerlat asks what has delayed its thread, and the delay begins with the interrupt of its timer. A thread or a
 * softirq that this interrupt came into delays timerlat's thread only from then on, so its window begins again here.
 * Interrupts are counted as usual: at their end they take their time from the window below, which begins where they
 * did.
 */
void noise_timer_fired(struct noise_cpu *here)
{
	const struct noise_window *irq = &here->of[NOISE_IRQ];
	u64 from = irq->open ? irq->begin : sched_clock();

	here->timer_fired = true;
	for (enum noise_kind kind = NOISE_THREAD; kind < NOISE_IRQ; kind++) {
		struct noise_window *w = &here->of[kind];

		w->arrival = w->begin = from;
		WRITE_ONCE(w->inner, 0);
	}
}

/* Does the time of threads and softirqs delay anything? Before its timer has fired, timerlat waits for nothing. */
static bool delays_thread(const struct noise_cpu *here)
{
	return !noise_timerlat || here->timer_fired;
}

/* ---- Probes */

static void probe_nmi_enter(void *data, unsigned cpu)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);

	if (READ_ONCE(here->sampling))
		window_open(here, NOISE_NMI);
}

static void probe_nmi_exit(void *data, unsigned cpu)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);
	struct noise_window *w = &here->of[NOISE_NMI];

	if (READ_ONCE(here->sampling) && w->open)
		trace_nmi_noise(w->arrival, window_close(here, NOISE_NMI));
}

static void irq_begins(const char *name)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);

	if (!READ_ONCE(here->sampling))
		return;
	here->irq_name = name;
	window_open(here, NOISE_IRQ);
}

static void irq_ends(int vector)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);
	struct noise_window *w = &here->of[NOISE_IRQ];

	if (!READ_ONCE(here->sampling) || !w->open)
		return;
	trace_irq_noise(vector, here->irq_name, w->arrival, window_close(here, NOISE_IRQ));
}

static void probe_irq_entry(void *data, int irq, const char *handler)
{
	irq_begins(handler);
}

static void probe_irq_exit(void *data, int irq, irqreturn_t ret)
{
	irq_ends(irq);
}

/* An IPI that comes as an NMI is counted as an NMI. */
static void probe_ipi_entry(void *data, const char *reason)
{
	if (!in_nmi())
		irq_begins(reason);
}

/* Its number is that of the kind; what the machine has besides, with a reason of its own, is behind them. */
static void probe_ipi_exit(void *data, const char *reason)
{
	int kind = 0;

	if (in_nmi())
		return;
	while (kind < IPI_MAX && ipi_names[kind] != reason)
		kind++;
	irq_ends(kind);
}

static void probe_vector_enter(void *data, int vector, const char *name)
{
	irq_begins(name);
}

static void probe_vector_exit(void *data, int vector, const char *name)
{
	irq_ends(vector);
}

static void probe_softirq_entry(void *data, unsigned vec_nr)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);

	if (READ_ONCE(here->sampling))
		window_open(here, NOISE_SOFTIRQ);
}

static void probe_softirq_exit(void *data, unsigned vec_nr)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);
	struct noise_window *w = &here->of[NOISE_SOFTIRQ];
	u64 net;

	if (!READ_ONCE(here->sampling) || !w->open)
		return;
	net = window_close(here, NOISE_SOFTIRQ);
	if (delays_thread(here))
		trace_softirq_noise(vec_nr, w->arrival, net);
}

/*
 * The time of other threads is noise, from the switch to one of them to the next switch. The thread that is disturbed
 * (pid) has no window. Interrupts off.
 */
static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			       unsigned prev_state)
{
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);
	struct noise_window *w = &here->of[NOISE_THREAD];
	u64 net;

	if (!READ_ONCE(here->sampling))
		return;
	if (w->open) {
		net = window_close(here, NOISE_THREAD);
		if (delays_thread(here))
			trace_thread_noise(prev, w->arrival, net);
	}
	if (!here->pid || next->pid != here->pid)
		window_open(here, NOISE_THREAD);
}

static const struct tracepoint_probe common_probes[] = {
	{&__tracepoint_irq_handler_entry, (void *)probe_irq_entry},
	{&__tracepoint_irq_handler_exit, (void *)probe_irq_exit},
	{&__tracepoint_ipi_entry, (void *)probe_ipi_entry},
	{&__tracepoint_ipi_exit, (void *)probe_ipi_exit},
	{&__tracepoint_softirq_entry, (void *)probe_softirq_entry},
	{&__tracepoint_softirq_exit, (void *)probe_softirq_exit},
	{&__tracepoint_sched_switch, (void *)probe_sched_switch},
	{&__tracepoint_nmi_enter, (void *)probe_nmi_enter},
	{&__tracepoint_nmi_exit, (void *)probe_nmi_exit},
};

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void compare_name(struct tracepoint *tp, void *priv)
{
	struct tracepoint_search *search = priv;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/* A tracepoint that only some machines have, by its name; NULL: this one has not. Thread context. */
static struct tracepoint *find_kernel_tracepoint(const char *name)
{
	struct tracepoint_search search = {.name = name};

	for_each_kernel_tracepoint(compare_name, &search);
	return search.found;
}

/*
 * Interrupts without a line and without an ipi_entry, where the machine has such: x86_64's timer is one. How many of
 * the two places are used.
 */
static unsigned vector_probes(struct tracepoint_probe probes[2])
{
	probes[0] = (struct tracepoint_probe){find_kernel_tracepoint("vector_enter"), (void *)probe_vector_enter};
	probes[1] = (struct tracepoint_probe){find_kernel_tracepoint("vector_exit"), (void *)probe_vector_exit};
	return probes[0].tp && probes[1].tp ? 2 : 0;
}

/* All probes or none. The probes read noise_timerlat, so it is set before the first of them is there. */
int noise_probes_register(bool timerlat)
{
	struct tracepoint_probe vectors[2];
	int ret;

	noise_timerlat = timerlat;
	ret = tracepoint_probes_register(common_probes, ARRAY_SIZE(common_probes), NULL);
	if (ret)
		return ret;
	ret = tracepoint_probes_register(vectors, vector_probes(vectors), NULL);
	if (ret)
		tracepoint_probes_unregister(common_probes, ARRAY_SIZE(common_probes), NULL);
	return ret;
}

void noise_probes_unregister(void)
{
	struct tracepoint_probe vectors[2];

	tracepoint_probes_unregister(vectors, vector_probes(vectors), NULL);
	tracepoint_probes_unregister(common_probes, ARRAY_SIZE(common_probes), NULL);
}
