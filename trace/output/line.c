/*
 * Records as lines of text: the columns common to all lines, and the choice of the printer for the rest.
 *
 *             TASK-PID   [CPU] irqs  TIME         what the record's own kind says
 *             bash-1408  [000] d.h1. 1234.567890: ...
 *
 * A trace may have a million lines, and a person waits for them. So the columns are put together by hand and not by
 * printf, and a line costs some hundred instructions. Context: a reader's thread, or ftrace_dump() in a panic; the
 * functions allocate nothing.
 */
#include <lib/string.h>

#include "core/aside.h"
#include "events/event_file.h"
#include "tracefs/tracefs.h"
#include "iter.h"
#include "output.h"

DECLARE_TABLE(trace_events, struct trace_event);

/* Most records are of the same type as the one before. */
const struct trace_event *find_trace_event(struct trace_iterator *iter)
{
	const struct trace_event *e = iter->event;

	if (likely(e && e->type == iter->ent->type))
		return e;
	if (trace_event_of_type(iter->ent->type))
		return &trace_event_output;
	for_each_in_table(trace_events, e)
		if (e->type == iter->ent->type)
			return iter->event = e;
	return NULL;
}

/* Column 1: d means interrupts off, b softirqs off, D both. */
static char irqs_char(u8 flags)
{
	if (flags & TRACE_FLAG_IRQS_OFF)
		return flags & TRACE_FLAG_BH_OFF ? 'D' : 'd';
	return flags & TRACE_FLAG_BH_OFF ? 'b' : '.';
}

/* Column 2: n means that the task must give up the CPU, p that it must even within the kernel, N both. */
static char resched_char(u8 flags)
{
	switch (flags & (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED)) {
	case TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED:
		return 'N';
	case TRACE_FLAG_NEED_RESCHED:
		return 'n';
	case TRACE_FLAG_PREEMPT_RESCHED:
		return 'p';
	}
	return '.';
}

/* Column 3: z means NMI, h hard interrupt, s softirq; Z is an NMI in a hard interrupt, H that in a softirq. */
static char context_char(u8 flags)
{
	if (flags & TRACE_FLAG_NMI)
		return flags & TRACE_FLAG_HARDIRQ ? 'Z' : 'z';
	if (flags & TRACE_FLAG_HARDIRQ)
		return flags & TRACE_FLAG_SOFTIRQ ? 'H' : 'h';
	return flags & TRACE_FLAG_SOFTIRQ ? 's' : '.';
}

/* Columns 4 and 5: how often preemption and migration are disabled; the last hexadecimal digit, a dot for 0. */
static char depth_char(unsigned depth)
{
	return depth ? "0123456789abcdef"[depth & 15] : '.';
}

/* The task of a maximum is known by the snapshot itself: by now its name may be gone from the table of saved names. */
void trace_iter_find_cmdline(const struct trace_iterator *iter, int pid, char comm[TASK_COMM_LEN])
{
	const struct trace_snapshot *snapshot = iter->snapshot;

	if (snapshot && snapshot->latency && pid == snapshot->pid && pid)
		memcpy(comm, snapshot->comm, TASK_COMM_LEN);
	else
		trace_find_cmdline(pid, comm);
}

void trace_print_lat_flags(char *to, const struct trace_entry *ent)
{
	to[0] = irqs_char(ent->flags);
	to[1] = resched_char(ent->flags);
	to[2] = context_char(ent->flags);
	to[3] = depth_char(ent->preempt_count & 15);
	to[4] = depth_char(ent->preempt_count >> 4);
}

/*
 * " 1234.567890", seconds with microseconds, rounded; a clock that does not count nanoseconds is shown as it
 * counts. It is inlined into print_context(), since it is on every line of a trace. Below ten seconds a stamp has
 * one digit before the dot, so that case needs no division for the width. Returns where the text ends.
 */
static __always_inline char *put_time(char *p, const struct trace_iterator *iter, u64 ts)
{
	u64 us;

	*p++ = ' ';
	if (!trace_clock_in_ns(iter->tr))
		return put_dec(p, ts, 12, ' ');
	us = (ts + 500) / 1000;
	if (us < 10 * 1000000) {
		__builtin_memcpy(p, "    ", 4);
		p = put_dec_fixed(p + 4, us / 1000000, 1);
	} else {
		p = put_dec(p, us / 1000000, 5, ' ');
	}
	*p++ = '.';
	return put_dec_fixed(p, us % 1000000, 6);
}

