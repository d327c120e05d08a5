/*
 * The control files of a trace array: tracer, switches, buffer sizes, statistics, CPUs.
 *
 * Each is a TRACEFS_TEXT_FILE: a function that shows the whole text and one that takes a word. A file of a CPU
 * (per_cpu/cpuN) and the file of that name in the array's own directory share their functions; `cpu` tells them apart,
 * RING_BUFFER_ALL_CPUS_FILE in the second. Lock: trace_types_lock, taken here by each function.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "aside.h"
#include "tracer.h"

static void show_tracer_name(void *m, const char *name)
{
	seq_printf(m, "%s%s", ((struct seq_file *)m)->count ? " " : "", name);
}

/* One line. Every name in it can be written to current_tracer, which then shows it. */
static int available_tracers_show(struct seq_file *m, void *data)
{
	trace_tell_tracers(trace_file_array(data), show_tracer_name, m);
	seq_putc(m, '\n');
	return 0;
}
TRACEFS_TEXT_FILE(available_tracers, "available_tracers", 0440, TRACEFS_ARRAY, available_tracers_show, NULL);

/* The lock keeps the tracer from going between the look at current_trace and its name. */
static int current_tracer_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);

	mutex_lock(&trace_types_lock);
	seq_printf(m, "%s\n", tr->current_trace->name);
	mutex_unlock(&trace_types_lock);
	return 0;
}

/* trace/refusals/tracers.c explains those errors of tracing_set_tracer() for which it gives no reason. */
static int current_tracer_store(char *text, void *data, const char **why)
{
	struct trace_array *tr = trace_file_array(data);
	int ret;

	mutex_lock(&trace_types_lock);
	ret = tracing_set_tracer(tr, text, why);
	mutex_unlock(&trace_types_lock);
	return ret;
}
TRACEFS_REASON_FILE(current_tracer, "current_tracer", 0640, TRACEFS_ARRAY, current_tracer_show, current_tracer_store);

/* Read without the lock: tracing_off() may change the switch in any context anyway. */
static int tracing_on_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);

	seq_printf(m, "%d\n", tracer_tracing_is_on(tr));
	return 0;
}

/* Any number but 0 means on, as in Linux. */
static int tracing_on_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	tracing_set_on(tr, val != 0);
	mutex_unlock(&trace_types_lock);
	return 0;
}
TRACEFS_NUMBER_FILE(tracing_on, "tracing_on", 0640, TRACEFS_ARRAY, tracing_on_show, tracing_on_store);
TRACEFS_TAKES(tracing_on, "tracing_on", "a number: 0 stops recording, any other lets it go on");

static int tracing_enabled_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);

	seq_printf(m, "%d\n", tr->tracing_enabled);
	return 0;
}

/* As the file of that name did in Linux 2.6. Its effect is told at tracing_set_enabled(). */
static int tracing_enabled_store(char *text, void *data, const char **why)
{
	struct trace_array *tr = trace_file_array(data);
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	ret = tracing_set_enabled(tr, val != 0, why);
	mutex_unlock(&trace_types_lock);
	return ret;
}
REGISTER_TRACEFS(tracing_enabled, TRACEFS_ARRAY,
		 {.path = "tracing_enabled",
		  .mode = 0640,
		  .show = tracing_enabled_show,
		  .store_why = tracing_enabled_store,
		  .exact = true,
		  .kind = &tracefs_text});

/*
 * KiB of one CPU, or of each CPU when they are the same, else X. Before the first use the buffers are small, and
 * the parentheses show what they will become.
 */
static int buffer_size_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	int cpu = trace_file_cpu(data);
	unsigned long size;
	unsigned c;

	mutex_lock(&trace_types_lock);
	size = ring_buffer_size(tr->buffer, max(cpu, 0)) >> 10;
	if (cpu == RING_BUFFER_ALL_CPUS_FILE)
		for_each_possible_cpu(c)
			if (ring_buffer_size(tr->buffer, c) >> 10 != size)
				size = 0;
	if (!size)
		seq_puts(m, "X\n");
	else if (tr->buffer_expanded || cpu != RING_BUFFER_ALL_CPUS_FILE)
		seq_printf(m, "%lu\n", size);
	else
		seq_printf(m, "%lu (expanded: %lu)\n", size, trace_buf_size >> 10);
	mutex_unlock(&trace_types_lock);
	return 0;
}

/*
 * KiB become bytes here: the bound keeps that from overflowing, and a number that is too large is a lack of memory, as
 * in Linux. The file of one CPU changes that CPU's buffer alone.
 */
