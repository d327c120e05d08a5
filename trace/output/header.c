/*
 * What stands above the lines of `trace`: the tracer's name, how many records there are, and a title for each
 * column.
 *
 *     # tracer: function
 *     #
 *     # entries-in-buffer/entries-written: 140080/250280   #P:4
 *     #
 *     #           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
 *
 * A tracer may bring its own (print_header); the latency format has another one (latency.c). The text is Linux's to
 * the last blank, because programs skip it by its shape. Context: a reader, trace_types_lock held.
 */
#include "core/aside.h"
#include "iter.h"
#include "output.h"

/*
 * The column of thread groups pushes everything to the right; its name moves a little into the room that the pid's has.
 * `%.*s` takes two blanks, or twelve characters.
 */
static void print_irq_columns(struct seq_file *s, bool tgid)
{
	static const char blanks[] = "            ";
	int room = tgid ? 12 : 2;

	seq_printf(s, "#                            %.*s  _-----=> irqs-off/BH-disabled\n", room, blanks);
	seq_printf(s, "#                            %.*s / _----=> need-resched\n", room, blanks);
	seq_printf(s, "#                            %.*s| / _---=> hardirq/softirq\n", room, blanks);
	seq_printf(s, "#                            %.*s|| / _--=> preempt-depth\n", room, blanks);
	seq_printf(s, "#                            %.*s||| / _-=> migrate-disable\n", room, blanks);
	seq_printf(s, "#                            %.*s|||| /     delay\n", room, blanks);
	seq_printf(s, "#           TASK-PID  %.*s CPU#  |||||  TIMESTAMP  FUNCTION\n", room, "     TGID   ");
	seq_printf(s, "#              | |    %.*s   |   |||||     |         |\n", room, "       |    ");
}

/* The short form, for when the option irq-info is off: lines then have no flags. */
static void print_columns(struct seq_file *s, bool tgid)
{
	seq_printf(s, "#           TASK-PID    %s CPU#     TIMESTAMP  FUNCTION\n", tgid ? "   TGID   " : "");
	seq_printf(s, "#              | |      %s   |         |         |\n", tgid ? "     |    " : "");
}

/*
 * How many of this CPU's records that would be shown were overwritten. A maximum that is longer than the buffer has
 * lost an unknown number: then this is all that the ring has lost since it was cleared.
 */
static unsigned long lost_of_shown(struct trace_iterator *iter, unsigned cpu, bool window)
{
	if (window && ring_buffer_oldest_event_ts(iter->buffer, cpu) <= iter->from)
		return 0;
	return ring_buffer_overrun_cpu(iter->buffer, cpu);
}

/* A maximum shows only the records in its window, so only these count. */
void trace_count_entries(struct trace_iterator *iter, unsigned long *total, unsigned long *entries)
{
	bool window = iter->snapshot && iter->snapshot->latency;
	unsigned cpu;

	*entries = window ? trace_count_shown(iter) : 0;
	*total = *entries;
	for_each_possible_cpu(cpu) {
		unsigned long here = 0;

		if (!trace_iter_shows(iter, cpu))
			continue;
		if (!window)
			here = ring_buffer_entries_cpu(iter->buffer, cpu);
		*entries += here;
		*total += here + lost_of_shown(iter, cpu, window);
	}
}

/*
 * What stands above a trace, for tracers without a header of their own: the latency format's, or the columns that the
 * options ask for.
 */
void trace_default_header(struct seq_file *s, struct trace_iterator *iter)
{
	u64 flags = iter->tr->trace_flags;
	unsigned long total, entries;

	if (!(flags & TRACE_ITER(CONTEXT_INFO)))
		return;
	if (iter->latency_format) {
		trace_print_latency_header(s, iter);
		return;
	}
	if (flags & TRACE_ITER(VERBOSE))
		return;
	trace_count_entries(iter, &total, &entries);
	seq_printf(s, "# entries-in-buffer/entries-written: %lu/%lu   #P:%u\n#\n", entries, total, num_online_cpus());
	if (flags & TRACE_ITER(IRQ_INFO))
		print_irq_columns(s, flags & TRACE_ITER(RECORD_TGID));
	else
		print_columns(s, flags & TRACE_ITER(RECORD_TGID));
}

/*
 * A switch that is off is easily forgotten, so an empty trace names it. tracing_enabled is that of Linux 2.6; it keeps
 * events out as well, so the tracer may be nop, and tracing_on shows 1 all the same.
 */
static void print_why_empty(struct seq_file *s, struct trace_iterator *iter)
{
	if (iter->of_snapshot || !trace_iter_empty(iter))
		return;
	if (!iter->tr->tracing_enabled)
		seq_puts(s, "# tracing_enabled is 0\n#\n");
	else if (!tracer_tracing_is_on(iter->tr))
		seq_puts(s, "# tracing_on is 0\n#\n");
}

void trace_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	seq_printf(s, "# tracer: %s\n#\n", iter->trace->name);
	print_why_empty(s, iter);
	if (iter->trace->print_header)
		iter->trace->print_header(s, iter);
	else
		trace_default_header(s, iter);
}
