/*
 * The latency format: a header that tells what was measured, and lines with the time since the section began and a
 * mark where much time passed before the next line.
 */
#include <kernel/utsname.h>

#include "core/aside.h"
#include "records/records.h"
#include "iter.h"
#include "output.h"

static u64 round_to_us(u64 ns)
{
	return (ns + 500) / 1000;
}

u64 trace_time_start(const struct trace_iterator *iter)
{
	return iter->snapshot ? iter->snapshot->time_zero : iter->tr->time_start;
}

/* What eyes look for first: how long it took from this line to the next one. */
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

/* ms.us */
static void print_ms(struct seq_file *s, u64 us)
{
	seq_printf(s, "%llu.%03llums", (unsigned long long)us / 1000, (unsigned long long)us % 1000);
}

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

/* "    bash-1408      0d.h1.  567us+: " */
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

/* A record may be a little older than the start: it was stamped, then an interrupt came and something cleared. */
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

/* The task that the section belongs to; a buffer in which nothing was measured has none. */
static void print_task(struct seq_file *s, const struct trace_snapshot *of)
{
	const struct trace_snapshot nobody = {};

	if (!of)
		of = &nobody;
	seq_puts(s, "#    -----------------\n");
	seq_printf(s, "#    | task: %.16s-%d (uid:%u nice:%d policy:%u rt_prio:%u)\n", of->comm, of->pid, of->uid,
		   of->nice, of->policy, of->rt_priority);
	seq_puts(s, "#    -----------------\n");
}

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

/* Nothing for an empty buffer, as Linux. */
void trace_print_latency_header(struct seq_file *s, struct trace_iterator *iter)
{
	if (trace_iter_empty(iter))
		return;
	trace_print_latency_summary(s, iter);
	if (!(iter->tr->trace_flags & TRACE_ITER(VERBOSE)))
		print_columns(s);
}
