/* What takes a CPU from the threads of osnoise and timerlat. Private to trace/tracers/noise. */
#pragma once

#include <kernel/percpu.h>
#include <sched/sched.h>

/* Kinds of interference; each may interrupt those before it. */
enum noise_kind {
	NOISE_THREAD,
	NOISE_SOFTIRQ,
	NOISE_IRQ,
	NOISE_NMI,
	NOISE_KINDS,
};

/* One kind on one CPU. Locks: c this CPU, in contexts that nest. */
struct noise_window {
	unsigned count; /* [c] how many have begun */
	bool open;	/* [c] one is under way */
	u64 arrival;	/* [c] ns, when it began, for the event */
	u64 begin;	/* [c] ns, from where its time is counted */
	u64 inner;	/* [c] ns of that time which other kinds took */
};

/*
 * Locks: c this CPU, in contexts that nest; w the code that starts and stops counting; a atomic for this CPU's
 * contexts.
 */
struct noise_cpu {
	bool sampling;	      /* [w, c] interference is counted */
	bool timer_fired;     /* [c] timerlat: between the timer's interrupt and its thread */
	pid_t pid;	      /* [w] the thread that is disturbed, and is no noise itself; 0: none, all threads count */
	u32 interruptions;    /* [a] how many of all kinds, so that code can tell whether one came in between */
	const char *irq_name; /* [c, interrupts off] of the handler that runs */
	struct noise_window of[NOISE_KINDS];
};
DECLARE_PER_CPU(struct noise_cpu, noise_cpu);

/*
 * The clock, and in *count how many interruptions there had been at that moment: a pair that belongs together, though
 * an interrupt may come at any instruction. Any context.
 */
static __always_inline u64 noise_clock(struct noise_cpu *here, u32 *count)
{
	u64 now;

	do {
		*count = READ_ONCE(here->interruptions);
		barrier();
		now = sched_clock();
		barrier();
	} while (*count != READ_ONCE(here->interruptions));
	return now;
}

/*
 * Begin to count on a CPU: no window is open. `pid`: the thread that is disturbed; 0: none. On that CPU with interrupts
 * off, or before any probe counts there.
 */
void noise_begin(struct noise_cpu *cpu, pid_t pid);
/*
 * Timerlat's timer has fired: what runs now delays the thread from the interrupt's begin on. Call it in the interrupt.
 */
void noise_timer_fired(struct noise_cpu *here);

/* Probes at all kinds, and away again. `timerlat`: see timer_fired. 0 or -ENOMEM. trace_types_lock held; sleep. */
int noise_probes_register(bool timerlat);
void noise_probes_unregister(void);
