/* Triggers: what an event does besides being recorded; function commands do the same. Private to trace/. */
#pragma once

#include "events/trigger.h"

struct seq_file;
struct trace_refusal;

/* A kind of trigger. */
struct trigger_command {
	const char *name;
	u8 type;	 /* TRIGGER_*: an event has at most one of each; of TRIGGER_EVENT one for each target */
	bool on;	 /* of two opposite commands of one type: does this one switch on? */
	bool behind;	 /* acts behind the record */
	bool not_within; /* cannot act while a record is being made */
	bool reads;	 /* looks at the record, so it acts while that is where it was made */
	bool last;	 /* acts after the event's other triggers; the newest of these acts last */
	int (*prepare)(struct trace_array *tr);	   /* NULL, or before the first hit. 0 or -errno */
	void (*unprepare)(struct trace_array *tr); /* the other way round, when the trigger is freed */
	/* Acts, if the count allows it. In the probe: any context, preemption off; it must not lock or allocate. */
	void (*fire)(struct event_trigger *trigger, const struct trigger_hit *hit);
	/*
	 * Of a command with a form of its own, else NULL. event_mutex held, may sleep. write: the text behind "NAME:",
	 * or NULL; 0 or -errno. free: no probe knows the trigger any more. truncate: the event's file `trigger` was
	 * opened with O_TRUNC. explain: why the text r->text was refused; no lock held.
	 */
	int (*write)(struct trace_event_file *file, const struct trigger_command *command, char *text, bool remove);
	void (*show)(struct seq_file *m, const struct event_trigger *trigger);
	void (*free)(struct event_trigger *trigger);
	void (*truncate)(struct trace_event_file *file);
	void (*explain)(struct trace_refusal *r);
};
#define TRIGGER_ONOFF	   0
#define TRIGGER_SNAPSHOT   1
#define TRIGGER_STACKTRACE 2
#define TRIGGER_EVENT	   3
#define TRIGGER_HIST_ONOFF 4 /* one for each target, too */
#define TRIGGER_HIST	   5 /* any number of them */
#define TRIGGER_EPROBE	   6 /* the same */

/* The commands of another room, in the order in which the file `trigger` lists them, behind those of this one. */
struct trigger_commands {
	const struct trigger_command *commands;
	unsigned nr;
};
#define REGISTER_TRIGGER_COMMANDS(c) REGISTER_IN(trigger_commands, c)
DECLARE_TABLE(trigger_commands, const struct trigger_commands);
/* Command number n of all; NULL: there are fewer. Any context. */
const struct trigger_command *trigger_command_nr(unsigned n);
#define for_each_trigger_command(c) for (unsigned _n = 0; ((c) = trigger_command_nr(_n)) != NULL; _n++)
/* Does it switch another event, "NAME:SYSTEM:EVENT[:COUNT]"? */
static inline bool trigger_has_target(const struct trigger_command *command)
{
	return command->type == TRIGGER_EVENT || command->type == TRIGGER_HIST_ONOFF;
}

#define TRIGGER_UNLIMITED (~0UL)

/* Locks: e event_mutex; a changed by probes, atomically; I immutable. */
struct event_trigger {
	struct event_trigger *next;	       /* [e, RCU] */
	struct event_trigger *removed;	       /* [e] the next trigger that is taken away together with this one */
	const struct trigger_command *command; /* [I] */
	struct trace_event_file *file;	       /* [I] the event that it stands on */
	struct trace_event_file *target;       /* [I] the event that it switches, or NULL */
	unsigned long count;		       /* [a] how often it will act, TRIGGER_UNLIMITED */
	struct event_filter *filter;	       /* [I] NULL: it acts on every hit */
	char *filter_text;		       /* [I] */
	bool paused;			       /* [a] of TRIGGER_HIST: it does not count */
	bool prepared;			       /* [e] command->prepare has done its work */
	bool again; /* [I] it is fired a second time, with the record NULL, when that is closed */
};

/* ---- fire.c: in probes */

/* For struct event_triggers, which says what they do. */
void trace_event_end_triggers(struct trace_event_buffer *buffer, unsigned long fp, u32 flags);
unsigned trace_event_fire_within(struct trace_event_file *file, const struct trigger_hit *hit);
void trace_event_fire_left(struct trace_event_file *file, unsigned left, const struct trigger_hit *within);

/* Lower the count by one. False: it is 0 already. TRIGGER_UNLIMITED never changes. Any context. */
bool trace_count_take(unsigned long *count);
/*
 * Switch recording of the array, or the event, on or off. The count is lowered only if that is a change, and at 0
 * nothing is switched. count NULL: there is no count. Any context.
 */
void trace_switch_counted(struct trace_array *tr, bool on, unsigned long *count);
void trace_event_switch_counted(struct trace_event_file *file, bool on, unsigned long *count);

/* ---- set.c: the file. event_mutex held. */

/*
 * For commands with a form of their own. add: a complete trigger comes in force. 0 or -errno, and then it is the
 * caller's again. remove: it goes out of force, and is freed. filter: "if" has been cut off already.
 */
int trace_event_add_trigger(struct event_trigger *t);
void trace_event_remove_trigger(struct event_trigger *t);
void trace_event_free_trigger(struct event_trigger *t); /* one that has not come in force */
int trace_event_trigger_filter(struct event_trigger *t, const char *text);
