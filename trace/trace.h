/* The tracing core's own header: trace arrays, tracers, entries, iterators. Private to trace/. */
#pragma once

#include <asm/stacktrace.h>
#include <fs/seq_file.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <sched/mutex.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/ftrace.h>
#include <trace/ring_buffer.h>
#include <trace/trace_boot.h>
#include <trace/trace_events.h>

#include "trace_entry.h"

struct trace_array;
struct trace_iterator;
struct trace_graph_state;
struct trace_pid_list;
struct func_probe;

/* A priority as ctx_switch_entry keeps it, in a byte as Linux does: a deadline task's -1 is 255 there. */
static inline int ctx_switch_prio(u8 prio)
{
	return prio == 255 ? -1 : prio;
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
};
/* A field in full and a blank; its bytes. trace_output_raw.c */
void trace_put_hex(struct seq_file *s, u64 value, unsigned bytes);
#define TRACE_PUT_HEX(s, field) trace_put_hex(s, (u64)(field), sizeof(field))
#define TRACE_PUT_BIN(s, field) seq_write(s, &(field), sizeof(field))
#define REGISTER_TRACE_EVENT(e) REGISTER_IN(trace_events, e)

/*
 * Bits of trace_options, in the order that the file lists them. An option exists when trace_options.c has a name for
 * its bit: whoever gives a bit a meaning adds that line.
 */
enum trace_option_bit {
	OPT_PRINT_PARENT,
	OPT_SYM_OFFSET,
	OPT_SYM_ADDR,
	OPT_VERBOSE,
	OPT_RAW,
	OPT_HEX,
	OPT_BIN,
	OPT_BLOCK,
	OPT_FIELDS,
	OPT_SCHED_TREE,
	OPT_PRINTK,
	OPT_ANNOTATE,
	OPT_USERSTACKTRACE,
	OPT_SYM_USEROBJ,
	OPT_PRINTK_MSGONLY, /* printk-msg-only */
	OPT_CONTEXT_INFO,
	OPT_LATENCY_FMT,
	OPT_RECORD_CMD,
	OPT_RECORD_TGID,
	OPT_OVERWRITE,
	OPT_STOP_ON_FREE, /* disable_on_free */
	OPT_IRQ_INFO,
	OPT_MARKERS,
	OPT_EVENT_FORK,
	OPT_PRINTK_DEST, /* trace_printk_dest */
	OPT_PAUSE_ON_TRACE,
	OPT_FUNCTION, /* function-trace */
	OPT_FUNC_FORK, /* function-fork */
	OPT_DISPLAY_GRAPH,
	OPT_STACKTRACE,
	NR_TRACE_OPTIONS,
};
#define TRACE_ITER(opt) (1ULL << OPT_##opt)
#define TRACE_DEFAULT_FLAGS \
	(TRACE_ITER(PRINT_PARENT) | TRACE_ITER(PRINTK) | TRACE_ITER(ANNOTATE) | TRACE_ITER(CONTEXT_INFO) | \
	 TRACE_ITER(RECORD_CMD) | TRACE_ITER(OVERWRITE) | TRACE_ITER(IRQ_INFO) | TRACE_ITER(MARKERS) | \
	 TRACE_ITER(FUNCTION))

/* An option that one tracer has for itself; trace_options lists it behind the others while that tracer is selected. */
struct tracer_opt {
	const char *name; /* NULL: end of the table */
	u32 bit;
};
struct tracer_flags {
	u32 val;                        /* [t] read without lock */
	const struct tracer_opt *opts;
};

/*
 * A tracer. All functions are called with trace_types_lock held, in thread context; any but name and init may be NULL.
 */
