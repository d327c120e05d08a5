/*
 * The general way of an event's probe to a record. A record that may be refused, by a filter or by the lists of pids,
 * is made aside, in no ring, and copied into one when it is not: so nothing is left of a refused one, and it costs less
 * than one that is kept. All others are made in place.
 */
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/record.h"
#include "trigger.h"

/* ---- Records aside */

#define ASIDE_MAX RB_MAX_EVENT

/* Nesting: trace_nest_enter. [this CPU] */
struct records_aside {
	unsigned depth;
	char record[TRACE_NEST_MAX][ALIGN(ASIDE_MAX, 8)] __attribute__((aligned(8)));
};
static DEFINE_PER_CPU(struct records_aside, records_aside);

/* NULL: there is no place. Else trace_event_leave_aside follows. */
static void *enter_aside(struct trace_event_buffer *buffer)
{
	struct records_aside *aside = this_cpu_ptr(records_aside);

	buffer->depth = trace_nest_enter(&aside->depth);
	return likely(buffer->depth < TRACE_NEST_MAX) ? aside->record[buffer->depth] : NULL;
}

void trace_event_leave_aside(const struct trace_event_buffer *buffer)
{
	trace_nest_leave(&this_cpu_ptr(records_aside)->depth, buffer->depth);
}

static struct ring_buffer_per_cpu *ring_here(const struct trace_event_file *file)
{
	return file->buffers[smp_processor_id()];
}

bool trace_event_put_aside(struct trace_event_buffer *buffer)
{
	void *aside;

	if (!buffer->event)
		return true;
	aside = enter_aside(buffer);
	if (!aside)
		return false;
	buffer->len = ring_buffer_event_length(buffer->event);
	memcpy(aside, buffer->entry, buffer->len);
	trace_event_discard(buffer);
	buffer->entry = aside;
	return true;
}

void trace_event_record_aside(struct trace_event_buffer *buffer, unsigned long fp)
{
	struct trace_event_file *file = buffer->file;

	buffer->event = ring_buffer_reserve(ring_here(file), buffer->len, trace_clock_now(file->tr));
	if (!buffer->event)
		return;
	memcpy(ring_buffer_event_data(buffer->event), buffer->entry, buffer->len);
	trace_event_keep(buffer, fp);
}

void trace_event_discard(struct trace_event_buffer *buffer)
{
	ring_buffer_discard(ring_here(buffer->file), buffer->event);
}

/* ---- What is refused */

/* Is it nobody's whom the lists of pids ask for? A switch is also the next task's, a wake-up that of whom it wakes. */
static bool refused_by_pid(const struct trace_event_buffer *buffer)
{
	const struct trace_event_file *file = buffer->file;
	const struct trace_pids *pids = &file->tr->event_pids;

	if (!trace_pids_ignore(pids, current->pid))
		return false;
	return !file->other_pid ||
	       trace_pids_ignore(pids, *(const pid_t *)((const char *)buffer->entry + file->other_pid));
}

static __always_inline bool refused_by_filter(const struct trace_event_buffer *buffer)
{
	const struct event_filter *filter = smp_load_acquire(&buffer->file->filter);

	return filter && !filter_match(filter, buffer->entry);
}

bool trace_event_refused(const struct trace_event_buffer *buffer, u32 flags)
{
	return (flags & EVENT_FILE_SOFT_DISABLED) || ((flags & EVENT_FILE_PIDS) && refused_by_pid(buffer)) ||
	       ((flags & EVENT_FILE_FILTERED) && refused_by_filter(buffer));
}

/* The same as far as it can be told without the record. */
static bool refused_at_once(const struct trace_event_file *file, u32 flags)
{
	return (flags & EVENT_FILE_SOFT_DISABLED) || ((flags & EVENT_FILE_PIDS) && !file->other_pid &&
						      trace_pids_ignore(&file->tr->event_pids, current->pid));
}

/* ---- Beginning and end */

static __always_inline void *begin(struct trace_event_buffer *buffer, void *entry)
{
	struct task_struct *t = current;

	buffer->entry = entry;
	buffer->flags = arch_local_save_flags();
	buffer->pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET; /* the tracepoint has disabled preemption once */
	trace_fill(entry, buffer->file->type, t, buffer->pc, buffer->flags);
	return entry;
}

/* NULL: there is no place for it. */
static void *begin_aside(struct trace_event_buffer *buffer, unsigned len)
{
	void *aside = len <= ASIDE_MAX ? enter_aside(buffer) : NULL;

	buffer->event = NULL;
	buffer->len = len;
	return likely(aside) ? begin(buffer, aside) : NULL;
}

#define MAY_BE_REFUSED (EVENT_FILE_FILTERED | EVENT_FILE_PIDS | EVENT_FILE_SOFT_DISABLED)

void *trace_event_begin(struct trace_event_buffer *buffer, struct trace_event_file *file, unsigned len)
{
	u32 flags = READ_ONCE(file->flags);
	void *entry;

	buffer->file = file;
	/* Triggers see refused records too, and what they do may concern the ring: with them they are made in place. */
	buffer->judged = (flags & MAY_BE_REFUSED) && !(flags & EVENT_FILE_TRIGGERS);
	if (buffer->judged) {
		if (refused_at_once(file, flags))
			return NULL;
		entry = begin_aside(buffer, len);
		if (likely(entry))
			return entry;
		buffer->judged = false; /* but made in place, and discarded if it must be */
	}
	buffer->event = ring_buffer_reserve(ring_here(file), len, trace_clock_now(file->tr));
	if (likely(buffer->event))
		return begin(buffer, ring_buffer_event_data(buffer->event));
	/* No room, or the ring is off: triggers see a record all the same. */
	return flags & EVENT_FILE_TRIGGERS ? begin_aside(buffer, len) : NULL;
}

/* The record is complete, but not committed, and something is to be asked before. */
static noinline void end_not_plain(struct trace_event_buffer *buffer, unsigned long fp, u32 flags)
{
	if ((flags & EVENT_FILE_TRIGGERS) || !buffer->event)
		trace_event_end_triggers(buffer, fp, flags);
	else if (trace_event_refused(buffer, flags))
		trace_event_discard(buffer);
	else
		trace_event_keep(buffer, fp);
}

/* How it was begun counts: whatever has become of filters and triggers since, a judged record is in no ring. */
void trace_event_end(struct trace_event_buffer *buffer, unsigned long fp)
{
	struct trace_array *tr = buffer->file->tr;
	u32 flags = READ_ONCE(buffer->file->flags);

	if (buffer->judged) {
		if (!trace_event_refused(buffer, flags))
			trace_event_record_aside(buffer, fp);
		trace_event_leave_aside(buffer);
	} else if (unlikely((flags & ~EVENT_FILE_PLAIN) || !buffer->event)) {
		end_not_plain(buffer, fp, flags);
	} else {
		trace_commit(tr);
		trace_stacks_from(tr, buffer->pc, buffer->flags, 1, fp);
	}
}

void trace_event_judge(const struct trace_event_file *file, const void *record, unsigned len)
{
	const struct event_filter *filter = smp_load_acquire(&file->filter);
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ring_buffer_event *event;

	if (filter && !filter_match(filter, record))
		return;
	cpu_buffer = ring_here(file);
	event = ring_buffer_reserve(cpu_buffer, len, sched_clock());
	if (!event)
		return;
	memcpy(ring_buffer_event_data(event), record, len);
	ring_buffer_commit(cpu_buffer);
}
