/*
 * The latency format: a header that tells what was measured, and lines with the time since the section began. A mark
 * stands where it took long to the next line.
 *
 *     # irqsoff latency trace v1.1.5 on ...          trace_print_latency_summary: the longest section, its task
 *     #  cmd     pid     |||||| time  |   caller     print_columns
 *         bash-1408      0d.h1.  567us+: ...         one line a record, trace_print_latency_context
 *
 * Times are nanoseconds inside and microseconds in the text, rounded to the nearest. A clock that does not count
 * nanoseconds is shown as it counts. Context: a reader of `trace`, trace_types_lock held, or ftrace_dump().
 */
#include <kernel/utsname.h>

#include "core/aside.h"
#include "records/records.h"
#include "iter.h"
#include "output.h"

/* To the nearest microsecond, as Linux: 1,500 ns are shown as 2 us. */
static u64 round_to_us(u64 ns)
{
	return (ns + 500) / 1000;
}

/* A maximum has a start of its own; in the live buffer, time counts from the last reset. */
u64 trace_time_start(const struct trace_iterator *iter)
{
	return iter->snapshot ? iter->snapshot->time_zero : iter->tr->time_start;
}

/*
 * The mark that eyes look for first: how long it took from this line to the next one. The table is in falling
 * order, so the first match is the largest.
 */
static char delay_mark(u64 us)
{
	static const struct {
		u64 above_us;
		char mark;
	} marks[] = {{1000000, '$'}, {100000, '@'}, {10000, '*'}, {1000, '#'}, {100, '!'}, {10, '+'}};

	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (us > marks[i].above_us)
			return marks[i].mark;
	return ' ';
}

/* Microseconds as milliseconds with three places: 1234 is "1.234ms". */
static void print_ms(struct seq_file *s, u64 us)
{
	seq_printf(s, "%llu.%03llums", (unsigned long long)us / 1000, (unsigned long long)us % 1000);
}

/*
 * The option verbose: everything that is known of the record, flags and counts as numbers. The number of the line
 * counts from 0, and iter->idx is already that of the next one.
 */
static void print_verbose(struct seq_file *s, struct trace_iterator *iter, u64 since, u64 delay)
{
	const struct trace_entry *ent = iter->ent;
	char comm[TASK_COMM_LEN];

	trace_iter_find_cmdline(iter, ent->pid, comm);
	seq_printf(s, "%16s %7d %3d %d %08x %08llx ", comm, ent->pid, iter->cpu, ent->flags, ent->preempt_count & 15,
		   (unsigned long long)iter->idx - 1);
	if (!trace_clock_in_ns(iter->tr)) {
		seq_printf(s, "[%016llx] %lld (+%lld): ", (unsigned long long)iter->ts, (long long)since,
			   (long long)delay);
		return;
	}
	seq_printf(s, "[%08llx] ", (unsigned long long)round_to_us(iter->ts));
	print_ms(s, round_to_us(since));
	seq_puts(s, " (+");
	print_ms(s, round_to_us(delay));
	seq_puts(s, "): ");
}

/*
 * The usual line, put together by hand as in line.c:
 *
 *   "    bash-1408      0d.h1.  567us+: "
 *        task, pid   CPU and flags, time since the start, mark
 */
static void print_short(struct seq_file *s, struct trace_iterator *iter, u64 since, u64 delay)
{
	char line[96], *p = line;

	p = trace_put_comm(p, iter, 8);
	p = trace_put_pid(p, iter->ent);
	*p++ = ' ';
	p = put_dec(p, iter->cpu, 3, ' ');
	trace_print_lat_flags(p, iter->ent);
	p += 5;
	*p++ = ' ';
	if (trace_clock_in_ns(iter->tr)) {
		p = put_dec(p, round_to_us(since), 4, ' ');
		*p++ = 'u';
		*p++ = 's';
		*p++ = delay_mark(round_to_us(delay));
	} else {
		p = put_dec(p, since, 4, ' ');
	}
	*p++ = ':';
	*p++ = ' ';
	seq_write(s, line, p - line);
}

