/*
 * The event ftrace:print: a write to trace_marker, seen as an event. It cannot be switched off, because the record is
 * always made, but it has triggers and histograms, in events/ftrace/print.
 *
 * A marker without triggers goes the short way of trace/records/marker.c. With triggers the record lies in the ring
 * while they look at it, and its text then ends where the program's text ends, so that a filter compares what was
 * written. The newline comes behind. A trigger that cannot act while the record is open acts when it is closed. All
 * this is as on Linux.
 */
#include <irq/irqflags.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/record.h"
#include "trigger.h"

static const struct trace_event_field *print_fields(void)
{
	static const struct trace_event_field fields[] = {
		{"unsigned long", "ip", offsetof(struct print_entry, ip), sizeof(long), false, FILTER_OTHER},
		{"char[]", "buf", offsetof(struct print_entry, buf), 0, is_signed_type(char), FILTER_STATIC_STRING},
		{},
	};

	return fields;
}
static const struct trace_event_class print_class = {.system = "ftrace", .fields = print_fields};
static const struct trace_event_call print_call = {.name = "print", .class = &print_class};

/* It counts as on, so that a trigger finds its probe registered: that probe is trace_event_marker(). */
void trace_print_event_init(struct trace_event_set *set)
{
	set->print = (struct trace_event_file){
		.call = &print_call,
		.tr = set->tr,
		.buffers = ring_buffer_cpus(set->tr->buffer),
		.flags = EVENT_FILE_ENABLED,
		.type = TRACE_PRINT,
	};
}

/* The two bytes behind the text are for newline and zero. */
bool trace_event_marker(struct trace_array *tr, unsigned long ip, const char *text, size_t n)
{
	const struct event_triggers *triggers = event_triggers();
	struct trace_event_file *file = &tr->events->print;
	struct trigger_hit hit = {
		.pc = READ_ONCE(current->preempt_count) - PREEMPT_OFFSET,
		.flags = arch_local_save_flags(),
		.fp = (unsigned long)__builtin_frame_address(0),
		.open = true,
	};
	struct ring_buffer_event *event;
	struct print_entry *entry;
	unsigned left;

	if (!(READ_ONCE(file->flags) & EVENT_FILE_TRIGGERS))
		return false;
	entry = trace_reserve(tr, &event, TRACE_PRINT, sizeof(*entry) + n + 2);
	if (!entry)
		return false;
	entry->ip = ip;
	memcpy(entry->buf, text, n);
	memset(entry->buf + n, 0, 2);
	hit.record = entry;
	left = triggers->fire_within(file, &hit);
	if (!n || text[n - 1] != '\n')
		entry->buf[n] = '\n';
	trace_commit(tr);
	triggers->fire_left(file, left, &hit);
	return true;
}
