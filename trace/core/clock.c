/*
 * The clocks that records can be stamped with; trace_clock chooses.
 *
 * All nanosecond clocks but tai are one here, because the machine's counter is the same on all CPUs and never stops.
 * Linux's names are kept, since tutorials and trace-cmd write them. A clock of the buffer is read for every record, in
 * any context, so none of them takes a lock.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <time/hrtimer.h>
#include <uapi/time.h>

#include "tracefs/tracefs.h"
#include "aside.h"
#include "tracer.h"

/* Counts records, for an order across CPUs that no clock can give. */
static u64 trace_clock_counter(void)
{
	static atomic64_t count;

	return atomic64_inc_return(&count);
}

/* Hundredths of a second since boot, as times() counts them. */
static u64 trace_clock_uptime(void)
{
	return sched_clock() / (NSEC_PER_SEC / USER_HZ);
}

/* The clock of the scheduler, by call: the buffer wants a function. */
static u64 trace_clock_sched(void)
{
	return sched_clock();
}

/* The machine's counter as it is, for programs that read the same counter and compare. */
static u64 trace_clock_arch(void)
{
	return arch_read_counter();
}

/*
 * `read` NULL: sched_clock, inline. Our one clock agrees on all CPUs, so `global` needs nothing that `local` does not.
 */
static const struct trace_clock {
	const char *name;
	u64 (*read)(void);
	bool in_ns;
	bool may_be_set; /* by clock_settime: its differences are no times */
} trace_clocks[] = {
	{"local", NULL, true, false},
	{"global", trace_clock_sched, true, false},
	{"counter", trace_clock_counter, false, false},
	{"uptime", trace_clock_uptime, false, false},
	{"perf", trace_clock_sched, true, false},
	{"mono", trace_clock_sched, true, false},
	{"mono_raw", trace_clock_sched, true, false},
	{"boot", trace_clock_sched, true, false},
	{"tai", ktime_get_real_ns, true, true},
	{ARCH_COUNTER_NAME, trace_clock_arch, false, false},
};

/* Are differences of this clock times? What measures latencies needs one whose are. */
bool trace_clock_measures(unsigned clock_id)
{
	return trace_clocks[clock_id].in_ns && !trace_clocks[clock_id].may_be_set;
}

/*
 * What this array's clock showed when the machine's counter had the value `cycles`: function_graph takes the counter at
 * a call and makes a record of it later. The counting clock has no time to convert; it gives the next number.
 */
u64 trace_clock_at(const struct trace_array *tr, u64 cycles)
{
	u64 (*read)(void) = trace_clocks[tr->clock_id].read, ns = cycles_to_ns(cycles);

	if (read == trace_clock_counter)
		return read();
	if (read == trace_clock_arch)
		return cycles;
	if (read == trace_clock_uptime)
		return ns / (NSEC_PER_SEC / USER_HZ);
	return trace_clocks[tr->clock_id].may_be_set ? ns + ktime_get_real_ns() - sched_clock() : ns;
}

bool trace_clock_in_ns(const struct trace_array *tr)
{
	return trace_clocks[tr->clock_id].in_ns;
}

/*
 * tr->clock NULL means sched_clock, inline; the buffer itself needs a function for writers that do not bring a
 * stamp.
 */
void trace_clock_init(struct trace_array *tr)
{
	ring_buffer_set_clock(tr->buffer, trace_clock_sched);
}

/* Is this the name of the array's clock? trace_types_lock held. */
bool trace_clock_is(const struct trace_array *tr, const char *name)
{
	return !strcmp(trace_clocks[tr->clock_id].name, name);
}

/* Records under one clock cannot be compared with those under another: the buffer starts over. */
int tracing_set_clock(struct trace_array *tr, const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(trace_clocks); i++) {
		if (strcmp(trace_clocks[i].name, name))
			continue;
		if (tr->current_trace->use_max_tr && !trace_clock_measures(i))
			return -EINVAL; /* a latency is a time */
		trace_max_pause(tr);
		tr->clock_id = i;
		WRITE_ONCE(tr->clock, trace_clocks[i].read);
		ring_buffer_set_clock(tr->buffer, tr->clock ? tr->clock : trace_clock_sched);
		trace_array_changed(tr, TRACE_CHANGED_CLOCK);
		/* A writer that has read the old clock has made its record after this, and the reset removes it. */
		synchronize_rcu();
		tracing_reset(tr, RING_BUFFER_ALL_CPUS);
		trace_max_reset(tr);
		trace_max_resume(tr);
		return 0;
	}
	return -EINVAL;
}

/* As in Linux, all in one line, the one in force in brackets. */
static int trace_clock_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);

	for (unsigned i = 0; i < ARRAY_SIZE(trace_clocks); i++)
		seq_printf(m, i == tr->clock_id ? "%s[%s]" : "%s%s", i ? " " : "", trace_clocks[i].name);
	seq_putc(m, '\n');
	return 0;
}

static int trace_clock_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	int ret;

	mutex_lock(&trace_types_lock);
	ret = tracing_set_clock(tr, text);
	mutex_unlock(&trace_types_lock);
	return ret;
}
TRACEFS_TEXT_FILE(trace_clock, "trace_clock", 0640, TRACEFS_ARRAY, trace_clock_show, trace_clock_store);

const char *trace_clock_name(unsigned i)
{
	return i < ARRAY_SIZE(trace_clocks) ? trace_clocks[i].name : NULL;
}
