/* Triggers: what an event does besides being recorded; function commands do the same. Private to trace/. */
#pragma once

#include "event_file.h"

struct trigger_hit;

/* A kind of trigger. */
struct trigger_command {
	const char *name;
	u8 type;	 /* TRIGGER_*: an event has at most one of each; of TRIGGER_EVENT one for each target */
	bool on;	 /* of two opposite commands of one type: does this one switch on? */
	bool behind;	 /* acts behind the record */
	bool not_within; /* cannot act while a record is being made */
	int (*prepare)(struct trace_array *tr); /* NULL, or before the first hit. 0 or -errno */
	/* Acts, if the count allows it. In the probe: any context, preemption off; it must not lock or allocate. */
	void (*fire)(struct event_trigger *trigger, const struct trigger_hit *hit);
};
#define TRIGGER_ONOFF	   0
#define TRIGGER_SNAPSHOT   1
#define TRIGGER_STACKTRACE 2
#define TRIGGER_EVENT	   3

#define TRIGGER_UNLIMITED (~0UL)

/* Locks: e event_mutex; a changed by probes, atomically; I immutable. */
struct event_trigger {
	struct event_trigger *next;	       /* [e, RCU] */
	struct event_trigger *removed;	       /* [e] the next trigger that is taken away together with this one */
	const struct trigger_command *command; /* [I] */
	struct trace_event_file *file;	       /* [I] the event that it stands on */
	struct trace_event_file *target;       /* [I] TRIGGER_EVENT: the event that it switches; else NULL */
	unsigned long count;		       /* [a] how often it will act, TRIGGER_UNLIMITED */
	struct event_filter *filter;	       /* [I] NULL: it acts on every hit */
	char *filter_text;		       /* [I] */
};

/* The state in which the event happened, for the record of the stack. */
struct trigger_hit {
	u32 pc;
	unsigned long flags, fp;
};

/* ---- events/trigger.c: in probes */

/*
 * The end of a probe whose event has triggers: judge the record, keep or discard it, then let the triggers act.
 * Preemption off.
 */
void trace_event_end_triggers(struct trace_event_buffer *buffer, unsigned long fp, u32 flags);
/* Commit, with the stacks that options ask for. */
static __always_inline void trace_event_keep(struct trace_event_buffer *buffer, unsigned long fp)
{
	struct trace_array *tr = buffer->file->tr;

	if (unlikely(READ_ONCE(buffer->file->flags) & EVENT_FILE_PRINTK))
		trace_event_printk(buffer);
	trace_commit(tr);
	trace_stacks_from(tr, buffer->pc, buffer->flags, 1, fp);
}

/*
 * events/record.c: records aside, which lie in no ring. put_aside moves the record out of the ring (true also when it
 * lies aside already; false: there is no place, and it stays in the ring). record_aside copies it into the ring, if
 * that is on and has room. leave_aside gives the place back. discard takes a record out of the ring for good.
 */
bool trace_event_put_aside(struct trace_event_buffer *buffer);
void trace_event_record_aside(struct trace_event_buffer *buffer, unsigned long fp);
void trace_event_leave_aside(const struct trace_event_buffer *buffer);
void trace_event_discard(struct trace_event_buffer *buffer);

/* Lower the count by one. False: it is 0 already. TRIGGER_UNLIMITED never changes. Any context. */
bool trace_count_take(unsigned long *count);
/*
 * Switch recording of the array, or the event, on or off. The count is lowered only if that is a change, and at 0
 * nothing is switched. count NULL: there is no count. Any context.
 */
void trace_switch_counted(struct trace_array *tr, bool on, unsigned long *count);
void trace_event_switch_counted(struct trace_event_file *file, bool on, unsigned long *count);

extern const struct trigger_command trigger_commands[];
extern const unsigned nr_trigger_commands;

/* ---- events/trigger_set.c: the file. event_mutex held. */

/* "[!]command[:parameters][ if filter]". 0 or -errno. Writes to text. */
int trace_event_set_trigger(struct trace_event_file *file, char *text);
void trace_event_show_triggers(struct seq_file *m, const struct trace_event_file *file);
/* Take away all triggers of all events, because the array goes. */
void trace_event_clear_triggers(struct trace_event_set *set);
void trace_event_clear_triggers_of(struct trace_event_file *file); /* of one event */
