/*
 * How events call their triggers (trace/triggers), and what those need of the records. In a kernel without that room no
 * event has EVENT_FILE_TRIGGERS.
 */
#pragma once

#include "event_file.h"

struct trigger_command;

/* The state in which the event happened, for the record of the stack, and the record itself. */
struct trigger_hit {
	u32 pc;
	unsigned long flags, fp;
	const void *record; /* NULL: it is closed, and may be gone */
	bool open;	    /* it lies open in the ring: neither switch nor exchange that */
};

/* What the code of events calls of the room. */
struct event_triggers {
	/*
	 * The end of a probe whose event has triggers: judge the record, keep or discard it, then let the triggers act.
	 * Preemption off.
	 */
	void (*end)(struct trace_event_buffer *buffer, unsigned long fp, u32 flags);
	/*
	 * For a record that lies open in the ring: what acts within it acts, and the result says what fire_left() must
	 * do when it is closed. Preemption off.
	 */
	unsigned (*fire_within)(struct trace_event_file *file, const struct trigger_hit *hit);
	void (*fire_left)(struct trace_event_file *file, unsigned left, const struct trigger_hit *within);
	/* Take away all triggers of an event. event_mutex held; sleeps. */
	void (*clear)(struct trace_event_file *file);
	/* Command number n of all, in the order in which the file `trigger` lists them; NULL: there are fewer. */
	const struct trigger_command *(*command)(unsigned n);
};
#define REGISTER_EVENT_TRIGGERS(t) REGISTER_IN(event_triggers, t)
DECLARE_TABLE(event_triggers, const struct event_triggers);
/* NULL: this kernel has no triggers. Any context. */
static inline const struct event_triggers *event_triggers(void)
{
	const struct event_triggers *triggers = NULL;

	for_each_in_table(event_triggers, triggers)
		break;
	return triggers;
}

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
