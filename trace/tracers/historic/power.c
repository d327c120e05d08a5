/*
 * The power tracer of Linux 2.6.28 to 2.6.31: when each CPU went to sleep, and for how long.
 *
 *	[    1.034560000] CSTATE: Going to C1 on cpu 0 for 0.003970112
 *
 * A line is written when the CPU goes on, so lines stand in the order of those moments, and a CPU that still sleeps has
 * none. A probe at the event cpu_idle notes the beginning and makes a record at the end. That is in the CPU's idle
 * task with interrupts off, so the note needs no lock.
 *
 * Linux's tracer had a second line, PSTATE, for changes of the clock's frequency. These machines have none.
 */
#include <kernel/percpu.h>
#include <time/clock.h>
#include <trace/events/power.h>

#include "core/record.h"
#include "output/iter.h"

/* When this CPU went to sleep, ns; 0: it did not, or no probe saw it. [this CPU, interrupts off] */
struct power_cpu {
	u64 stamp;
};
static DEFINE_PER_CPU(struct power_cpu, power_cpu);

/* The end of a sleep whose beginning was seen. */
static void record_power(struct trace_array *tr, u64 stamp, u64 end, unsigned state)
{
	struct ring_buffer_event *event;
	struct trace_power *entry = trace_reserve(tr, &event, TRACE_POWER, sizeof(*entry));

	if (!entry)
		return;
	entry->stamp = stamp;
	entry->end = end;
	entry->type = POWER_CSTATE;
	entry->state = state;
	trace_commit(tr);
}

/* The clock is the kernel's own, not the trace's: stamps are compared with those of the log. */
static void probe_cpu_idle(void *data, unsigned state, unsigned cpu_id)
{
	struct power_cpu *here = this_cpu_ptr(&power_cpu);

	if (state != PWR_EVENT_EXIT) {
		here->stamp = sched_clock();
	} else if (here->stamp) {
		record_power(data, here->stamp, sched_clock(), 1); /* the only state that a CPU sleeps in */
		here->stamp = 0;
	}
}

static const struct tracepoint_probe power_probes[] = {
	{&__tracepoint_cpu_idle, (void *)probe_cpu_idle},
};

/* Stamps from the last time that the tracer was selected are forgotten. No probe runs yet. 0 or -ENOMEM. */
static int power_trace_init(struct trace_array *tr)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		per_cpu(power_cpu, cpu).stamp = 0;
	return tracepoint_probes_register(power_probes, ARRAY_SIZE(power_probes), tr);
}

static void power_trace_reset(struct trace_array *tr)
{
	tracepoint_probes_unregister(power_probes, ARRAY_SIZE(power_probes), tr);
}

static void put_power(struct seq_file *s, const struct trace_iterator *iter)
{
	const struct trace_power *field = (const void *)iter->ent;
	unsigned long ns = field->end - field->stamp;

	seq_printf(s, "CSTATE: Going to C%i on cpu %i for %lu.%09lu\n", field->state, iter->cpu, ns / NSEC_PER_SEC,
		   ns % NSEC_PER_SEC);
}

/* The tracer's own line; other records (markers, stacks) go the usual way. */
static bool power_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_power *field = (const void *)iter->ent;

	if (iter->ent->type != TRACE_POWER)
		return false;
	seq_printf(s, "[%5lu.%09lu] ", (unsigned long)field->stamp / NSEC_PER_SEC,
		   (unsigned long)field->stamp % NSEC_PER_SEC);
	put_power(s, iter);
	return true;
}

static const struct tracer power_tracer = {
	.name = "power",
	.init = power_trace_init,
	.reset = power_trace_reset,
	.print_line = power_print_line,
};
REGISTER_TRACER(power_tracer);

/* In a trace of another tracer, behind the usual columns. */
static void power_trace_text(struct seq_file *s, struct trace_iterator *iter)
{
	put_power(s, iter);
}

static const struct trace_event power_event = {.type = TRACE_POWER, .trace = power_trace_text};
REGISTER_TRACE_EVENT(power_event);