struct tracer {
	const char *name;
	int (*init)(struct trace_array *tr);   /* selected: begin. 0 or -errno */
	void (*reset)(struct trace_array *tr); /* deselected: end */
	void (*start)(struct trace_array *tr); /* tracing_on went from 0 to 1, or tracing_enabled did */
	void (*stop)(struct trace_array *tr);
	void (*update_pids)(struct trace_array *tr); /* set_ftrace_pid changed */
	/* A bit of trace_flags (TRACE_ITER) is about to change. 0, or -errno: then it does not. */
	int (*flag_changed)(struct trace_array *tr, u64 mask, bool set);
	struct tracer_flags *flags;            /* its own options; NULL: none */
	/* One of them is about to change, maybe while the tracer is not selected. 0, or -errno: then it does not. */
	int (*set_flag)(struct trace_array *tr, u32 bit, bool set);
	/* Somebody begins to show our records, and ends; in the mutexes that this takes, or, iter->atomic, in none. */
	int (*open)(struct trace_iterator *iter); /* 0 or -errno */
	void (*close)(struct trace_iterator *iter);
	/* The record in our own form; false: in the usual one. The options raw, hex and bin go before it. */
	bool (*print_line)(struct seq_file *s, struct trace_iterator *iter);
	/* What follows "# tracer: NAME" and "#"; NULL: trace_default_header. */
	void (*print_header)(struct seq_file *s, struct trace_iterator *iter);
	bool allow_instances; /* may be an instance's; else the top array's only */
	bool use_max_tr; /* a latency tracer: `trace` shows the maximum taken last (trace_max.h), not the buffer */
};
#define REGISTER_TRACER(t) REGISTER_IN(tracers, t)
DECLARE_TABLE(tracers, struct tracer);
extern const struct tracer nop_trace;

/* What was called last, for func-no-repeats. Locks: c its CPU, interrupts off. */
struct func_repeats {
	unsigned long ip;        /* [c] 0: nothing that can be repeated */
	unsigned long parent_ip; /* [c] */
	u64 last;                /* [c] stamp of the last repetition */
	unsigned epoch;          /* [c] tr->repeats_epoch at its record */
	u16 count;               /* [c] how often it was repeated */
};

/* What an array keeps for each CPU. */
struct trace_array_cpu {
	struct ring_buffer_per_cpu *buffer; /* [I] */
	u64 max_epoch;     /* [its CPU] tr->max->epoch when the last section began here; 0: recording was off */
	u64 max_exchanges; /* [max lock] how often its ring was exchanged for one set aside */
	struct func_repeats repeats;
} __cacheline_aligned;

#define TRACE_PID_MAX 32768 /* pids are below */
/* A set of tasks; readers hold preemption off. Replaced as a whole by users, changed in place by forks and exits. */
struct trace_pid_list {
	unsigned long bits[BITS_TO_LONGS(TRACE_PID_MAX)]; /* [trace_pid.c's pid_lock; read by anybody] */
};
struct trace_pids {
	struct trace_pid_list *only; /* [t, RCU] NULL: every task */
	struct trace_pid_list *but;  /* [t, RCU] NULL: no exception */
};

/*
 * One set of tracing state: a buffer, a tracer, options. Locks: t trace_types_lock; a atomic; I immutable.
 */
