/*
 * What the author of a tracer needs: the struct that describes it, how its records are written, and how they become
 * text. A tracer is one file with one struct tracer. tracers/sched_switch.c is a small one.
 */
#pragma once

#include <arch/stacktrace.h>
#include <fs/seq_file.h>

#include "array.h"

struct trace_iterator;

/* An option that one tracer has for itself; trace_options lists it behind the others while that tracer is selected. */
struct tracer_opt {
	const char *name; /* NULL: end of the table */
	u32 bit;
};
struct tracer_flags {
	u32 val; /* [t] read without lock */
	const struct tracer_opt *opts;
};

/*
 * A tracer. All functions are called with trace_types_lock held, in thread context; any but name and init may be NULL.
 */
struct tracer {
	const char *name;
	const char *former_name; /* a name that Linux had for it once, under which it is found too. NULL: it had none */
	int (*init)(struct trace_array *tr);   /* selected: begin. 0 or -errno */
	const char *busy;		       /* what init()'s -EBUSY means, for the log. NULL: it has no such error */
	void (*reset)(struct trace_array *tr); /* deselected: end */
	/* tracing_on was written and went to 1, or to 0, after init() and before reset(). */
	void (*start)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr);
	void (*update_pids)(struct trace_array *tr); /* set_ftrace_pid changed */
	/* A bit of trace_flags (TRACE_ITER) is about to change. 0, or -errno: then it does not. */
	int (*flag_changed)(struct trace_array *tr, u64 mask, bool set);
	struct tracer_flags *flags; /* its own options; NULL: none */
	/* One of them is about to change, maybe while the tracer is not selected. 0, or -errno: then it does not. */
	int (*set_flag)(struct trace_array *tr, u32 bit, bool set);
	/* A reader begins to show our records, and ends. trace_types_lock held; with iter->atomic no lock. */
	int (*open)(struct trace_iterator *iter); /* 0 or -errno */
	void (*close)(struct trace_iterator *iter);
	/*
	 * Prints the record in our own form; false: it is printed as usual. Not asked with the options raw, hex, bin.
	 */
	bool (*print_line)(struct seq_file *s, struct trace_iterator *iter);
	/* Records before this one were lost (iter->lost_events): a line of it; NULL: "CPU:1 [LOST 3 EVENTS]". */
	void (*print_lost)(struct seq_file *s, struct trace_iterator *iter);
	/* What a reader of trace_pipe gets first, at most PIPE_TEXT_SIZE bytes; NULL: nothing. */
	void (*pipe_open)(struct seq_file *s, struct trace_iterator *iter);
	/* What follows "# tracer: NAME" and "#"; NULL: trace_default_header. */
	void (*print_header)(struct seq_file *s, struct trace_iterator *iter);
	bool allow_instances; /* may be an instance's; else the top array's only */
	bool finds_noise;     /* it measures what takes a CPU's time: trace/overload ends no recording meanwhile */
	bool use_max_tr; /* a latency tracer: `trace` shows the maximum taken last (core/aside.h), not the buffer */
};
#define REGISTER_TRACER(t) REGISTER_IN(tracers, t)
DECLARE_TABLE(tracers, struct tracer);
extern const struct tracer nop_trace;
/* May it be selected in this array? */
static inline bool tracer_is_for(const struct tracer *t, const struct trace_array *tr)
{
	return t->allow_instances || trace_array_is_top(tr);
}

/* How records of a type are shown: one struct beside the code that makes them, found through a linker table. */
struct trace_event {
	enum trace_type type;
	/* The part behind the time stamp, with newline. */
	void (*trace)(struct seq_file *s, struct trace_iterator *iter);
	/* The same for the options raw (with newline), hex, bin (TRACE_PUT_HEX, _BIN). NULL: the type's number. */
	void (*raw)(struct seq_file *s, struct trace_iterator *iter);
	void (*hex)(struct seq_file *s, struct trace_iterator *iter);
	void (*bin)(struct seq_file *s, struct trace_iterator *iter);
	/* Does `next`, the CPU's next record, end what `ent` begins, so that one line shows both? NULL: never. */
	bool (*joins)(const struct trace_entry *ent, const struct trace_entry *next);
};
/* A field in full and a blank; its bytes. output/raw.c */
void trace_put_hex(struct seq_file *s, u64 value, unsigned bytes);
#define TRACE_PUT_HEX(s, field) trace_put_hex(s, (u64)(field), sizeof(field))
#define TRACE_PUT_BIN(s, field) seq_write(s, &(field), sizeof(field))
#define REGISTER_TRACE_EVENT(e) REGISTER_IN(trace_events, e)

/*
 * Recording, for callers that have disabled preemption once (probes do). Reserves a record of `len` bytes and fills its
 * common fields with the state before that; trace_commit() follows. NULL: not recorded (off or full), and there is
 * nothing to commit.
 */
void *trace_reserve(struct trace_array *tr, struct ring_buffer_event **event, int type, unsigned long len);
void trace_commit(struct trace_array *tr);

/*
 * For tracers, preemption off: a record of a function entry, and one of the kernel stack from the caller's caller
 * on (`skip` more frames left out), with the state that preempt_count `pc` and the saved interrupt flags `flags`
 * stand for. Any context; what finds no room is counted by the buffer, and false.
 */
bool trace_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc, unsigned long flags);
/* The return address in the frame record at fp is the first (but for `skip` others). */
void trace_stack_from(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp);
/*
 * Record the stacks that the options stacktrace and userstacktrace ask for, behind an event or a function entry.
 * trace_user_stack records the current program's stack when pc says that its task runs, no interrupt.
 */
void __trace_stacks(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp);
void trace_user_stack(struct trace_array *tr, u32 pc, unsigned long flags);
#define TRACE_STACK_OPTIONS (TRACE_ITER(STACKTRACE) | TRACE_ITER(USERSTACKTRACE))
static __always_inline void trace_stacks_from(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip,
					      unsigned long fp)
{
	if (unlikely(READ_ONCE(tr->trace_flags) & TRACE_STACK_OPTIONS))
		__trace_stacks(tr, pc, flags, skip, fp);
}
/* For a tracepoint's probe itself: the stack begins where the tracepoint stands. */
static __always_inline void trace_event_stacks(struct trace_array *tr, u32 pc, unsigned long flags)
{
	trace_stacks_from(tr, pc, flags, 1, arch_caller_fp());
	barrier();
}
