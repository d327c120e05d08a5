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
/* Are there records of it? What shows as 1. */
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
	unsigned nr_module_events;	 /* [e; read without] of modules */
	char *filter_text;		 /* [e] the last error in its file `filter`; NULL: none */
};

/*
 * The place of an event of a module, behind the kernel's. Names are copies that stay when the module goes, so they are
 * read without a lock (events/modules.c).
 */
#define ROOM_FOR_MODULE_EVENTS 64
struct trace_module_place {
	struct trace_event_system *system; /* [e; read without] NULL: nobody has the place */
	const char *name;		   /* [e; the same] */
};

/* All events of an array. [I, boot or the array's creation, unless said] */
struct trace_event_set {
	struct list_head list;	/* [e] */
	struct virtual_dir dir; /* events */
	struct trace_array *tr;
	struct trace_event_system *systems;  /* in order of their first event */
	struct trace_event_file **by_system; /* all files, a system's together */
	unsigned nr_syscalls_on[2];	     /* [e] of system calls: their beginnings, their ends */
	unsigned nr_systems;		     /* [e; read with acquire] it grows, as systems of modules come */
	unsigned nr_files;
	struct trace_module_place module_places[ROOM_FOR_MODULE_EVENTS];
	struct trace_event_file files[]; /* in the order of the linker's table, and behind them places for modules' */
};

DECLARE_TABLE(ftrace_events, const struct trace_event_call);
static inline unsigned trace_nr_events(void)
{
	return __stop_ptrs_ftrace_events - __start_ptrs_ftrace_events;
}
/* By place. [e; read by type with preemption off, then good until preemption is on] NULL: nobody has the place. */
extern const struct trace_event_call *trace_module_calls[ROOM_FOR_MODULE_EVENTS];
static inline bool trace_type_is_of_module(unsigned type)
{
	return type - TRACE_EVENT_FIRST - trace_nr_events() < ROOM_FOR_MODULE_EVENTS;
}
/* NULL: not an event's type. What it returns for a type of a module's event may go when preemption is on. */
static inline const struct trace_event_call *trace_event_of_type(unsigned type)
{
	unsigned nr = type - TRACE_EVENT_FIRST;

	if (nr < trace_nr_events())
		return __start_ptrs_ftrace_events[nr];
	return trace_type_is_of_module(type) ? READ_ONCE(trace_module_calls[nr - trace_nr_events()]) : NULL;
}
#define for_each_event(set, file)                                                      \
	for ((file) = (set)->files; (file) < (set)->files + (set)->nr_files; (file)++) \
		if ((file)->call)

/* Which events: by patterns (glob_match), NULL: any. `either`: the name of the system or of the event. */
struct trace_event_match {
	const char *system, *event, *either;
};
bool trace_event_matches(const struct trace_event_file *file, const struct trace_event_match *match);

/* events/set.c. event_mutex held, or nobody else knows the set. */
void trace_event_file_init(struct trace_event_set *set, unsigned nr, const struct trace_event_call *call);
struct trace_event_system *trace_event_find_system(const struct trace_event_set *set, const char *name); /* or NULL */
/* events/modules.c: a new set gets the events of the modules that are there; one that ends gets no more. No lock. */
void trace_module_events_join(struct trace_event_set *set);
void trace_module_events_leave(struct trace_event_set *set);
/* Its module stays until unpin. -EBUSY: it is not through with its init, or on its way out. Any context. */
int trace_event_pin(struct trace_event_file *file);
void trace_event_unpin(struct trace_event_file *file);

/* events/switch.c. event_mutex held. */
/* The list of pids of set_event_pid has begun or ended to be there. */
void trace_events_update_pids(struct trace_array *tr);
/* What every record depends on has changed: clock, options of stacks, tp_printk. trace_types_lock held. */
void trace_events_update_options(struct trace_array *tr);
/*
 * Those that end in _later only begin a change, so that a request that switches many events stops the machine once:
 * after the last of them, whatever they returned, comes trace_events_complete(). All of them may sleep.
 */
void trace_events_complete(struct trace_event_set *set);
int trace_event_enable_later(struct trace_event_file *file, bool on); /* 0, -ENOMEM */
/*
 * Somebody needs the event's probe, be the event on or off: a trigger on it, or one that will switch it from a probe by
 * EVENT_FILE_SOFT_DISABLED. 0, -ENOMEM. The second ends that, in every context; the event stays on if that is its
 * state.
 */
int trace_event_hold_later(struct trace_event_file *file);
void trace_event_release_later(struct trace_event_file *file);
/*
 * The same for who will switch the event from elsewhere, another event or a function: its module stays. -EBUSY: it is
 * going.
 */
int trace_event_hold_other_later(struct trace_event_file *file);
void trace_event_release_other_later(struct trace_event_file *file);
/* The event of these names; system NULL: the first of any system. NULL: there is none. */
struct trace_event_file *trace_event_find(struct trace_event_set *set, const char *system, const char *event);
/* events/record.c: the complete record is not to be kept, for one of these flags. Probes. */
bool trace_event_refused(const struct trace_event_buffer *buffer, u32 flags);
/* All that match. -EINVAL: there is none; -ENOMEM: none was switched. The second is complete when it returns. */
int trace_events_enable_later(struct trace_event_set *set, const struct trace_event_match *match, bool on);
int trace_events_enable(struct trace_event_set *set, const struct trace_event_match *match, bool on);
/* "sys:event", "sys:", ":event", "name of either", each a pattern; `!` before it: off. 0 or -errno. Writes to text. */
int trace_event_set_by_text_later(struct trace_event_set *set, char *text);

/*
 * events/filter_files.c. event_mutex held. "0": no filter. Wrong: what filter_parse returns, there is none then, and
 * error_log and the file `filter` say why. -ENOMEM: nothing has changed (of a system: for those that come behind). May
 * sleep.
 */
int trace_event_set_filter(struct trace_event_file *file, const char *text);
void trace_event_show_filter(struct seq_file *m, const struct trace_event_file *file);
/* The same program for somebody else; ERR_PTR: error_log says why. */
struct event_filter *trace_event_parse_filter(const struct trace_event_file *file, const char *text);
/* For those of its events that have the fields; -EINVAL: there are none. */
int trace_system_set_filter(struct trace_event_system *system, const char *text);
void trace_system_show_filter(struct seq_file *m, const struct trace_event_system *system);

/* events/tp_printk.c: print a record that is about to be committed; the flag that says so, for a file that is made. */
void trace_event_printk(const struct trace_event_buffer *buffer);
u32 trace_event_printk_flag(void);
void tp_printk_boot_end(void);

/* events/text.c: a file `format`. event_mutex held; the tracers' own records belong to the system "ftrace". */
void trace_show_format(struct seq_file *m, const char *name, unsigned type, const struct trace_event_field *fields,
		       const char *system, const char *print_fmt);
/* events/eval_map.c: a text of TP_printk with values in place of the names that the system's headers told of. [e] */
void trace_show_print_fmt(struct seq_file *m, const char *system, const char *fmt);
extern const struct trace_event trace_event_output; /* of every event */
