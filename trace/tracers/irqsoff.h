/* Between the hooks (tracers/preemptirq.c) and the tracers irqsoff, preemptoff, preemptirqsoff (tracers/irqsoff.c). */
#pragma once

#include "core/array.h"

/* What a tracer measures: a section lasts while one of its kinds is off. */
#define CRITICAL_IRQS	 1u
#define CRITICAL_PREEMPT 2u

enum critical_state {
	CRITICAL_NONE, /* not known, or this CPU is not looked at: an `on` ends nothing */
	CRITICAL_ON,   /* no section */
	CRITICAL_OFF,  /* in a section, which is measured */
	CRITICAL_BUSY, /* the tracer itself runs: hooks and functions under it are passed over */
};

/* The section of a CPU. Locks: c its CPU with interrupts off (raw); r anybody may read. */
struct critical {
	u8 state;	     /* [c, r] enum critical_state */
	bool waits;	     /* [c] the idle loop waits, and its own disabled preemption does not count */
	u32 base;	     /* [c] the preempt_count at which the section ends (preemptirq.c) */
	u64 start;	     /* [c] when it began, after the tracer's own work */
	u64 first;	     /* [c] stamp of its first record, before that work */
	unsigned long place; /* [c] "started at" */
	unsigned long lost_ends, lost_begins; /* [c, r] how many hooks did not fit the state, for the tests */
} __cacheline_aligned;
DECLARE_PER_CPU(struct critical, critical_section);

/* The barriers keep the store where it stands, because an NMI or an exception in between looks at the state. */
static __always_inline void critical_set_state(struct critical *c, enum critical_state state)
{
	barrier();
	WRITE_ONCE(c->state, state);
	barrier();
}
/* The section is over. On top of code that turned something off without a hook, the next `on` may be that code's. */
static __always_inline void critical_ended(struct critical *c)
{
	critical_set_state(c, c->base ? CRITICAL_NONE : CRITICAL_ON);
}

/* The tracer that measures now. Locks: t trace_types_lock; hooks read it without. */
struct critical_tracer {
	struct trace_array *tr; /* [t] set when all hooks are on, NULL before they go off */
	u32 kinds;		/* [t] CRITICAL_*; changes while they are off */
	bool graph;		/* [t] display-graph: records are of function graph */
};
extern struct critical_tracer critical_tracer;

/*
 * The end of a section that is long enough: write its last records and take it as the maximum. ip and fp are those that
 * the hook has; flags: the interrupt flags of the traced code; end: the stamp at which it ends. Interrupts off.
 */
typedef void (*critical_take_t)(unsigned long ip, unsigned long fp, unsigned long flags, struct trace_array *tr,
				u64 end);
void tracer_hardirqs_on(unsigned long ip, unsigned long fp, unsigned long flags, struct trace_array *tr, u64 end);
void tracer_preempt_on(unsigned long ip, unsigned long fp, unsigned long flags, struct trace_array *tr, u64 end);

/*
 * The two addresses that a record of a place shows: a lock function and its caller, when the hook stands in such a
 * function; else the hook and the place. fp: the frame record of the function that ip lies in.
 */
struct critical_names {
	unsigned long ip, parent_ip;
};
struct critical_names critical_names(unsigned long hook, unsigned long ip, unsigned long fp);
