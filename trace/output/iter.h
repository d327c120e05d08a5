/* Walking over records and showing them: what `trace`, `snapshot` and trace_pipe share. Private to trace/. */
#pragma once

#include <fs/seq_file.h>

#include "core/tracer.h"

struct file;
struct trace_graph_state;
struct trace_snapshot;
struct vm_area_struct;

/* One walk over records: of `trace`, which consumes nothing, or of trace_pipe. It belongs to one open file. */
struct trace_iterator {
	struct trace_array *tr;
	const struct tracer *trace; /* tracer at open */
	struct trace_buffer *buffer;
	struct trace_snapshot *snapshot;       /* what we show of it, held for us; NULL: the live buffer */
	struct ring_buffer_iter **buffer_iter; /* one a CPU; NULL: consuming */
	int cpu_file;			       /* one CPU or RING_BUFFER_ALL_CPUS_FILE */
	struct mutex mutex;		       /* trace_pipe's reads */
	struct trace_entry *ent;	       /* the record found, valid until the next step */
	const struct trace_event *event;       /* the printer of the last record, for the next of that type */
	u64 ts;
	u64 from, until;	   /* trace: older and younger records are left out */
	unsigned clock_id;	   /* `trace` of the live buffer: the clock that these two are of */
	unsigned long lost_events; /* before it, on its CPU */
	int cpu;
	u64 idx; /* records shown so far */
	loff_t pos;
	bool of_snapshot;		 /* the file is `snapshot` */
	bool latency_format;		 /* asked for at open */
	void *copy;			 /* not NULL: `ent` is copied here, to look ahead; behind it `leaf` */
	unsigned ent_size;		 /* bytes of `ent`, in whole words */
	struct trace_entry *leaf;	 /* the return, that follows at once, of the call `ent`; else NULL */
	bool held;			 /* trace_pipe: `ent` is a copy, not in the buffer any more */
	struct trace_graph_state *graph; /* function graph's, from line to line */
	u64 next_ts;			 /* latency format: of the record behind `ent`; 0: not known */
	bool annotate;			 /* the buffer had overrun at open: mark where each CPU begins */
	bool atomic;			 /* ftrace_dump: printing may not sleep */
	bool paused;			 /* recording is off while we are open (pause-on-trace) */
	struct cpumask started;		 /* CPUs of which a record was shown and left behind */
	struct seq_file text;		 /* trace_pipe: lines, and how much of them was handed out */
	size_t text_read;
	char texts[512]; /* of the line in the making: what TP_printk's functions return */
	unsigned texts_used;
};

/* output/header.c */
void trace_print_header(struct seq_file *s, struct trace_iterator *iter);
void trace_default_header(struct seq_file *s, struct trace_iterator *iter); /* without the tracer's name */

/* output/line.c */
void trace_print_line(struct seq_file *s, struct trace_iterator *iter);
void trace_print_lat_flags(char *to, const struct trace_entry *ent); /* five characters */

/* output/iter.c. trace_types_lock held. */
struct trace_entry *trace_find_next_entry(struct trace_iterator *iter);
void trace_consume_entry(struct trace_iterator *iter); /* consuming: the record found is shown */
int trace_iter_prepare(struct trace_iterator *iter);   /* `trace` is known: what its output needs. 0 or -errno */
void trace_iter_release(struct trace_iterator *iter);
/* Before the first step of `trace`, for its header: is there nothing to show? */
bool trace_iter_empty(struct trace_iterator *iter);
/* How many records the walk will show, from its beginning, where it then stands again. Before the first step. */
unsigned long trace_count_shown(struct trace_iterator *iter);
/* Does the buffer that is shown, live or set aside, hold anything of this CPU? */
bool trace_iter_shows(const struct trace_iterator *iter, unsigned cpu);
/* open and release of `trace`, or of `snapshot` (TRACE_OPEN_*). */
#define TRACE_OPEN_LATENCY  1 /* in the latency format whatever the option says */
#define TRACE_OPEN_SNAPSHOT 2
int trace_open_for_reading(struct file *file, unsigned how);
int tracing_release(struct inode *inode, struct file *file);
loff_t tracing_lseek(struct file *file, loff_t off, int whence);

/*
 * What makes trace_pipe_raw a file that programs can map (output/pages/pipe_raw_map.c): two of its file operations.
 * There is at most one.
 */
struct trace_raw_map {
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	long (*ioctl)(struct file *file, unsigned cmd, unsigned long arg);
};
#define REGISTER_TRACE_RAW_MAP(m) REGISTER_IN(trace_raw_maps, m)
DECLARE_TABLE(trace_raw_maps, const struct trace_raw_map);

/* output/snapshot.c */
void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter); /* [t] */

/* output/pipe.c */
/*
 * Wait until ready(arg) may be true; return at once if it is. Another reader may be faster, so the caller asks again.
 * 0, -ERESTARTSYS. Thread context, no lock held.
 */
int trace_wait_for(struct trace_array *tr, bool (*ready)(void *arg), void *arg);
/* For a task that is on tr->wait and looks afterwards: it is woken at most some ms after there is something. */
void trace_poll_later(struct trace_array *tr);
