/*
 * Trace arrays. An array is one set of tracing state: a buffer, a tracer, options. This header declares the array and
 * what all code that works on arrays shares. Private to trace/.
 */
#pragma once

#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <sched/mutex.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/ring_buffer.h>
#include <trace/trace_boot.h>

#include "entry.h"
#include "options.h"

struct dentry;
struct func_probe;
struct trace_array;
struct tracer;

/* The last call on a CPU, for func-no-repeats. Locks: c its CPU, interrupts off. */
struct func_repeats {
	unsigned long ip;	 /* [c] 0: nothing that can be repeated */
	unsigned long parent_ip; /* [c] */
	u64 last;		 /* [c] stamp of the last repetition */
	unsigned epoch;		 /* [c] tr->repeats_epoch at its record */
	u16 count;		 /* [c] how often it was repeated */
};

/* What an array keeps for each CPU. */
struct trace_array_cpu {
	struct ring_buffer_per_cpu *buffer; /* [I] */
	u64 max_epoch;	   /* [its CPU] tr->max->epoch when the last section began here; 0: recording was off */
	u64 max_exchanges; /* [max lock] how often its ring was exchanged for one set aside */
	struct func_repeats repeats;
} __cacheline_aligned;

#define TRACE_PID_MAX 32768 /* pids are below */
/*
 * A set of tasks. A callback reads it with preemption off. Writes to the files replace it as a whole; forks and exits
 * change single bits in place.
 */
struct trace_pid_list {
	unsigned long bits[BITS_TO_LONGS(TRACE_PID_MAX)]; /* [core/pid.c's pid_lock; read by anybody] */
};
struct trace_pids {
	struct trace_pid_list *only; /* [t, RCU] NULL: every task */
	struct trace_pid_list *but;  /* [t, RCU] NULL: no exception */
};

/*
 * One set of tracing state. Locks: t trace_types_lock; m its max lock; a atomic; I immutable.
 */
struct trace_array {
	const char *name;			 /* [I] NULL: the top one */
	struct list_head list;			 /* [t] of all, the top one is its head */
	struct trace_buffer *buffer;		 /* [I] */
	struct trace_array_cpu *cpu_data;	 /* [I] one a possible CPU */
	const struct tracer *current_trace;	 /* [t] */
	u64 trace_flags;			 /* [t] TRACE_ITER() bits; read without lock */
	unsigned clock_id;			 /* [t] */
	u64 (*clock)(void);			 /* [t] time stamps; NULL: sched_clock, inline */
	bool tracing_enabled;			 /* [t] the 2.6 switch: stops the tracer itself */
	bool function_enabled;			 /* [t] the function tracer records */
	struct cpumask pipe_cpus;		 /* [t; poll_timer looks] whose text an open trace_pipe takes */
	int trace_ref;				 /* [a; t to raise it] open trace_pipes: the tracer may not change */
	bool buffer_expanded;			 /* [t] grew to its real size at first use */
	struct trace_pids function_pids;	 /* set_ftrace_pid, set_ftrace_notrace_pid */
	struct trace_pids event_pids;		 /* set_event_pid, set_event_notrace_pid */
	struct ftrace_ops *ops;			 /* [I] the function tracer's user */
	struct func_probe *func_probes;		 /* [event_mutex] function commands */
	struct ftrace_module *modules[2];	 /* [ftrace_lock] filters for modules to come; [1]: notrace */
	struct graph_array *graph;		 /* [I] function_graph's (tracers/graph/tracer.c) */
	struct cpumask tracing_cpumask;		 /* [t] */
	struct dentry *dir;			 /* [I] in tracefs */
	struct trace_cpu_file *files;		 /* [I] one a CPU and one for all: i_private of its files */
	struct dentry *options_dir, *percpu_dir; /* [I] */
	wait_queue_head_t wait;			 /* readers of trace_pipe and trace_pipe_raw */
	unsigned raw_reads;			 /* [a] reads of trace_pipe_raw that wait for any record */
	unsigned snapshot_files;		 /* [a; t to raise it] open files snapshot_raw */
	struct hrtimer poll_timer;		 /* wakes them when there is something */
	int poll_armed;				 /* [a] it will go off */
	unsigned buffer_percent;	/* [a] how full a CPU's buffer is when splice and poll of trace_pipe_raw wake */
	u64 time_start;			/* [t, m] stamp of when the buffer was last cleared, or given to a snapshot */
	struct trace_max *max;		/* [I] what was set aside: maxima, snapshots (core/aside.h) */
	struct trace_event_set *events; /* [I] trace_events.h */
	struct list_head errors;	/* [errors_lock] for error_log; begun with the first */
	unsigned nr_errors;		/* [errors_lock] in it, at most 8 */
	unsigned repeats_epoch;		/* [a] goes up when the buffer is cleared: older entries cannot be repeated */
};
extern struct trace_array global_trace;
/*
 * The array that trace_printk() goes to: the option trace_printk_dest. It is read with preemption off, and a grace
 * period comes before an array is freed. [t; read without]
 */
