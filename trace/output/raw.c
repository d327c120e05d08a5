/*
 * Records for programs: numbers in place of names, chosen by the options raw, hex and bin (bin before hex before
 * raw).
 *
 *     raw   decimal and hexadecimal text        "1408 0 1234567890 ..."
 *     hex   each field in full, most significant digit first
 *     bin   the fields' bytes as they lie in memory, without a newline
 *
 * Each begins with pid, CPU and time stamp, unless context-info is off. A record type that has no function for a
 * form shows its number. Context: as trace_print_line().
 */
#include "iter.h"
#include "output.h"

void trace_put_hex(struct seq_file *s, u64 value, unsigned bytes)
{
	char text[2 * sizeof(u64) + 1], *p = text;

	for (int shift = 8 * bytes - 4; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[(value >> shift) & 15];
	*p++ = ' ';
	seq_write(s, text, p - text);
}

/* For record types without a function for the form that was asked for. */
static void print_type(struct seq_file *s, struct trace_iterator *iter)
{
	seq_printf(s, "type: %d\n", iter->ent->type);
}

static void print_raw(struct seq_file *s, struct trace_iterator *iter, const struct trace_event *event, bool context)
{
	if (context)
		seq_printf(s, "%d %d %llu ", iter->ent->pid, iter->cpu, (unsigned long long)iter->ts);
	if (!event)
		seq_printf(s, "%d ?\n", iter->ent->type);
	else
		(event->raw ? event->raw : print_type)(s, iter);
}

static void print_hex(struct seq_file *s, struct trace_iterator *iter, const struct trace_event *event, bool context)
{
	if (context) {
		TRACE_PUT_HEX(s, iter->ent->pid);
		TRACE_PUT_HEX(s, iter->cpu);
		TRACE_PUT_HEX(s, iter->ts);
	}
	if (event)
		(event->hex ? event->hex : print_type)(s, iter);
	seq_putc(s, '\n');
}

static void print_bin(struct seq_file *s, struct trace_iterator *iter, const struct trace_event *event, bool context)
{
	if (context) {
		TRACE_PUT_BIN(s, iter->ent->pid);
		TRACE_PUT_BIN(s, iter->cpu);
		TRACE_PUT_BIN(s, iter->ts);
	}
	if (event)
		(event->bin ? event->bin : print_type)(s, iter);
}

/*
 * One of the three forms is on, or trace_print_line() would not have called. With several, the first of this order
 * wins, as in Linux.
 */
void trace_print_raw_form(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_event *event = find_trace_event(iter);
	u64 flags = iter->tr->trace_flags;
	bool context = flags & TRACE_ITER(CONTEXT_INFO);

	if (flags & TRACE_ITER(BIN))
		print_bin(s, iter, event, context);
	else if (flags & TRACE_ITER(HEX))
		print_hex(s, iter, event, context);
	else
		print_raw(s, iter, event, context);
}
