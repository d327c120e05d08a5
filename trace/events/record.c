/*
 * The general way from an event's probe to a record. A record that may be refused, by a filter or by the lists of pids,
 * is made aside, in no ring, and copied into one when it is not refused. So nothing is left of a refused record in the
 * ring, and it costs less than one that is kept. All other records are made in place:
 *
 *	trace_event_begin	choose where the record is made, fill its common fields
 *	  the probe fills in the event's own fields
 *	trace_event_end		ask filter and pids; commit, copy or discard; triggers; stacks
 *
 * Context: probes, which run in any context, NMI included, with preemption off. Nothing here sleeps or takes a lock.
 */
#include <irq/irqflags.h>
#include <kernel/export.h>
#include <kernel/percpu.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/record.h"
#include "trigger.h"

/* ---- Records aside */

/* Larger sub-buffers take longer records; those cannot be made aside. */
#define ASIDE_MAX RB_MAX_EVENT

/*
 * Memory for records that are made aside, a place for each level of nesting: an interrupt on top of a probe takes the
 * next place (trace_nest_enter). [this CPU]
 */
struct records_aside {
	unsigned depth;
	char record[TRACE_NEST_MAX][ALIGN(ASIDE_MAX, 8)] __attribute__((aligned(8)));
};
static DEFINE_PER_CPU(struct records_aside, records_aside);

/*
 * The place for a record on this level. NULL: nested too deep, there is none. Otherwise trace_event_leave_aside() must
 * follow.
 */
static void *enter_aside(struct trace_event_buffer *buffer)
{
	struct records_aside *aside = this_cpu_ptr(&records_aside);

	buffer->depth = trace_nest_enter(&aside->depth);
	return likely(buffer->depth < TRACE_NEST_MAX) ? aside->record[buffer->depth] : NULL;
}

void trace_event_leave_aside(const struct trace_event_buffer *buffer)
{
	trace_nest_leave(&this_cpu_ptr(&records_aside)->depth, buffer->depth);
}

static struct ring_buffer_per_cpu *ring_here(const struct trace_event_file *file)
{
	return file->buffers[smp_processor_id()];
}

/*
 * The record moves out of the ring: triggers that act before it may switch the ring off or exchange it, which must not
 * happen while a record is open in it.
 */
bool trace_event_put_aside(struct trace_event_buffer *buffer)
{
	void *aside;

	if (!buffer->event)
		return true;
	if (ring_buffer_event_length(buffer->event) > ASIDE_MAX)
		return false;
	aside = enter_aside(buffer);
	if (!aside)
		return false;
	buffer->len = ring_buffer_event_length(buffer->event);
	memcpy(aside, buffer->entry, buffer->len);
	trace_event_discard(buffer);
	buffer->entry = aside;
	return true;
}

/*
 * Copy the record into the ring. It gets a new reservation with the present time, so records that triggers have made
 * stand before it in order of time.
 */
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

/*
 * Do the lists of pids leave this record out? A switch concerns two tasks, and so does a wake-up: the record is kept
 * when the lists want either of them. other_pid is the offset of the second pid in the record.
 */
static bool refused_by_pid(const struct trace_event_buffer *buffer)
{
	const struct trace_event_file *file = buffer->file;
	const struct trace_pids *pids = &file->tr->event_pids;

	if (!trace_pids_ignore(pids, current->pid))
		return false;
	return !file->other_pid ||
	       trace_pids_ignore(pids, *(const pid_t *)((const char *)buffer->entry + file->other_pid));
}

/*
 * The filter may be replaced at any moment: acquire pairs with the release that has installed it, and the old one is
 * freed a grace period later.
 */
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

/*
 * Can the record be refused before it is made? That saves making the records of an event that is soft-disabled, or of a
 * task that the lists of pids leave out.
 */
static bool refused_at_once(const struct trace_event_file *file, u32 flags)
{
	return (flags & EVENT_FILE_SOFT_DISABLED) || ((flags & EVENT_FILE_PIDS) && !file->other_pid &&
						      trace_pids_ignore(&file->tr->event_pids, current->pid));
}

/* ---- Beginning and end */

