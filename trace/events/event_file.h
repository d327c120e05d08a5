/* The events of an array: which are recorded, and with what. Private to trace/. */
#pragma once

#include <trace/trace_event_probe.h>

#include "core/tracer.h"
#include "tracefs/tracefs.h"
#include "filter.h"

static inline void trace_event_set_flag(struct trace_event_file *file, u32 flag, bool on)
{
	if (on)
		__atomic_fetch_or(&file->flags, flag, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&file->flags, ~flag, __ATOMIC_RELAXED);
}
/* Is the event recorded? Its file `enable` shows 1 then. */
static inline bool trace_event_is_on(const struct trace_event_file *file)
{
	return (READ_ONCE(file->flags) & (EVENT_FILE_ENABLED | EVENT_FILE_SOFT_DISABLED)) == EVENT_FILE_ENABLED;
}

/* events/<system> of an array. Its events are those of the set whose class names the system. */
struct trace_event_system {
	struct virtual_dir dir;
	const char *name;
	struct trace_event_set *set;
	struct trace_event_file **files; /* its events, in set->by_system */
	unsigned nr_files;		 /* [I] of the kernel */
	unsigned nr_late_events;	 /* [e; read without] that came at run time */
	char *filter_text;		 /* [e] the last error in its file `filter`; NULL: none */
};

/*
 * The place of a late event, behind the kernel's own events. A late event comes at run time, with a module or because a
 * user has defined it (trace/dynevents). Names are copies whose memory stays when the event goes, so they are read
 * without a lock (trace/late).
 */
#define ROOM_FOR_LATE_EVENTS 384
struct trace_late_place {
	struct trace_event_system *system; /* [e; read without] NULL: the place is free */
	const char *name;		   /* [e; the same] */
};

/* All events of an array. [I, boot or the array's creation, unless said] */
struct trace_event_set {
	struct list_head list;	/* [e] */
	struct virtual_dir dir; /* events */
	struct trace_array *tr;
	struct virtual_dir entries_dir;	     /* events/ftrace */
	struct trace_event_file print;	     /* trace_marker, as an event (events/print.c) */
	struct trace_event_system *systems;  /* in order of their first event */
	struct trace_event_file **by_system; /* all files, a system's together */
	unsigned nr_syscalls_on[2];	     /* [e] of system calls: their beginnings, their ends */
	unsigned nr_systems;		     /* [e; read with acquire] it grows, as late systems come */
	unsigned nr_files;
	struct trace_late_place late_places[ROOM_FOR_LATE_EVENTS];
	struct trace_event_file files[]; /* in the order of the linker's table, and behind them places for late ones */
};

DECLARE_TABLE(ftrace_events, const struct trace_event_call);
static inline unsigned trace_nr_events(void)
{
	return __stop_ptrs_ftrace_events - __start_ptrs_ftrace_events;
}
/*
 * By place; NULL: the place is free. A reader with preemption off can use what it finds until preemption is on. [e;
 * read with preemption off]
 */
extern const struct trace_event_call *trace_late_calls[ROOM_FOR_LATE_EVENTS];
static inline bool trace_type_is_late(unsigned type)
{
	return type - TRACE_EVENT_FIRST - trace_nr_events() < ROOM_FOR_LATE_EVENTS;
}
/* NULL: it is no event's type. Of a late event's type the result is good only while preemption is off. */
static inline const struct trace_event_call *trace_event_of_type(unsigned type)
{
	unsigned nr = type - TRACE_EVENT_FIRST;

	if (nr < trace_nr_events())
		return __start_ptrs_ftrace_events[nr];
	return trace_type_is_late(type) ? READ_ONCE(trace_late_calls[nr - trace_nr_events()]) : NULL;
}
#define for_each_event(set, file)                                                      \
	for ((file) = (set)->files; (file) < (set)->files + (set)->nr_files; (file)++) \
		if ((file)->call)

/* The event's own fields, behind the common ones. */
static inline const struct trace_event_field *trace_event_fields(const struct trace_event_call *call)
{
	return call->fields ?: call->class->fields();
}

/* A choice of events by patterns (glob_match); NULL: any. `either`: the name of the system or of the event. */
struct trace_event_match {
	const char *system, *event, *either;
};
bool trace_event_matches(const struct trace_event_file *file, const struct trace_event_match *match);

/* events/set.c. event_mutex held, or no other code can find the set yet. */
void trace_event_file_init(struct trace_event_set *set, unsigned nr, const struct trace_event_call *call);
struct trace_event_system *trace_event_find_system(const struct trace_event_set *set, const char *name); /* or NULL */
/* The room trace/late: a new set gets the late events that are there; one that ends gets no more. No lock. */
struct late_events {
	void (*join)(struct trace_event_set *set);
	void (*leave)(struct trace_event_set *set);
};
#define REGISTER_LATE_EVENTS(l) REGISTER_IN(late_events, l)
/*
 * Late events, for the rooms that need trace/late. event_mutex held; may sleep. add: the event gets a place in the sets
 * of all arrays. 0; -EEXIST: there is such an event; -ENOSPC: no place is free; -ENOMEM. Nothing has changed then.
 * trace_late_events_ready() must follow the last of several.
 *
 * remove: for the events that `goes` names, recording, filters and triggers end in all arrays, and arrays that may have
 * records of these events are emptied. When it returns no probe runs any more; a reader that prints a record may still
 * look at the call until a grace period has passed. retire: the same, but records stay where they are until the event's
 * number is needed for another.
 */