extern struct trace_array *printk_trace;
static inline bool trace_array_is_top(const struct trace_array *tr)
{
	return tr == &global_trace;
}
/* All arrays, the top one first. The list changes with event_mutex and trace_types_lock held: either keeps it. */
static inline struct trace_array *trace_array_after(const struct trace_array *tr)
{
	struct trace_array *next = list_entry(tr->list.next, struct trace_array, list);

	return trace_array_is_top(next) ? NULL : next;
}
#define for_each_trace_array(tr) for ((tr) = &global_trace; (tr); (tr) = trace_array_after(tr))
extern struct mutex trace_types_lock; /* inside it: ftrace_lock, text_mutex; not taken with an mmap_lock held */
extern struct mutex event_mutex; /* events, their filters and triggers, function commands; outside trace_types_lock */

/* The kinds of changes in an array that parts are told of, because they keep something derived from it. */
enum trace_change {
	TRACE_CHANGED_CLOCK,   /* tr->clock */
	TRACE_CHANGED_OPTIONS, /* tr->trace_flags; or the array has come to the list of all */
	TRACE_CHANGED_PIDS,    /* tr->event_pids; event_mutex is held, too */
	TRACE_CHANGED_THRESH,  /* tracing_thresh, which is one for all arrays; each array is told */
};

/*
 * A part of tracing that keeps something of its own in every array. Its struct stands beside its code and is found
 * through a linker table. Any function may be NULL. The order in which parts are called is not defined.
 */
struct trace_part {
	/* Make what a new array needs from this part. Boot, thread. 0, or -ENOMEM, after which free() is called too. */
	int (*init)(struct trace_array *tr);
	/* Make the part's files in tr->dir. Thread. 0 or -errno */
	int (*make_files)(struct trace_array *tr);
	void (*changed)(struct trace_array *tr, enum trace_change what); /* trace_types_lock held */
	/*
	 * The array is about to end, and has no files any more: take away what changes the array when traced code is
	 * called (function commands, triggers). Every part's unhook() comes before any part's stop(), with a grace
	 * period between, so what stop() finds cannot change under it. event_mutex held; sleeps.
	 */
	void (*unhook)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr); /* after that: end what runs in the array. event_mutex held; sleeps. */
	/*
	 * Nothing of the array runs: the name of something that still does, or NULL, for a warning. It looks at what
	 * others keep, such as the list of a tracepoint's probes. Thread; takes no mutex of tracing; sleeps.
	 */
	const char *(*left)(const struct trace_array *tr);
	void (*boot)(struct trace_array *tr); /* boot, one CPU, interrupts off: the top array can record */
	/* The array cannot be found any more: free what init() allocated, which may be only a part. No lock. */
	void (*free)(struct trace_array *tr);
};
#define REGISTER_TRACE_PART(p) REGISTER_IN(trace_parts, p)
DECLARE_TABLE(trace_parts, struct trace_part);
/* Tell all parts. trace_types_lock held. */
void trace_array_changed(struct trace_array *tr, enum trace_change what);

/* core/array.c. trace_types_lock held unless said. */
/* *why becomes the reason of an error that the errno and the name do not tell; `why` may be NULL. The same for both. */
int tracing_set_tracer(struct trace_array *tr, const char *name, const char **why);
int tracing_set_enabled(struct trace_array *tr, bool on, const char **why);
const struct tracer *find_tracer(const char *name); /* by its name or a former one; NULL. Needs no lock */
/*
 * The names of all tracers that this array can have: those of the table in the order of linking, and nop last, as in
 * Linux. Former names are taken and not listed: a program that writes a name of the list must read the same name back.
 * Any context, no lock: the table does not change.
 */