/* Fills the common fields and notes the context, which stacks and triggers need at the end. */
static __always_inline void *record_begin(struct trace_event_buffer *buffer, void *entry)
{
	struct task_struct *t = current;

	buffer->entry = entry;
	buffer->flags = arch_local_save_flags();
	buffer->pc = READ_ONCE(t->preempt_count) - PREEMPT_OFFSET; /* the tracepoint has disabled preemption once */
	trace_fill(entry, buffer->file->type, t, buffer->pc, buffer->flags);
	return entry;
}

/* A record aside. NULL: it is too long, or nested too deep. */
static void *begin_aside(struct trace_event_buffer *buffer, unsigned len)
{
	void *aside = len <= ASIDE_MAX ? enter_aside(buffer) : NULL;

	buffer->event = NULL;
	buffer->len = len;
	return likely(aside) ? record_begin(buffer, aside) : NULL;
}

/*
 * Begin an event's record. It is made in the ring when it is surely wanted, which saves a copy; aside, in a buffer of
 * this CPU, when a filter may refuse it, so that a refused record never takes room in the ring. NULL: not wanted, or no
 * room. Context: the tracepoint's, preemption off.
 */
void *trace_event_begin(struct trace_event_buffer *buffer, struct trace_event_file *file, unsigned len)
{
	u32 flags = READ_ONCE(file->flags);
	void *entry;

	buffer->file = file;
	/* Triggers see refused records too, and what they do may concern the ring: with them they are made in place. */
	buffer->judged = (flags & EVENT_FILE_MAY_REFUSE) && !(flags & EVENT_FILE_TRIGGERS);
	if (buffer->judged) {
		if (refused_at_once(file, flags))
			return NULL;
		entry = begin_aside(buffer, len);
		if (likely(entry))
			return entry;
		buffer->judged = false; /* no room aside: it is made in the ring, and discarded if it is refused */
	}
	buffer->event = ring_buffer_reserve(ring_here(file), len, trace_clock_now(file->tr));
	if (likely(buffer->event))
		return record_begin(buffer, ring_buffer_event_data(buffer->event));
	/* No room, or the ring is off: triggers see a record all the same. */
	return flags & EVENT_FILE_TRIGGERS ? begin_aside(buffer, len) : NULL;
}
EXPORT_SYMBOL(trace_event_begin);

/*
 * The four ways to end a record. trace_event_end only chooses, so it needs no frame.
 *
 * The record is complete and wanted.
 */
static noinline void end_plain(struct trace_event_buffer *buffer, unsigned long fp)
{
	struct trace_array *tr = buffer->file->tr;

	trace_commit(tr);
	trace_stacks_from(tr, buffer->pc, buffer->flags, 1, fp);
}

/* It is complete but not committed, and a filter or a list of pids may refuse it. */
static noinline void end_in_ring(struct trace_event_buffer *buffer, unsigned long fp, u32 flags)
{
	if (trace_event_refused(buffer, flags))
		trace_event_discard(buffer);
	else
		trace_event_keep(buffer, fp);
}

/* It lies aside. */
static noinline void end_judged(struct trace_event_buffer *buffer, unsigned long fp, u32 flags)
{
	if (!trace_event_refused(buffer, flags))
		trace_event_record_aside(buffer, fp);
	trace_event_leave_aside(buffer);
}

/*
 * How the record was begun decides, not the flags of now: filters and triggers may have come or gone since, but a
 * judged record lies in no ring and must be copied.
 */
void trace_event_end(struct trace_event_buffer *buffer, unsigned long fp)
{
	u32 flags = READ_ONCE(buffer->file->flags);

	if (unlikely(buffer->judged))
		end_judged(buffer, fp, flags);
	else if (unlikely((flags & EVENT_FILE_TRIGGERS) || !buffer->event))
		/* The event has triggers, or had some when the record was begun: so the table has its entry. */
		(*__start_ptrs_event_triggers)->end(buffer, fp, flags);
	else if (unlikely(flags & ~EVENT_FILE_PLAIN))
		end_in_ring(buffer, fp, flags);
	else
		end_plain(buffer, fp);
}
EXPORT_SYMBOL(trace_event_end);

/*
 * The short way of an event with nothing but a filter: the probe has made the record in memory of its own, and a
 * refused one costs nothing more.
 */
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
EXPORT_SYMBOL(trace_event_judge);