int trace_late_event_add(const struct trace_event_call *call);
void trace_late_events_ready(void);
void trace_late_events_remove(bool (*goes)(const struct trace_event_call *call, const void *data), const void *data);
void trace_late_events_retire(bool (*goes)(const struct trace_event_call *call, const void *data), const void *data);
/* Is it on or soft-disabled in any array, or pinned? event_mutex held. */
bool trace_late_event_is_busy(const struct trace_event_call *call);
/* Of such an event: its name, why it is busy and what to do about that. event_mutex held. */
void trace_late_event_why_busy(const struct trace_event_call *call, char *why, size_t size);

/*
 * events/switch.c. The event stays until unpin: its module, or what a user has made. 0, or -EBUSY: the module's init
 * has not returned yet, or it is going. event_mutex held for the first, any context for the second.
 */
int trace_event_pin(struct trace_event_file *file);
void trace_event_unpin(struct trace_event_file *file);

/* events/switch.c. event_mutex held. */
/* set_event_pid or set_event_notrace_pid has got its first pid, or lost its last. */
void trace_events_update_pids(struct trace_array *tr);
/* Clock, options of stacks or tp_printk have changed: set the bits in each event's word. trace_types_lock held. */
void trace_events_update_options(struct trace_array *tr);
/*
 * Functions that end in _later only begin a change, so that a request that switches many events stops the machine once.
 * After the last of them, whatever it returned, trace_events_complete() must be called. All of them may sleep.
 */
void trace_events_complete(struct trace_event_set *set);
int trace_event_enable_later(struct trace_event_file *file, bool on); /* 0, -ENOMEM */
/*
 * The event's probe is needed, whether the event is on or off: for a trigger on the event, or for code that will switch
 * the event from a probe by EVENT_FILE_SOFT_DISABLED. 0, -ENOMEM. The second ends that; an event that is on stays on.
 */
int trace_event_hold_later(struct trace_event_file *file);
void trace_event_release_later(struct trace_event_file *file);
/*
 * The same for another event's trigger, or a function's command, that will switch this event: the event's module stays
 * meanwhile. -EBUSY: the module is going.
 */
int trace_event_hold_other_later(struct trace_event_file *file);
void trace_event_release_other_later(struct trace_event_file *file);
/* The event of these names; system NULL: the first of any system. NULL: there is none. */
struct trace_event_file *trace_event_find(struct trace_event_set *set, const char *system, const char *event);
/* The same, and ftrace:print, which can be neither switched nor chosen but has triggers. `system` is not NULL. */
struct trace_event_file *trace_event_find_any(struct trace_event_set *set, const char *system, const char *event);
/* events/record.c: must the complete record not be kept, for a reason that these flags name? For probes. */
#define EVENT_FILE_MAY_REFUSE (EVENT_FILE_FILTERED | EVENT_FILE_PIDS | EVENT_FILE_SOFT_DISABLED)
bool trace_event_refused(const struct trace_event_buffer *buffer, u32 flags);
/* All that match. -EINVAL: there is none; -ENOMEM: none was switched. The second is complete when it returns. */
int trace_events_enable_later(struct trace_event_set *set, const struct trace_event_match *match, bool on);
int trace_events_enable(struct trace_event_set *set, const struct trace_event_match *match, bool on);
/* "sys:event", "sys:", ":event", "name of either", each a pattern; `!` before it: off. 0 or -errno. Writes to text. */
int trace_event_set_by_text_later(struct trace_event_set *set, char *text);

/*
 * events/filter_files.c. event_mutex held. "0" takes the filter away. A text that is wrong does so too; the result is
 * filter_parse()'s error, and error_log and the file `filter` say why. -ENOMEM: nothing has changed (of a system:
 * events before the failure have the new filter). May sleep.
 */
int trace_event_set_filter(struct trace_event_file *file, const char *text);
void trace_event_show_filter(struct seq_file *m, const struct trace_event_file *file);
/* A program that is not the event's filter, for a trigger. ERR_PTR: error_log says why, but for -ENOMEM. */
struct event_filter *trace_event_parse_filter(const struct trace_event_file *file, const char *text);
/* For those of its events that have the fields; -EINVAL: there are none. */
int trace_system_set_filter(struct trace_event_system *system, const char *text);
void trace_system_show_filter(struct seq_file *m, const struct trace_event_system *system);

/*
 * The room trace/tp_printk sets both when records are to be printed to the console. printk: print a record that is
 * about to be committed. Any context. flag: EVENT_FILE_PRINTK for new events, or 0.
 */
extern void (*trace_event_printk)(const struct trace_event_buffer *buffer); /* [I, the command line] */
extern u32 trace_event_printk_flag;					    /* [trace_types_lock; the command line] */

/*
 * events/print.c. init: a new set's part. marker: record a text of trace_marker, with its triggers; false: it has none
 * now, or there is no room. Preemption off, once.
 */
void trace_print_event_init(struct trace_event_set *set);
bool trace_event_marker(struct trace_array *tr, unsigned long ip, const char *text, size_t n);

/*
 * Returns the name of the system call without "sys_", or NULL for a number that no call has. Any context. The pointer
 * itself is NULL in a kernel without trace/syscalls.
 */
extern const char *(*trace_syscall_name)(u64 nr); /* [I, boot] */
/* events/eval_map.c: names of values that came at run time, with a module, in the order of coming. [e] */
struct trace_late_evals {
	struct list_head list;
	const void *owner;
	const struct trace_eval_map *const *maps;
	unsigned n;
};
extern struct list_head trace_late_evals;

/* events/text.c: a file `format`. event_mutex held; the tracers' own records belong to the system "ftrace". */
void trace_show_format(struct seq_file *m, const char *name, unsigned type, const struct trace_event_field *fields,
		       const char *system, const char *print_fmt);
/* events/eval_map.c: a text of TP_printk with values in place of the names that the system's headers told of. [e] */
void trace_show_print_fmt(struct seq_file *m, const char *system, const char *fmt);
extern const struct trace_event trace_event_output; /* of every event */