/*
 * A record may be a little older than the start: it was stamped, then an interrupt came that cleared the buffer.
 * Its time is then shown as 0, not as a huge unsigned difference. next_ts is 0 for the last record, which gets no
 * mark.
 */
void trace_print_latency_context(struct seq_file *s, struct trace_iterator *iter)
{
	u64 start = trace_time_start(iter), since = iter->ts > start ? iter->ts - start : 0;
	u64 delay = iter->next_ts > iter->ts ? iter->next_ts - iter->ts : 0;

	if (iter->tr->trace_flags & TRACE_ITER(VERBOSE))
		print_verbose(s, iter, since, delay);
	else
		print_short(s, iter, since, delay);
}

/* ---- Header */

static void print_columns(struct seq_file *s)
{
	seq_puts(s, "#                    _------=> CPU#            \n"
		    "#                   / _-----=> irqs-off/BH-disabled\n"
		    "#                  | / _----=> need-resched    \n"
		    "#                  || / _---=> hardirq/softirq \n"
		    "#                  ||| / _--=> preempt-depth   \n"
		    "#                  |||| / _-=> migrate-disable \n"
		    "#                  ||||| /     delay           \n"
		    "#  cmd     pid     |||||| time  |   caller     \n"
		    "#     \\   /        ||||||  \\    |    /       \n");
}

/* The task that the section belongs to. A buffer in which nothing was measured has none, and shows zeros. */
static void print_task(struct seq_file *s, const struct trace_snapshot *of)
{
	const struct trace_snapshot no_task = {};

	if (!of)
		of = &no_task;
	seq_puts(s, "#    -----------------\n");
	seq_printf(s, "#    | task: %.16s-%d (uid:%u nice:%d policy:%u rt_prio:%u)\n", of->comm, of->pid, of->uid,
		   of->nice, of->policy, of->rt_priority);
	seq_puts(s, "#    -----------------\n");
}

/*
 * The two functions between which the section lies. Wake-up tracers measure from one task to another and have no
 * such functions: their critical_start is 0.
 */
static void print_ends(struct seq_file *s, struct trace_iterator *iter)
{
	if (!iter->snapshot || !iter->snapshot->critical_start)
		return;
	seq_puts(s, "#  => started at: ");
	seq_print_ip_sym(s, iter->tr, iter->snapshot->critical_start);
	seq_puts(s, "\n#  => ended at:   ");
	seq_print_ip_sym(s, iter->tr, iter->snapshot->critical_end);
	seq_puts(s, "\n#\n");
}

/*
 * The fixed text (M:preempt, VP, KP, SP, HP) is what Linux shows, and what programs look for. The number behind the
 * first '#' is how many records are shown, the second how many were written.
 */
void trace_print_latency_summary(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_snapshot *of = iter->snapshot;
	unsigned long total, entries;

	trace_count_entries(iter, &total, &entries);
	seq_printf(s, "# %s latency trace v1.1.5 on " UTS_RELEASE "\n", iter->trace->name);
	seq_puts(s, "# --------------------------------------------------------------------\n");
	seq_printf(s, "# latency: %llu us, #%lu/%lu, CPU#%d | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:%u)\n",
		   (unsigned long long)round_to_us(of ? of->latency : 0), entries, total,
		   of ? of->cpu : max(iter->cpu_file, 0), num_online_cpus());
	print_task(s, of);
	print_ends(s, iter);
	seq_puts(s, "#\n");
}

/* An empty buffer has no header, as in Linux. */
void trace_print_latency_header(struct seq_file *s, struct trace_iterator *iter)
{
	if (trace_iter_empty(iter))
		return;
	trace_print_latency_summary(s, iter);
	if (!(iter->tr->trace_flags & TRACE_ITER(VERBOSE)))
		print_columns(s);
}
