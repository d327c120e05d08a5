/*
 * Triggers in the probes of events. A hit's record is made as always; what triggers add comes when it is complete
 * (trace_event_end), so that an event without triggers pays for nothing.
 *
 * Triggers without a filter act before the record: it is taken out of the ring, and made again behind them, if it still
 * is to be. With a filter on any of them, or one that acts behind the record, it stays where it is meanwhile: what
 * `traceoff if ...` stops at is the last record. That order is Linux's.
 */
#include <lib/string.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "core/record.h"
#include "records/records.h"
#include "trigger.h"

/* ---- Counts */

bool trace_count_take(unsigned long *count)
{
	unsigned long old = READ_ONCE(*count);

	while (old && old != TRIGGER_UNLIMITED)
		if (__atomic_compare_exchange_n(count, &old, old - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return old;
}

/* Never: nothing is left of it. */
static bool count_is_up(const unsigned long *count, unsigned long *old)
{
	*old = count ? READ_ONCE(*count) : TRIGGER_UNLIMITED;
	smp_rmb(); /* the count as it was before a switch: then the switch is seen as it was before, or done */
	return !*old;
}

/* The switch is done. Who did the same meanwhile, on another CPU, has taken the same one. */
static void count_used(unsigned long *count, unsigned long old)
{
	if (old == TRIGGER_UNLIMITED)
		return;
	smp_wmb(); /* who finds the count less finds the switch done */
	__atomic_compare_exchange_n(count, &old, old - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void trace_switch_counted(struct trace_array *tr, bool on, unsigned long *count)
{
	unsigned long old;

	if (count_is_up(count, &old) || tracer_tracing_is_on(tr) == on)
		return;
	if (on)
		tracer_tracing_on(tr);
	else
		tracer_tracing_off(tr);
	count_used(count, old);
}

void trace_event_switch_counted(struct trace_event_file *file, bool on, unsigned long *count)
{
	unsigned long old;

	if (count_is_up(count, &old) || !(READ_ONCE(file->flags) & EVENT_FILE_SOFT_DISABLED) == on)
		return;
	trace_event_set_flag(file, EVENT_FILE_SOFT_DISABLED, !on);
	count_used(count, old);
}

/* ---- What they do */

static void fire_onoff(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	trace_switch_counted(trigger->file->tr, trigger->command->on, &trigger->count);
}

static void fire_event(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	trace_event_switch_counted(trigger->target, trigger->command->on, &trigger->count);
}

static void fire_snapshot(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	if (trace_count_take(&trigger->count))
		tracing_snapshot_instance(trigger->file->tr);
}

/* From where the tracepoint stands. */
static void fire_stacktrace(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	if (trace_count_take(&trigger->count))
		trace_stack_from(trigger->file->tr, hit->pc, hit->flags, 1, hit->fp);
}

/* As the file lists them. */
const struct trigger_command trigger_commands[] = {
	{.name = "traceon", .type = TRIGGER_ONOFF, .on = true, .fire = fire_onoff},
	{.name = "traceoff", .type = TRIGGER_ONOFF, .on = false, .fire = fire_onoff},
	{.name = "snapshot",
	 .type = TRIGGER_SNAPSHOT,
	 .not_within = true,
	 .prepare = tracing_arm_snapshot,
	 .fire = fire_snapshot},
	{.name = "stacktrace", .type = TRIGGER_STACKTRACE, .behind = true, .fire = fire_stacktrace},
	{.name = "enable_event", .type = TRIGGER_EVENT, .on = true, .fire = fire_event},
	{.name = "disable_event", .type = TRIGGER_EVENT, .on = false, .fire = fire_event},
};
const unsigned nr_trigger_commands = ARRAY_SIZE(trigger_commands);

#define for_each_trigger(t, file) \
	for ((t) = smp_load_acquire(&(file)->triggers); (t); (t) = smp_load_acquire(&(t)->next))

/* Those that want this record; what cannot be done within a record, or acts behind it, is left: a bit for each type. */
static unsigned fire_within(struct trace_event_file *file, const void *record, const struct trigger_hit *hit)
{
	struct event_trigger *t;
	unsigned left = 0;

	for_each_trigger(t, file) {
		if (t->filter && !filter_match(t->filter, record))
			continue;
		if (t->command->behind || t->command->not_within)
			left |= 1u << t->command->type;
		else
			t->command->fire(t, hit);
	}
	return left;
}

static void fire_left(struct trace_event_file *file, unsigned left, const struct trigger_hit *hit)
{
	struct event_trigger *t;

	if (!left)
		return;
	for_each_trigger(t, file)
		if (left & (1u << t->command->type))
			t->command->fire(t, hit);
}

/*
 * No record is being made; `record` is aside. There was no condition when the event's flags were read, but a trigger
 * that has come since may have one.
 */
static void fire_all(struct trace_event_file *file, const void *record, const struct trigger_hit *hit)
{
	struct event_trigger *t;

	for_each_trigger(t, file)
		if (!t->filter || filter_match(t->filter, record))
			t->command->fire(t, hit);
}

/* ---- The end of a record */

/* The record stays where it is, if it is in the ring at all, until the triggers have looked at it. */
static void end_with_conditions(struct trace_event_buffer *buffer, const struct trigger_hit *hit)
{
	struct trace_event_file *file = buffer->file;
	unsigned left = fire_within(file, buffer->entry, hit);

	if (!buffer->event)
		trace_event_leave_aside(buffer);
	else if (trace_event_refused(buffer, READ_ONCE(file->flags)))
		trace_event_discard(buffer);
	else
		trace_event_keep(buffer, hit->fp);
	fire_left(file, left, hit);
}

void trace_event_end_triggers(struct trace_event_buffer *buffer, unsigned long fp, u32 flags)
{
	const struct trigger_hit hit = {buffer->pc, buffer->flags, fp};
	struct trace_event_file *file = buffer->file;

	if ((flags & EVENT_FILE_CONDITIONS) || !trace_event_put_aside(buffer)) {
		end_with_conditions(buffer, &hit);
		return;
	}
	fire_all(file, buffer->entry, &hit);
	if (!trace_event_refused(buffer, READ_ONCE(file->flags)))
		trace_event_record_aside(buffer, fp);
	trace_event_leave_aside(buffer);
}
