/* Stacks, symbols and snapshots, for code that records or shows them. Private to trace/. */
#pragma once

#include "core/array.h"

struct seq_file;

/*
 * records/symbols.c: print the function of an address, or of a return address, as the array's options say. Any context
 * that may write to `s`.
 */
void seq_print_ip_sym(struct seq_file *s, struct trace_array *tr, unsigned long ip);
/* With its offset or without, whatever the option sym-offset says. */
void seq_print_ip_sym_offset(struct seq_file *s, struct trace_array *tr, unsigned long ip, bool offset);
void seq_print_caller_sym(struct seq_file *s, struct trace_array *tr, unsigned long ip);

/* records/snapshot.c */
void tracing_snapshot_instance(struct trace_array *tr); /* tracing_snapshot() of any array. Any context */

/*
 * records/printk_text.c: copies of formats that came at run time, with modules. They are never freed, since a record
 * may have the address of any, and no text is kept twice, so loading a module again takes no more memory.
 */
struct trace_late_format {
	const struct trace_late_format *next; /* [I] */
	char text[];
};
extern const struct trace_late_format *trace_late_formats; /* [module_mutex for changes; read with acquire] */

/* The text that markers record in place of memory that cannot be read, as in Linux. */
#define TRACE_FAULTED "<faulted>"
