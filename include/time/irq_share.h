/*
 * The share of a CPU's time that its timer interrupts take, and what makes them so long (trace/overload).
 *
 * A tracer, a command or a probe makes each function of the kernel dearer, those of interrupts too. When handling one
 * tick takes as long as the time between two of them, tasks make no progress any more, and nobody can switch off what
 * is to blame. So each room that has something so dear registers how to end it, and the CPU ends it by itself.
 */
#pragma once

#include <lib/types.h>
#include <time/ktime.h>

/* Something that a user has switched on and that makes interrupts longer. */
struct irq_burden {
	unsigned cost; /* guest instructions that it adds to one call of a function: the dearest one ends first */
	/*
	 * End it, on this CPU or on all of them, and write into `what` its name and the file that governs it:
	 * "hw-branch-tracer on this CPU (hw_branch_window)". False: it is not at work here. Context: hard interrupt;
	 * takes no lock that is taken with interrupts on.
	 */
	bool (*end)(char *what, size_t size);
};
#define REGISTER_IRQ_BURDEN(b) REGISTER_IN(irq_burdens, b)

/* Locks: c its CPU, interrupts off. */
struct irq_share {
	ktime_t ended;	/* [c] when the last timer interrupt had been served */
	u64 debt;	/* [c] ns by which interrupts have exceeded their share; 0: they have not */
	ktime_t since;	/* [c] when that began */
	u64 interrupts; /* [c] ns in them since then */
	u64 took[8];	/* [c] ns in each of the last ones since then, */
	unsigned nr;	/* [c] of which the next is at nr % 8 */
};

/* What an interrupt owes to the tasks for each ns, in 1/64 ns; 0: nothing is ended, as without trace/overload. [a] */
extern u64 irq_share_owed;
#define IRQ_SHARE_OWED_SHIFT 6

/*
 * The slow part of irq_share_note(), which that room sets before irq_share_owed. took, gap: ns in the interrupt, and
 * before it.
 */
extern void (*irq_share_exceeded)(struct irq_share *s, u64 took, u64 gap);

/*
 * A timer interrupt has been served from `begin` to `end`. In most of them one comparison is all. Context: hard
 * interrupt, interrupts off, no lock held.
 */
static inline void irq_share_note(struct irq_share *s, ktime_t begin, ktime_t end)
{
	u64 took = end - begin, gap = begin - s->ended;

	s->ended = end;
	if (unlikely(s->debt || took * READ_ONCE(irq_share_owed) >> IRQ_SHARE_OWED_SHIFT > gap))
		irq_share_exceeded(s, took, gap);
}
