/*
 * Statistics: tables that a subsystem keeps, shown sorted in trace_stat/NAME. One struct each, beside the code that
 * counts, found through a linker table.
 */
#pragma once

#include "core/tracer.h"
#include "tracefs/tracefs.h"

/*
 * Rows are copied and sorted when the file is opened: what is read then is of one moment, and in order, however long
 * the reader takes. All functions in thread context, without locks.
 */
struct trace_stat {
	const char *name;
	bool per_cpu;		       /* a file for each possible CPU, with its number behind the name */
	size_t row_size;	       /* bytes of a row */
	unsigned (*max_rows)(int cpu); /* room to have for them; cpu: of a per_cpu file, else -1 */
	/* Copy the rows, at most `max`: how many there are. */
	unsigned (*collect)(int cpu, void *rows, unsigned max);
	/* Negative: row a is shown before row b. */
	int (*cmp)(const void *a, const void *b);
	void (*header)(struct seq_file *m);
	void (*show)(struct seq_file *m, const void *row);
};
#define REGISTER_TRACE_STAT(s) REGISTER_IN(trace_stats, s)
DECLARE_TABLE(trace_stats, struct trace_stat);