struct trace_array {
	const char *name;                     /* [I] NULL: the top one */
	struct list_head list;                /* [t] of all, the top one is its head */
	struct trace_buffer *buffer;          /* [I] */
	struct trace_array_cpu *cpu_data;     /* [I] one a possible CPU */
	const struct tracer *current_trace;   /* [t] */
	u64 trace_flags;                      /* [t] TRACE_ITER() bits; read without lock */
	unsigned clock_id;                    /* [t] */
	u64 (*clock)(void);                   /* [t] time stamps; NULL: sched_clock, inline */
	bool tracing_enabled;                 /* [t] the 2.6 switch: stops the tracer itself */
	bool function_enabled;                /* [t] the function tracer records */
	struct cpumask pipe_cpus;             /* [t] whose text an open trace_pipe takes */
	int trace_ref;                        /* [t] open trace_pipes: the tracer may not change */
	bool buffer_expanded;                 /* [t] grew to its real size at first use */
	struct trace_pids function_pids;      /* set_ftrace_pid, set_ftrace_notrace_pid */
	struct trace_pids event_pids;         /* set_event_pid, set_event_notrace_pid */
	struct ftrace_ops *ops;               /* [I] the function tracer's user */
	struct func_probe *func_probes;       /* [event_mutex] function commands */
	struct ftrace_module *modules[2];     /* [ftrace_lock] filters for modules to come; [1]: notrace */
	struct graph_array *graph;            /* [I] function_graph's (trace_functions_graph.c) */
	struct cpumask tracing_cpumask;       /* [t] */
	struct dentry *dir;                   /* [I] in tracefs */
	struct trace_cpu_file *files;         /* [I] one a CPU and one for all: i_private of its files */
	struct dentry *options_dir, *percpu_dir; /* [I] */
	wait_queue_head_t wait;               /* readers of trace_pipe and trace_pipe_raw */
	struct hrtimer poll_timer;            /* wakes them, when poll has asked for it */
	int poll_armed;                       /* [a] it will go off */
	unsigned buffer_percent;              /* [a] how full a CPU's buffer is when readers of trace_pipe_raw wake */
	u64 time_start;                       /* [t] ns, when the buffer was last cleared */
	struct trace_max *max;                /* [I] what was set aside: maxima, snapshots (trace_max.h) */
	struct trace_event_set *events;       /* [I] trace_events.h */
	struct list_head errors;              /* [errors_lock] for error_log; begun with the first */
	unsigned nr_errors;                   /* [errors_lock] in it, at most 8 */
	unsigned repeats_epoch;               /* [a] records of before this began are not there any more */
};
extern struct trace_array global_trace;
/* Where trace_printk() goes: the option trace_printk_dest. [t; read with preemption off, which is waited for] */
extern struct trace_array *printk_trace;
static inline bool trace_array_is_top(const struct trace_array *tr)
{
	return tr == &global_trace;
}
/* All arrays, the top one first. trace_types_lock held. */
static inline struct trace_array *trace_array_after(const struct trace_array *tr)
{
	struct trace_array *next = list_entry(tr->list.next, struct trace_array, list);

	return trace_array_is_top(next) ? NULL : next;
}
#define for_each_trace_array(tr) for ((tr) = &global_trace; (tr); (tr) = trace_array_after(tr))
extern struct mutex trace_types_lock; /* inside it: ftrace_lock, text_mutex */

#define RING_BUFFER_ALL_CPUS_FILE (-1) /* cpu_file of an iterator over all CPUs */

/* One walk over records: through `trace` (nothing is consumed) or trace_pipe. Its opener's alone. */
struct trace_iterator {
	struct trace_array *tr;
	const struct tracer *trace;           /* tracer at open */
	struct trace_buffer *buffer;
	struct trace_snapshot *snapshot;      /* what we show of it, held for us; NULL: the live buffer */
	struct ring_buffer_iter **buffer_iter; /* one a CPU; NULL: consuming */
	int cpu_file;                         /* one CPU or RING_BUFFER_ALL_CPUS_FILE */
	struct mutex mutex;                   /* trace_pipe's reads */
	struct trace_entry *ent;              /* the record found, valid until the next step */
	const struct trace_event *event;      /* how the last one shown is shown */
	u64 ts;
	u64 from, until;                      /* trace: older and younger records are left out */
	unsigned clock_id;                    /* `trace` of the live buffer: the clock that these two are of */
	unsigned long lost_events;            /* before it, on its CPU */
	int cpu;
	u64 idx;                              /* records shown so far */
	loff_t pos;
	bool of_snapshot;                     /* the file is `snapshot` */
	bool latency_format;                  /* asked for at open */
	void *copy;                           /* not NULL: `ent` is copied here, to look ahead; behind it `leaf` */
	unsigned ent_size;                    /* bytes of `ent`, in whole words */
	struct trace_entry *leaf;             /* the return, that follows at once, of the call `ent`; else NULL */
	bool held;                            /* trace_pipe: `ent` is a copy, not in the buffer any more */
	struct trace_graph_state *graph;      /* function graph's, from line to line */
	u64 next_ts;                          /* latency format: of the record behind `ent`; 0: not known */
	bool annotate;                        /* the buffer had overrun at open: mark where each CPU begins */
	bool atomic;                          /* ftrace_dump: who prints may not sleep */
	bool paused;                          /* recording is off while we are open (pause-on-trace) */
	struct cpumask started;               /* CPUs of which a record was shown and left behind */
	struct seq_file text;                 /* trace_pipe: lines, and how much of them was handed out */
	size_t text_read;
	char texts[512];                      /* of the line in the making: what TP_printk's functions return */
	unsigned texts_used;
};

