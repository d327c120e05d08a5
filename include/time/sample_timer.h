/*
 * A timer that samples: once in each period it looks at what each online CPU is doing. A machine that has a source of
 * NMIs (struct nmi_timer, given by a driver) can do that even while interrupts are masked; on other machines ordinary
 * timers sample, and code that masks interrupts is not seen. There is one user at a time.
 */
#pragma once

#include <lib/hash.h>
#include <lib/types.h>

struct cpumask;
struct pt_regs;

#define SAMPLE_PERIOD_MIN 100000UL	/* ns, as in Linux: a sample must not take all of the time */
#define SAMPLE_PERIOD_MAX 10000000000UL /* ns: below half the range of 32 bits of an HPET at 100 MHz */

/*
 * Called on each CPU with the interrupted registers. Context: NMI (in_nmi()), or hard interrupt where the machine has
 * no source of NMIs. Interrupts and preemption off, anything may be locked: not traced, no locks.
 */
typedef void (*sample_fn)(const struct pt_regs *regs);

/*
 * Begin to sample every period_ns (SAMPLE_PERIOD_MIN to _MAX). At boot it begins later, when the timers' drivers are
 * there and the other CPUs run. 0; -EBUSY: there is a user already; -EINVAL, -ENOMEM. Context: thread that may sleep.
 */
int sample_timer_start(sample_fn fn, u64 period_ns);
/* End: when it returns no CPU is in the function, and no source interrupts any more. Context: thread. */
void sample_timer_stop(void);

/* ---- For the machine's source */

struct nmi_timer {
	const char *name;
	/*
	 * Get ready, or undo that; between the two each CPU of sample_cpus is started, and stopped. Thread context. 0
	 * or -errno
	 */
	int (*start)(u64 period_ns);
	void (*stop)(void);
	/* This CPU's own part, interrupts off; NULL: there is one source for all. */
	void (*start_cpu)(void *unused);
	void (*stop_cpu)(void *unused);
};
extern const struct nmi_timer *nmi_timer; /* [boot, then immutable] NULL: none */
extern struct cpumask sample_cpus;	  /* those to interrupt. [while the source starts, runs and stops] */
/* The period is over on this CPU. Context: the sample function's; not traced. */
void sample_timer_tick(const struct pt_regs *regs);

/*
 * When samples are due, in the units of the source: one in each period, by chance at the beginning or up to an eighth
 * of a period later. Otherwise a program's loop that takes as long as a period, or a part of it, would be caught at the
 * same place again and again, and its other parts never. The mean distance is exactly the period. Each moment follows
 * from `begin` and the number of its period alone, so CPUs that ask within the same period find the same moment.
 */
struct sample_grid {
	u64 period;
	u64 begin;
};

static inline void sample_grid_start(struct sample_grid *g, u64 now, u64 period)
{
	*g = (struct sample_grid){.period = period, .begin = now};
}

/*
 * When the next one is due: later than `now`; what was missed is left out. Any context, also in .noinstr.text. Chance
 * is the number of the period, mixed by two multiplications (as in the last step of MurmurHash3).
 */
static __always_inline u64 sample_grid_next(const struct sample_grid *g, u64 now)
{
	u64 number = (now - g->begin) / g->period + 1;
	u32 chance = hash_32(number, 32);

	chance = (chance ^ chance >> 15) * 0x85ebca6bu;
	return g->begin + number * g->period + ((chance >> 8) * (g->period >> 3) >> 24);
}
