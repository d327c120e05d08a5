/* What the files that make text of records share. */
#pragma once

#include "trace.h"

/* trace_output.c: how records of a type are shown, NULL when nobody does. */
const struct trace_event *find_trace_event(const struct trace_iterator *iter);
/* Up to `max` bytes of the record's task's name, right aligned in `width` columns; returns the end. */
char *trace_put_comm(char *p, const struct trace_entry *ent, unsigned width);
/* "-", and the record's pid in seven columns. */
char *trace_put_pid(char *p, const struct trace_entry *ent);

/* trace_output_latency.c: the latency format's columns, and its header. */
void trace_print_latency_context(struct seq_file *s, struct trace_iterator *iter);
void trace_print_latency_header(struct seq_file *s, struct trace_iterator *iter);

/* trace_output_raw.c: the record as one of TRACE_RAW_FORMS wants it; bin goes before hex, hex before raw. */
#define TRACE_RAW_FORMS (TRACE_ITER(RAW) | TRACE_ITER(HEX) | TRACE_ITER(BIN))
void trace_print_raw_form(struct seq_file *s, struct trace_iterator *iter);

/* trace_output_header.c: records that can be read, and that plus what was overwritten. */
void trace_count_entries(struct trace_iterator *iter, unsigned long *total, unsigned long *entries);
