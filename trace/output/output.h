/* What the files that make text of records share. */
#pragma once

#include <lib/printf.h>
#include <lib/string.h>

#include "iter.h"

/* output/line.c: the printer of the record's type; NULL: the type is not known. */
const struct trace_event *find_trace_event(struct trace_iterator *iter);

/* " %5lu.%06lu" of nanoseconds, or " %12lu" of a clock that counts something else; returns the end. */
char *trace_put_time(char *p, const struct trace_iterator *iter, u64 ts);

/* output/latency.c: the stamp from which a line's time counts; the latency format's columns, and its header. */
u64 trace_time_start(const struct trace_iterator *iter);
void trace_print_latency_context(struct seq_file *s, struct trace_iterator *iter);
void trace_print_latency_header(struct seq_file *s, struct trace_iterator *iter);
void trace_print_latency_summary(struct seq_file *s, struct trace_iterator *iter); /* without the columns' names */

/* output/raw.c: the record as one of TRACE_RAW_FORMS wants it; bin goes before hex, hex before raw. */
#define TRACE_RAW_FORMS (TRACE_ITER(RAW) | TRACE_ITER(HEX) | TRACE_ITER(BIN))
void trace_print_raw_form(struct seq_file *s, struct trace_iterator *iter);

/* output/fields.c: "event: field=value ...", with newline. */
void trace_print_fields(struct seq_file *s, struct trace_iterator *iter);

/* records/printk_text.c: the message of a bprint record, or of a bputs record, with a newline. */
void trace_bprint_text(struct seq_file *s, struct trace_iterator *iter);
void trace_bputs_text(struct seq_file *s, struct trace_iterator *iter);
/* The message alone, of any kind; false: the record is no message. */
bool trace_print_message(struct seq_file *s, struct trace_iterator *iter);

/* output/header.c: how many records are shown, and that number plus how many were overwritten. */
void trace_count_entries(struct trace_iterator *iter, unsigned long *total, unsigned long *entries);

/* output/line.c: the name of a task. The name of a maximum's task was kept with the maximum. */
void trace_iter_find_cmdline(const struct trace_iterator *iter, int pid, char comm[TASK_COMM_LEN]);

/* ---- Pieces of a line. Inline: they are on every line of a trace. */

/* The name of the record's task, right aligned in `width` columns, at most 16, and cut off there; returns the end. */
static __always_inline char *trace_put_comm(char *p, const struct trace_iterator *iter, unsigned width)
{
	char comm[TASK_COMM_LEN];
	size_t len;

	trace_iter_find_cmdline(iter, iter->ent->pid, comm);
	len = strlen(comm);
	if (len > width)
		len = width;
	for (size_t i = 0; i < width; i += 8) /* the columns are whole words of blanks */
		__builtin_memcpy(p + i, "        ", 8);
	memcpy(p + width - len, comm, len);
	return p + width;
}

/* "-", and its pid in seven columns. */
static __always_inline char *trace_put_pid(char *p, const struct trace_entry *ent)
{
	char *end = p + 8, *to;

	__builtin_memcpy(p, "-       ", 8);
	p[1] = '-'; /* a digit's place, unless the pid is negative */
	to = put_dec_short(p + 1 + (ent->pid < 0), ent->pid < 0 ? -(s64)ent->pid : ent->pid);
	return max(to, end);
}
