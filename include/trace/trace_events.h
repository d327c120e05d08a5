/*
 * Events: tracepoints that are recorded. TRACE_EVENT says all there is to say of one (what it is told, what is kept,
 * how that is filled and printed); <trace/define_trace.h> makes the rest of it. Here is what it makes.
 */
#pragma once

#include <kernel/percpu.h>
#include <lib/types.h>
#include <trace/tracepoint.h>

struct module;
struct seq_file;
struct trace_array;
struct trace_iterator;

/* Every record begins with this; events/<system>/<event>/format shows it as the common fields. */
struct trace_entry {
	u16 type;
	u8 flags;	  /* TRACE_FLAG_* */
	u8 preempt_count; /* low four bits: preemption depth, at most 15 */
	s32 pid;
};

/* trace_entry.flags */
#define TRACE_FLAG_IRQS_OFF	   0x01
#define TRACE_FLAG_NEED_RESCHED	   0x04
#define TRACE_FLAG_HARDIRQ	   0x08
#define TRACE_FLAG_SOFTIRQ	   0x10
#define TRACE_FLAG_PREEMPT_RESCHED 0x20
#define TRACE_FLAG_NMI		   0x40
#define TRACE_FLAG_BH_OFF	   0x80

/* How a filter compares a field. */
enum trace_filter_type {
	FILTER_OTHER,	      /* a number */
	FILTER_STATIC_STRING, /* an array of characters */
	FILTER_DYN_STRING,    /* __string, __dynamic_array of characters */
	FILTER_PTR_STRING,    /* a pointer to a string that lives for ever */
	FILTER_USER_STRING,   /* a pointer into the task's own memory, with .ustring */
	FILTER_CPU,
	FILTER_CPUMASK, /* __bitmask, __cpumask */
	FILTER_COMM,
	FILTER_NONE,	    /* nothing a filter can mean */
	FILTER_RDYN_STRING, /* a string behind a __rel_loc word, whose offset counts from the word's end */
};

/* A field of a record. Tables of them end with name NULL. */
struct trace_event_field {
	const char *type; /* as in C; of an array with its length behind: "char[16]" */
	const char *name;
	u16 offset, size; /* bytes. Of a dynamic array its __data_loc word's: offset | length << 16 of the data */
	bool is_signed;
	enum trace_filter_type filter_type;
};

/* An event of an array: what its probe is told. */
struct trace_event_file;

/* What events of one form share (DECLARE_EVENT_CLASS). */
struct trace_event_class {
	const char *system;
	const struct trace_event_field *(*fields)(void);
	void *probe; /* of the class's prototype, behind void *data: the struct trace_event_file */
	/* What stands behind "name: ", with newline. */
	void (*print)(struct seq_file *s, struct trace_iterator *iter);
	const char *print_fmt; /* the line of `format` behind "print fmt: " */
	bool names_itself;     /* print begins the line: "name: " does not stand before it */
	/* On (0 or -errno) and off instead of registering probe; event_mutex held. NULL: the probe is registered. */
	int (*reg)(struct trace_event_file *file, bool on);
};

/* An event. In a table of the linker's; its number there says its type. */
struct trace_event_call {
	const char *name;
	const struct trace_event_class *class;
	struct tracepoint *tp;
	struct module *module; /* NULL: the kernel */
	/*
	 * Of an event that a user has made (trace/dynevents), else NULL: fields instead of the class's; who needs it.
	 */
	const struct trace_event_field *fields;
	unsigned *pins; /* [a] */
	/* DEFINE_EVENT_PRINT has its own; else the class's. */
	void (*print)(struct seq_file *s, struct trace_iterator *iter);
	const char *print_fmt;
};
#define TRACE_EVENT_FIRST 32 /* type of the first; those below are the tracers': to 19 as in Linux, from 20 on ours */

/* A name in the texts of TP_printk, and its value (TRACE_DEFINE_ENUM, TRACE_DEFINE_SIZEOF; trace/events/eval_map.c). */
struct trace_eval_map {
	const char *system; /* in whose events it means this */
	const char *name;
	long value;
};

/* From trace_event_begin to trace_event_end. */
struct trace_event_buffer {
	struct trace_event_file *file;
	struct ring_buffer_event *event;
	void *entry;
	unsigned long flags;
	u32 pc;
	unsigned len, depth; /* of a record that lies aside (trace/events/record.c); at first only when event is NULL */
	bool judged;	     /* it does so until it is known whether it is refused */
};

/*
 * A record of `len` bytes, its common fields filled, or NULL: it is refused, there is no room, recording is off, unless
 * the event has triggers, which see a record all the same. Then end, to which the probe hands its frame record: with
 * the option stacktrace the stack begins where the tracepoint stands. Any context, preemption off, as probes have it.
 */
void *trace_event_begin(struct trace_event_buffer *buffer, struct trace_event_file *file, unsigned len);
void trace_event_end(struct trace_event_buffer *buffer, unsigned long fp);
/* The complete record, anywhere, is recorded if the event's filter lets it pass. Nothing else is asked or done. */
void trace_event_judge(const struct trace_event_file *file, const void *record, unsigned len);

/* ---- For TP_printk. Texts live until the line is printed; "" when there is no room. */

struct trace_print_flags {
	unsigned long mask;
	const char *name;
};
/* The record that is being printed. */
void *trace_iter_entry(struct trace_iterator *iter);
const char *trace_print_flags(struct trace_iterator *iter, const char *delim, unsigned long flags,
			      const struct trace_print_flags *names);
const char *trace_print_symbols(struct trace_iterator *iter, unsigned long value,
				const struct trace_print_flags *names);
const char *trace_print_hex(struct trace_iterator *iter, const void *bytes, unsigned len, bool joined);
/* In words of 32 bits, the highest first. `len`: bytes. */
const char *trace_print_bitmask(struct trace_iterator *iter, const void *mask, unsigned len);
const char *trace_print_array(struct trace_iterator *iter, const void *array, unsigned count, unsigned size);

#define is_signed_type(type) ((type)-1 < (type)1)