/* trace.c: arrays, tracers, buffers. trace_types_lock held unless said. */
int tracing_set_tracer(struct trace_array *tr, const char *name);
const struct tracer *find_tracer(const char *name);
/* May it be selected in this array? */
static inline bool tracer_is_for(const struct tracer *t, const struct trace_array *tr)
{
	return t->allow_instances || trace_array_is_top(tr);
}
/* What an array has of its own, and options as said there; -ENOMEM: some of it, for trace_array_free. Boot, thread. */
int trace_array_init(struct trace_array *tr, unsigned long bytes);
void trace_array_free(struct trace_array *tr); /* nobody knows of it any more. No lock */
int tracing_resize(struct trace_array *tr, unsigned long bytes, int cpu); /* RING_BUFFER_ALL_CPUS */
int tracing_expand(struct trace_array *tr); /* to its real size, if it is not yet */
void tracing_reset(struct trace_array *tr, int cpu);
bool tracer_tracing_is_on(struct trace_array *tr);
/* The switch alone, without the tracer's start and stop. Any context. */
void tracer_tracing_on(struct trace_array *tr);
void tracer_tracing_off(struct trace_array *tr);
void tracing_set_on(struct trace_array *tr, bool on);
int tracing_set_enabled(struct trace_array *tr, bool on);
#define TRACE_BUF_SIZE_DEFAULT 1441792UL /* bytes a CPU, as Linux: 1408 KiB */
extern unsigned long trace_buf_size;
/* function_enabled or the clock has changed: may the function tracer take its fast path? (trace_functions.c) [t] */
void trace_update_fast(struct trace_array *tr);
int function_trace_setup(struct trace_array *tr); /* boot, or the array is made: tr->ops. 0, -ENOMEM */
void function_trace_free(struct trace_array *tr);
int graph_trace_setup(struct trace_array *tr); /* the same for tr->graph, after it; kfree gives it back */

/*
 * Recording, for callers that have disabled preemption once (probes do). Fills the common fields with the state before
 * that. NULL: not recorded (off or full), nothing to commit. The record's bytes are the returned entry's.
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
 * What the options stacktrace and userstacktrace add behind the record of an event or a function entry. Likewise.
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
/* trace_sched_tree.c: the tasks on the runqueue of `cpu`, which is locked. Likewise. */
void trace_sched_tree(struct trace_array *tr, int cpu, u32 pc, unsigned long flags);
/* trace_sched_switch.c: "==>" and "+" records, likewise. */
void tracing_sched_switch_trace(struct trace_array *tr, struct task_struct *prev, unsigned prev_state,
				struct task_struct *next, u32 pc, unsigned long flags);
void tracing_sched_wakeup_trace(struct trace_array *tr, struct task_struct *wakee, u32 pc, unsigned long flags);

/* trace_output_header.c */
void trace_print_header(struct seq_file *s, struct trace_iterator *iter);
void trace_default_header(struct seq_file *s, struct trace_iterator *iter); /* without the tracer's name */

/* trace_output.c */
void trace_print_line(struct seq_file *s, struct trace_iterator *iter);
void seq_print_ip_sym(struct seq_file *s, struct trace_array *tr, unsigned long ip);
void seq_print_caller_sym(struct seq_file *s, struct trace_array *tr, unsigned long ip); /* of a return address */
void trace_print_lat_flags(char *to, const struct trace_entry *ent); /* five characters */