static int buffer_size_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	int cpu = trace_file_cpu(data);
	unsigned long kib;
	int ret = kstrtoul(text, 10, &kib);

	if (ret)
		return ret;
	if (!kib)
		return -EINVAL;
	if (kib > (~0UL >> 11))
		return -ENOMEM;
	mutex_lock(&trace_types_lock);
	ret = tracing_resize(tr, kib << 10, cpu == RING_BUFFER_ALL_CPUS_FILE ? RING_BUFFER_ALL_CPUS : cpu);
	mutex_unlock(&trace_types_lock);
	return ret;
}
TRACEFS_NUMBER_FILE(buffer_size, "buffer_size_kb", 0640, TRACEFS_ARRAY | TRACEFS_PER_CPU, buffer_size_show,
		    buffer_size_store);

/* KiB of all CPUs together; in parentheses what they will be once they are used. */
static int buffer_total_size_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	unsigned long size = 0;
	unsigned c;

	mutex_lock(&trace_types_lock);
	for_each_possible_cpu(c)
		size += ring_buffer_size(tr->buffer, c) >> 10;
	if (tr->buffer_expanded)
		seq_printf(m, "%lu\n", size);
	else
		seq_printf(m, "%lu (expanded: %lu)\n", size, (trace_buf_size >> 10) * nr_cpu_ids);
	mutex_unlock(&trace_types_lock);
	return 0;
}
TRACEFS_TEXT_FILE(buffer_total_size, "buffer_total_size_kb", 0440, TRACEFS_ARRAY, buffer_total_size_show, NULL);

/* Seconds with six places where the clock counts nanoseconds; else the clock's own count. */
static void show_stamp(struct seq_file *m, struct trace_array *tr, const char *what, u64 ts)
{
	if (trace_clock_in_ns(tr))
		seq_printf(m, "%s ts: %5llu.%06llu\n", what, (unsigned long long)ts / NSEC_PER_SEC,
			   (unsigned long long)ts % NSEC_PER_SEC / 1000);
	else
		seq_printf(m, "%s ts: %llu\n", what, (unsigned long long)ts);
}

/*
 * The counts of one CPU's buffer, named and ordered as in Linux. While it is written to they are of slightly different
 * moments.
 */
static int stats_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	int cpu = trace_file_cpu(data);
	struct trace_buffer *b = tr->buffer;

	seq_printf(m, "entries: %lu\n", ring_buffer_entries_cpu(b, cpu));
	seq_printf(m, "overrun: %lu\n", ring_buffer_overrun_cpu(b, cpu));
	seq_printf(m, "commit overrun: %lu\n", ring_buffer_commit_overrun_cpu(b, cpu));
	seq_printf(m, "bytes: %lu\n", ring_buffer_bytes_cpu(b, cpu));
	show_stamp(m, tr, "oldest event", ring_buffer_oldest_event_ts(b, cpu));
	show_stamp(m, tr, "now", trace_clock_now(tr));
	seq_printf(m, "dropped events: %lu\n", ring_buffer_dropped_events_cpu(b, cpu));
	seq_printf(m, "read events: %lu\n", ring_buffer_read_events_cpu(b, cpu));
	return 0;
}
TRACEFS_TEXT_FILE(stats, "stats", 0440, TRACEFS_PER_CPU, stats_show, NULL);

/* Hexadecimal, bit 0 for CPU 0: "f" is four CPUs. */
static int tracing_cpumask_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	char buf[NR_CPUS / 4 + 8];

	bitmap_print(buf, sizeof(buf), tr->tracing_cpumask.bits, nr_cpu_ids);
	seq_printf(m, "%s\n", buf);
	return 0;
}

/*
 * A CPU outside of the mask records nothing: its buffer is switched off, which costs the writers nothing more. "0" is
 * a mask as well, and no CPU records; a mask with a CPU that this machine lacks is -EOVERFLOW, and an empty text, which
 * has not even a newline, -EINVAL, as in Linux. Only CPUs whose bit changes are touched, because the switch counts. A
 * section that a latency tracer measures now has lost a part, so it is not taken (trace_max_break).
 */
static int tracing_cpumask_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	struct cpumask new = {};
	unsigned cpu;
	int ret = *text ? bitmap_parse(text, new.bits, nr_cpu_ids) : -EINVAL;

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	for_each_possible_cpu(cpu) {
		bool was = cpumask_test_cpu(cpu, &tr->tracing_cpumask), will = cpumask_test_cpu(cpu, &new);

		if (was && !will)
			ring_buffer_record_disable_cpu(tr->buffer, cpu);
		if (!was && will)
			ring_buffer_record_enable_cpu(tr->buffer, cpu);
	}
	trace_max_break(tr);
	tr->tracing_cpumask = new;
	mutex_unlock(&trace_types_lock);
	return 0;
}
REGISTER_TRACEFS(tracing_cpumask, TRACEFS_ARRAY,
		 {.path = "tracing_cpumask",
		  .mode = 0640,
		  .show = tracing_cpumask_show,
		  .store = tracing_cpumask_store,
		  .exact = true,
		  .kind = &tracefs_text});
