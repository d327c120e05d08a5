/*
 * Triggers in the probes of events: what happens besides the record when an event is hit. The record is made as always,
 * and triggers come in when it is complete (trace_event_end), so an event without triggers pays nothing.
 *
 * Triggers without a filter act before the record: it is taken out of the ring, the triggers act, and it is made again
 * behind them if it still is to be kept. When one of the event's triggers has a filter, or acts behind the record
 * (stacktrace), the record stays in place meanwhile: the last record of `traceoff if ...` is the one that met the
 * condition. This order is Linux's.
 *
 * Context: probes, which run in any context with preemption off. Nothing here locks, allocates or sleeps; set.c
 * changes the lists and the flags, and its comments say how.
 */
#include <lib/string.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "core/record.h"
#include "records/records.h"
#include "trigger.h"

/* ---- Counts */

/* Several CPUs may take at the same time; each success lowers the count by one. */
bool trace_count_take(unsigned long *count)
{
	unsigned long old = READ_ONCE(*count);

	while (old && old != TRIGGER_UNLIMITED)
		if (__atomic_compare_exchange_n(count, &old, old - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return old;
}

/*
 * Is the count used up? *old is its value, to be passed to count_used(). The count is read before the switch is looked
 * at: a CPU that still sees the old count may then see the switch either way, but one that sees the lower count sees
 * the switch done.
 */
static bool count_is_up(const unsigned long *count, unsigned long *old)
{
	*old = count ? READ_ONCE(*count) : TRIGGER_UNLIMITED;
	smp_rmb(); /* the count as it was before a switch: then the switch is seen as it was before, or done */
	return !*old;
}

/*
 * The switch is done, and the count is lowered from the value that was read before. When another CPU has done the same
 * switch meanwhile, its exchange has succeeded and ours fails: two CPUs together use one of the count.
 */
static void count_used(unsigned long *count, unsigned long old)
{
	if (old == TRIGGER_UNLIMITED)
		return;
	smp_wmb(); /* a CPU that finds the count less finds the switch done */
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

/* Allocated when the trigger was written (prepare): here the buffers are only exchanged. */
static void fire_snapshot(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	if (trace_count_take(&trigger->count))
		tracing_snapshot_instance(trigger->file->tr);
}

/* The stack begins where the tracepoint stands. */
static void fire_stacktrace(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	if (trace_count_take(&trigger->count))
		trace_stack_from(trigger->file->tr, hit->pc, hit->flags, 1, hit->fp);
}

static const struct trigger_command commands[] = {
	{.name = "traceon", .type = TRIGGER_ONOFF, .on = true, .fire = fire_onoff},
	{.name = "traceoff", .type = TRIGGER_ONOFF, .on = false, .fire = fire_onoff},
	{.name = "snapshot",
	 .type = TRIGGER_SNAPSHOT,
	 .not_within = true,
	 .prepare = tracing_arm_snapshot,
	 .unprepare = tracing_disarm_snapshot,
	 .fire = fire_snapshot},
	{.name = "stacktrace", .type = TRIGGER_STACKTRACE, .behind = true, .fire = fire_stacktrace},
	{.name = "enable_event", .type = TRIGGER_EVENT, .on = true, .fire = fire_event},
	{.name = "disable_event", .type = TRIGGER_EVENT, .on = false, .fire = fire_event},
};

const struct trigger_command *trigger_command_nr(unsigned n)
{
	const struct trigger_commands *room;

	if (n < ARRAY_SIZE(commands))
		return &commands[n];
	n -= ARRAY_SIZE(commands);
	for_each_in_table(trigger_commands, room) {
		if (n < room->nr)
			return &room->commands[n];
		n -= room->nr;
	}
	return NULL;
}

#define for_each_trigger(t, file) \
	for ((t) = smp_load_acquire(&(file)->triggers); (t); (t) = smp_load_acquire(&(t)->next))

/*
 * Fires the triggers that want this record, while it lies in the ring. A trigger that cannot act within a record, or
 * acts behind it, is left for later: a bit for each type is returned.
 */
static __always_inline unsigned fire_within(struct trace_event_file *file, const struct trigger_hit *hit)
{
	struct event_trigger *t;
	unsigned left = 0;

	for_each_trigger(t, file) {
		bool later = t->command->behind || t->command->not_within;

		if (t->filter && !filter_match(t->filter, hit->record))
			continue;
		if (later || t->again)
			left |= 1u << t->command->type;
		if (!later)
			t->command->fire(t, hit);
	}
	return left;
}

unsigned trace_event_fire_within(struct trace_event_file *file, const struct trigger_hit *hit)
{
	return fire_within(file, hit);
}

/*
 * The second half of trace_event_fire_within(), when the record is committed or discarded. The filters are not asked
 * again, as the record is gone.
 */
void trace_event_fire_left(struct trace_event_file *file, unsigned left, const struct trigger_hit *within)
{
	const struct trigger_hit hit = {within->pc, within->flags, within->fp, NULL, false};
	struct event_trigger *t;

	for_each_trigger(t, file)
		if (left & (1u << t->command->type))
			t->command->fire(t, &hit);
}

/*
 * `record` lies aside and none is open in the ring, so every trigger can act at once. The event had no condition when
 * its flags were read, but a trigger that has come since may have one.
 */
static void fire_all(struct trace_event_file *file, const struct trigger_hit *hit)
{
	struct event_trigger *t;

	for_each_trigger(t, file)
		if (!t->filter || filter_match(t->filter, hit->record))
			t->command->fire(t, hit);
}

/* ---- The end of a record */

/* The record stays where it is, in the ring or aside, until the triggers have looked at it. */
static void end_with_conditions(struct trace_event_buffer *buffer, const struct trigger_hit *hit)
{
	struct trace_event_file *file = buffer->file;
	unsigned left = fire_within(file, hit);
	u32 flags = READ_ONCE(file->flags); /* as triggers have left them */

	if (!buffer->event)
		trace_event_leave_aside(buffer);
	else if (unlikely(flags & EVENT_FILE_MAY_REFUSE) && trace_event_refused(buffer, flags))
		trace_event_discard(buffer);
	else
		trace_event_keep(buffer, hit->fp);
	if (left)
		trace_event_fire_left(file, left, hit);
}

/*
 * The end of a record of an event with triggers. Without room to put the record aside it is treated as if there were
 * conditions: the triggers then act around it, and nothing is lost.
 */
void trace_event_end_triggers(struct trace_event_buffer *buffer, unsigned long fp, u32 flags)
{
	struct trigger_hit hit = {buffer->pc, buffer->flags, fp, buffer->entry, buffer->event};
	struct trace_event_file *file = buffer->file;

	if ((flags & EVENT_FILE_CONDITIONS) || !trace_event_put_aside(buffer)) {
		end_with_conditions(buffer, &hit);
		return;
	}
	hit.record = buffer->entry;
	hit.open = false;
	fire_all(file, &hit);
	if (!trace_event_refused(buffer, READ_ONCE(file->flags)))
		trace_event_record_aside(buffer, fp);
	trace_event_leave_aside(buffer);
}