/* trace_iter.c. trace_types_lock held. */
struct trace_entry *trace_find_next_entry(struct trace_iterator *iter);
void trace_consume_entry(struct trace_iterator *iter); /* consuming: the record found is shown */
int trace_iter_prepare(struct trace_iterator *iter);   /* `trace` is known: what its output needs. 0 or -errno */
void trace_iter_release(struct trace_iterator *iter);
/* Before the first step of `trace`, for its header: is there nothing to show? */
bool trace_iter_empty(struct trace_iterator *iter);
/* How many records the walk will show, from its beginning, where it then stands again. Before the first step. */
unsigned long trace_count_shown(struct trace_iterator *iter);
/* Has this CPU anything to show in it, be it the live buffer or what is set aside? */
bool trace_iter_shows(const struct trace_iterator *iter, unsigned cpu);
/* open and release of `trace`, or of `snapshot` (TRACE_OPEN_*). */
#define TRACE_OPEN_LATENCY  1 /* in the latency format whatever the option says */
#define TRACE_OPEN_SNAPSHOT 2
int trace_open_for_reading(struct file *file, unsigned how);
int tracing_release(struct inode *inode, struct file *file);
loff_t tracing_lseek(struct file *file, loff_t off, int whence);

/* trace_snapshot_now.c */
void tracing_snapshot_instance(struct trace_array *tr); /* tracing_snapshot() of any array. Any context */
int tracing_arm_snapshot(struct trace_array *tr); /* so that it can be. 0, -ENOMEM. Takes trace_types_lock */

/* trace_snapshot.c */
void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter); /* [t] */

/* trace_pipe.c */
void trace_pipe_setup(struct trace_array *tr); /* boot */
/* Wait for some ms, or not at all when it is `ready`. 0, -ERESTARTSYS. Thread context, no lock. */
int trace_wait_for(struct trace_array *tr, bool (*ready)(void *arg), void *arg);
/* For a poll that is on tr->wait and has found nothing: it will be asked again in some ms. */
void trace_poll_later(struct trace_array *tr);

/* trace_cmdline.c: pid to name. */
void trace_cmdline_init(void); /* boot */
int tracing_start_cmdline_record(void); /* 0, -ENOMEM. This and the next three: trace_types_lock held; sleep */
void tracing_stop_cmdline_record(void);
int tracing_start_cmdline_record_later(void); /* complete after tracepoint_switch() */
void tracing_stop_cmdline_record_later(void);
void trace_find_cmdline(int pid, char comm[TASK_COMM_LEN]);
void tracing_record_cmdline(struct task_struct *task); /* any context */
int trace_record_tgids(bool on); /* record-tgid of an array is about to change. 0, -ENOMEM. trace_types_lock */
int trace_find_tgid(int pid); /* 0: not known. Any context */

/* trace_pid.c */
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
/* Is the task left out? Preemption off. */
static inline bool trace_pids_ignore(const struct trace_pids *pids, int pid)
{
	const struct trace_pid_list *only = smp_load_acquire(&pids->only);
	const struct trace_pid_list *but = smp_load_acquire(&pids->but);

	return (only && !trace_pid_in(only, pid)) || (but && trace_pid_in(but, pid));
}

/* trace_options.c */
int trace_set_option(struct trace_array *tr, const char *text); /* "sym-addr", "nosym-addr"; takes trace_types_lock */
/* Is it an option, likewise with or without "no", of that tracer, or, when NULL, of all of them? Any context. */
bool trace_option_of(const char *text, const struct tracer *tracer);
/* One general option: the tracer is asked, then its side effects happen. trace_types_lock held. 0 or -errno. */
int set_tracer_flag(struct trace_array *tr, enum trace_option_bit opt, bool on);
/* For flag_changed of a tracer that relies on `overwrite`: -EINVAL when that is about to go off. */
int trace_keep_overwrite(u64 mask, bool set);
int create_options_dir(struct trace_array *tr);
/* An array that is made begins with the options of the top one, but those that follow forks. trace_types_lock */
int trace_options_inherit(struct trace_array *tr);
void trace_options_free(struct trace_array *tr); /* end what options have begun. trace_types_lock */