void trace_tell_tracers(const struct trace_array *tr, void (*tell)(void *to, const char *name), void *to);
/*
 * Make what an array has of its own; `bytes`: of buffer for each CPU. 0, or -ENOMEM: some of it is there, and
 * trace_array_free() must follow. Boot, thread.
 */
int trace_array_init(struct trace_array *tr, unsigned long bytes);
void trace_array_free(struct trace_array *tr);				  /* it cannot be found any more. No lock */
int tracing_set_order(struct trace_array *tr, unsigned order);		  /* of pages; as trace_max_set_order */
int tracing_resize(struct trace_array *tr, unsigned long bytes, int cpu); /* RING_BUFFER_ALL_CPUS */
int tracing_expand(struct trace_array *tr);				  /* to its full size, if it is small yet */
void tracing_reset(struct trace_array *tr, int cpu);
bool tracer_tracing_is_on(struct trace_array *tr);
/* The switch alone, without the tracer's start and stop. Any context. */
void tracer_tracing_on(struct trace_array *tr);
void tracer_tracing_off(struct trace_array *tr);
void tracing_set_on(struct trace_array *tr, bool on);
#define TRACE_BUF_SIZE_DEFAULT 1441792UL /* bytes a CPU, as Linux: 1408 KiB */
extern unsigned long trace_buf_size;
/*
 * The buffer was emptied, or func-no-repeats is about to be set: there is no entry that a call could repeat. Any
 * context.
 */
static inline void trace_func_repeats_forget(struct trace_array *tr)
{
	__atomic_fetch_add(&tr->repeats_epoch, 1, __ATOMIC_RELEASE);
}

/* core/clock.c */
void trace_clock_init(struct trace_array *tr); /* boot: the buffer's clock, `local` */
int tracing_set_clock(struct trace_array *tr, const char *name);
bool trace_clock_in_ns(const struct trace_array *tr);
bool trace_clock_is(const struct trace_array *tr, const char *name);
const char *trace_clock_name(unsigned i);		      /* of all clocks; NULL: there are fewer. Any context */
u64 trace_clock_at(const struct trace_array *tr, u64 cycles); /* its stamp at the counter's value `cycles` */

bool trace_clock_measures(unsigned clock_id); /* are its differences times, in ns? */
static __always_inline u64 trace_clock_now(const struct trace_array *tr)
{
	u64 (*clock)(void) = READ_ONCE(tr->clock);

	return likely(!clock) ? sched_clock() : clock();
}

/* core/comm.c: pid to name. */
void trace_cmdline_init(void);		/* boot */
int tracing_start_cmdline_record(void); /* 0, -ENOMEM. This and the next three: trace_types_lock held; sleep */
void tracing_stop_cmdline_record(void);
int tracing_start_cmdline_record_later(void); /* complete after tracepoint_switch() */
void tracing_stop_cmdline_record_later(void);
void trace_find_cmdline(int pid, char comm[TASK_COMM_LEN]);
void tracing_record_cmdline(struct task_struct *task); /* any context */
int trace_record_tgids(bool on); /* record-tgid of an array is about to change. 0, -ENOMEM. trace_types_lock */
int trace_find_tgid(int pid);	 /* 0: not known. Any context */

/* core/pid.c */
static inline bool trace_pids_any(const struct trace_pids *pids)
{
	return READ_ONCE(pids->only) || READ_ONCE(pids->but);
}
/* The options function-fork and event-fork. trace_types_lock; 0, -ENOMEM. */
int trace_pid_follow_fork(struct trace_array *tr, bool on);
int trace_event_follow_fork(struct trace_array *tr, bool on);
void trace_pid_free(struct trace_array *tr); /* no tracer and no fork looks at them any more */
static inline bool trace_pid_in(const struct trace_pid_list *list, int pid)
{
	return pid < TRACE_PID_MAX && ((list->bits[pid / 64] >> (pid % 64)) & 1);
}
/* Do the lists leave this task out? Preemption off. */
static inline bool trace_pids_ignore(const struct trace_pids *pids, int pid)
{
	const struct trace_pid_list *only = smp_load_acquire(&pids->only);
	const struct trace_pid_list *but = smp_load_acquire(&pids->but);

	return (only && !trace_pid_in(only, pid)) || (but && trace_pid_in(but, pid));
}

int create_array_dir(struct trace_array *tr); /* core/dir.c: all files of tr, in tr->dir. 0 or -errno */
