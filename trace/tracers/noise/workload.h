/* The threads of osnoise and timerlat, and the arrays that get their records. Private to trace/tracers/noise. */
#pragma once

#include <kernel/smp.h>

#include "core/record.h"
#include "core/tracer.h"
#include "interference.h"

/* Control files of osnoise/; us unless said. [trace_types_lock; read without it] */
struct noise_settings {
	u64 period, runtime;		      /* osnoise: from the start of a sample to the next; length of a sample */
	u64 stop_tracing, stop_tracing_total; /* 0: never */
	u64 timerlat_period;
	u64 print_stack;       /* 0: never */
	unsigned long options; /* bits NOISE_OPT_* */
	struct cpumask cpus;
};
extern struct noise_settings noise_settings;

enum noise_option {
	NOISE_OPT_DEFAULTS, /* no bit: all others as at boot */
	NOISE_OPT_WORKLOAD, /* the noise to our own threads is measured; off: that to all threads, or to programs */
	NOISE_OPT_PANIC_ON_STOP,
	NOISE_OPT_PREEMPT_DISABLE, /* osnoise's thread runs with preemption off */
	NOISE_OPT_IRQ_DISABLE,	   /* ... with interrupts off */
	NOISE_OPTIONS,
};
static inline bool noise_option(enum noise_option option)
{
	return READ_ONCE(noise_settings.options) & BIT(option);
}

/* One of the two tracers. */
struct noise_workload {
	bool timerlat;
	const char *thread_name; /* with a %u for the CPU */
	int (*thread)(void *unused);
	/* Ends what runs in place of such a thread; NULL: there is no such thing. trace_types_lock held. */
	void (*stopped)(void);
	void (*cpu_goes)(unsigned cpu); /* a CPU leaves the machine; the same context. NULL: nothing but its thread */
};

/*
 * The init, reset, start and stop of both tracers. Several arrays may have the same one of them; each gets all records,
 * and there is one set of threads. noise_init: 0, -EBUSY: another array has the other one, -ENOMEM.
 */
int noise_init(struct trace_array *tr, const struct noise_workload *workload);
void noise_reset(struct trace_array *tr);
void noise_start(struct trace_array *tr);
void noise_stop(struct trace_array *tr);
/* Is this one selected, recording or not? trace_types_lock held. */
bool noise_selected(const struct noise_workload *workload);
/* Around a change of settings that threads depend on. trace_types_lock held; sleep. */
void noise_pause(void);
void noise_resume(void);

/* ---- For the threads and their timers. Any context but nmi. */

/*
 * A record in each array: make(entry, data) fills what is behind the common fields. Preemption off inside.
 */
void noise_record(int type, unsigned long size, void (*make)(void *entry, const void *data), const void *data);
/* In each array: the message "stop tracing hit on cpu N" of the function at `ip`, with `why` behind it; then off. */
void noise_stop_tracing(unsigned long ip, const char *why);
bool noise_tracing_is_on(void); /* in any of the arrays */
void noise_raise_max(u64 ns);	/* tracing_max_latency of those that record */
/* fn for each array, preemption off. */
void noise_for_each_array(void (*fn)(struct trace_array *tr, void *data), void *data);