/* trace_clock.c */
void trace_clock_init(struct trace_array *tr); /* boot: the buffer's clock, `local` */
int tracing_set_clock(struct trace_array *tr, const char *name);
bool trace_clock_in_ns(const struct trace_array *tr);
u64 trace_clock_at(const struct trace_array *tr, u64 cycles); /* its stamp of when the counter showed this */
/* What markers record of memory that cannot be read, as in Linux. */
#define TRACE_FAULTED "<faulted>"
bool trace_clock_measures(unsigned clock_id); /* are its differences times, in ns? */
static __always_inline u64 trace_clock_now(const struct trace_array *tr)
{
	u64 (*clock)(void) = READ_ONCE(tr->clock);

	return likely(!clock) ? sched_clock() : clock();
}

/* tracefs.c */
/*
 * A control file: one struct beside the code that serves it, found through a linker table. inode->i_private is the
 * trace array; for files of per_cpu/cpuN it is a struct trace_cpu_file.
 */
struct tracefs_file {
	const char *name;
	mode_t mode;
	const struct file_operations *fop;
	u8 where; /* TRACEFS_* */
};
#define TRACEFS_TOP     1 /* only in the top directory */
#define TRACEFS_ARRAY   2 /* in every trace array's directory */
#define TRACEFS_PER_CPU 4 /* in every per_cpu/cpuN */
#define REGISTER_TRACEFS(f) REGISTER_IN(tracefs, f)
DECLARE_TABLE(tracefs, struct tracefs_file);
/* The array and the CPU a control file stands for (RING_BUFFER_ALL_CPUS_FILE in an array's own directory). */
struct trace_cpu_file {
	struct trace_array *tr;
	int cpu;
};
struct trace_array *tracefs_array(const struct file *file);
int create_array_dir(struct trace_array *tr); /* all files of tr, in tr->dir. 0 or -errno */

/* trace_instances.c: the root of tracefs is there: the directory instances, with those made before. 0 or -errno. */
int create_instances_dir(struct dentry *root);
/* An array without a directory, for which there is no tracefs yet. ERR_PTR: -EEXIST, -ENOMEM. Boot, thread. */
struct trace_array *trace_array_create(const char *name);
/* trace_boot_events.c. Boot, thread, as trace_boot_start. */
void trace_boot_events(void);
int tracefs_cpu(const struct file *file);

/*
 * The common kind of file: `show` makes its whole text, `store` takes a terminated text of at most TRACEFS_TEXT_MAX-1
 * bytes, white space at its end cut off. Either may be NULL. Both in thread context, no lock held.
 */
#define TRACEFS_TEXT_MAX 256
struct tracefs_text {
	int (*show)(struct seq_file *m, struct trace_array *tr, int cpu);
	int (*store)(struct trace_array *tr, int cpu, char *text);
};
int tracefs_text_open(struct inode *inode, struct file *file, const struct tracefs_text *ops);
ssize_t tracefs_text_write(struct file *file, const char __user *buf, size_t n, const struct tracefs_text *ops);
#define TRACEFS_TEXT_FILE(id, filename, filemode, places, show_fn, store_fn)                                 \
	static const struct tracefs_text id##_text = { show_fn, store_fn };                                  \
	static int id##_open(struct inode *inode, struct file *file)                                         \
	{                                                                                                    \
		return tracefs_text_open(inode, file, &id##_text);                                           \
	}                                                                                                    \
	static ssize_t id##_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)          \
	{                                                                                                    \
		return tracefs_text_write(file, buf, n, &id##_text);                                         \
	}                                                                                                    \
	static const struct file_operations id##_fops = { .open = id##_open,                                 \
							  .read = seq_read,                                  \
							  .write = id##_write,                               \
							  .llseek = seq_lseek,                               \
							  .release = single_release };                       \
	static const struct tracefs_file id##_file = { filename, filemode, &id##_fops, places };             \
	REGISTER_TRACEFS(id##_file)