/* For records that show a second time in their text, such as the repeats of a function. */
char *trace_put_time(char *p, const struct trace_iterator *iter, u64 ts)
{
	return put_time(p, iter, ts);
}

/* "(   1408) ", or dashes for a task whose thread group was not noted. */
static noinline char *put_tgid(char *p, const struct trace_entry *ent)
{
	int tgid = trace_find_tgid(ent->pid);

	*p++ = '(';
	if (tgid)
		p = put_dec(p, tgid, 7, ' ');
	else
		p = memset(p, '-', 7) + 7;
	*p++ = ')';
	*p++ = ' ';
	return p;
}

/*
 * "            bash-1408    [000] d.h1.  1234.567890: " by hand: this is on every line of a trace. It is made in its
 * place if that has room for the longest.
 */
static void print_context(struct seq_file *s, struct trace_iterator *iter)
{
	char own[96], *line = s->size - s->count > sizeof(own) ? s->buf + s->count : own, *p = line;

	p = trace_put_comm(p, iter, 16);
	p = trace_put_pid(p, iter->ent);
	*p++ = ' ';
	if (iter->tr->trace_flags & TRACE_ITER(RECORD_TGID))
		p = put_tgid(p, iter->ent);
	*p++ = '[';
	p = put_dec_fixed(p, iter->cpu, 3);
	*p++ = ']';
	*p++ = ' ';
	if (iter->tr->trace_flags & TRACE_ITER(IRQ_INFO)) {
		trace_print_lat_flags(p, iter->ent);
		p += 5;
	}
	p = put_time(p, iter, iter->ts);
	*p++ = ':';
	*p++ = ' ';
	if (line == own)
		seq_write(s, line, p - line);
	else
		s->count += p - line;
}

/*
 * The line for a gap in a CPU's records. The number may be unknown (~0): the loss was on a page that another reader
 * took.
 */
static void print_lost(struct seq_file *s, struct trace_iterator *iter)
{
	if (iter->trace->print_lost)
		iter->trace->print_lost(s, iter);
	else if (iter->lost_events == ~0UL)
		seq_printf(s, "CPU:%d [LOST EVENTS]\n", iter->cpu);
	else
		seq_printf(s, "CPU:%d [LOST %lu EVENTS]\n", iter->cpu, iter->lost_events);
}

/*
 * When records were overwritten, the CPUs' buffers begin at different times, and lines before the start of a CPU
 * say nothing about what it did. So the first line of each CPU but the first has a note above it (option annotate).
 */
static void print_cpu_start(struct seq_file *s, struct trace_iterator *iter)
{
	if (!iter->annotate || !(iter->tr->trace_flags & TRACE_ITER(ANNOTATE)) ||
	    cpumask_test_cpu(iter->cpu, &iter->started))
		return;
	if (iter->idx > 1)
		seq_printf(s, "##### CPU %u buffer started ####\n", iter->cpu);
}

/*
 * One record as one line, or as several, or as none. The options that change all lines come first, then the tracer,
 * which may have a form of its own, and then the columns with what the kind of record or the event's format says.
 */
void trace_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	u64 flags = iter->tr->trace_flags;
	const struct trace_event *event;

	if (iter->lost_events)
		print_lost(s, iter);
	if (unlikely(flags & TRACE_ITER(PRINTK_MSGONLY)) && trace_print_message(s, iter))
		return;
	if (unlikely(flags & TRACE_RAW_FORMS)) {
		trace_print_raw_form(s, iter);
		return;
	}
	if (iter->trace->print_line && iter->trace->print_line(s, iter))
		return;
	print_cpu_start(s, iter);
	if (iter->latency_format && (flags & TRACE_ITER(CONTEXT_INFO)))
		trace_print_latency_context(s, iter);
	else if (flags & TRACE_ITER(CONTEXT_INFO))
		print_context(s, iter);
	event = find_trace_event(iter);
	if (unlikely(flags & TRACE_ITER(FIELDS)))
		trace_print_fields(s, iter);
	else if (event)
		event->trace(s, iter);
	else
		seq_printf(s, "Unknown type %d\n", iter->ent->type);
}
