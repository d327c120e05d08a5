/*
 * The set of an array: its state of every event there is, and the systems that these belong to. It is made with the
 * array. Late events come and go in it (trace/late).
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/record.h"
#include "event_file.h"

const char *(*trace_syscall_name)(u64 nr);
void (*trace_event_printk)(const struct trace_event_buffer *buffer);
u32 trace_event_printk_flag;
const struct trace_event_call *trace_late_calls[ROOM_FOR_LATE_EVENTS];
DECLARE_TABLE(late_events, const struct late_events);

/*
 * The offset of a second task's pid in the records of these events, so that set_event_pid follows a task that is
 * switched to or woken. 0: the event is about one task.
 */
static u16 find_other_pid(const struct trace_event_call *call)
{
	static const char *const events[][2] = {{"sched_switch", "next_pid"},
						{"sched_waking", "pid"},
						{"sched_wakeup", "pid"},
						{"sched_wakeup_new", "pid"}};

	for (unsigned i = 0; i < ARRAY_SIZE(events); i++) {
		if (strcmp(events[i][0], call->name))
			continue;
		for (const struct trace_event_field *f = trace_event_fields(call); f->name; f++)
			if (!strcmp(events[i][1], f->name))
				return f->offset;
	}
	return 0;
}

void trace_event_file_init(struct trace_event_set *set, unsigned nr, const struct trace_event_call *call)
{
	struct trace_event_file *file = &set->files[nr];

	file->tr = set->tr;
	file->flags = trace_event_printk_flag;
	file->buffers = ring_buffer_cpus(set->tr->buffer);
	file->type = TRACE_EVENT_FIRST + nr;
	file->other_pid = find_other_pid(call);
	file->was_enabled = false;
	file->call = call;
}

/*
 * The array's state of every event there is, all off. The files' numbers are the places in the linker's table, so
 * that a probe's event is found by subtraction.
 */
static struct trace_event_set *alloc_set(struct trace_array *tr)
{
	unsigned nr = trace_nr_events() + ROOM_FOR_LATE_EVENTS;
	struct trace_event_set *set = kvzalloc(sizeof(*set) + nr * sizeof(set->files[0]), GFP_KERNEL);

	if (!set)
		return NULL;
	set->tr = tr;
	set->nr_files = nr;
	INIT_LIST_HEAD(&set->list);
	trace_print_event_init(set);
	for (unsigned i = 0; i < trace_nr_events(); i++)
		trace_event_file_init(set, i, __start_ptrs_ftrace_events[i]);
	return set;
}

/* Searched from the last system on, because the events of a system follow one another in the linker's table. */
struct trace_event_system *trace_event_find_system(const struct trace_event_set *set, const char *name)
{
	for (unsigned i = set->nr_systems; i-- > 0;)
		if (set->systems[i].name == name || !strcmp(set->systems[i].name, name))
			return &set->systems[i];
	return NULL;
}

/* The system of an event, or NULL. `last` is that of the event before it, or NULL: most often it is the same. */
static struct trace_event_system *system_of(const struct trace_event_set *set, const struct trace_event_file *file,
					    struct trace_event_system *last)
{
	const char *name = file->call->class->system;

	return last && last->name == name ? last : trace_event_find_system(set, name);
}

/* Collects the names of the systems, and counts the events of each. */
static void count_systems(struct trace_event_set *set)
{
	struct trace_event_system *system = NULL;
	struct trace_event_file *file;

	for_each_event(set, file) {
		system = system_of(set, file, system);
		if (!system) {
			system = &set->systems[set->nr_systems++];
			*system = (struct trace_event_system){.name = file->call->class->system, .set = set};
		}
		system->nr_files++;
	}
}

/*
 * Two passes over the events: the first counts them, the second puts the events of each system side by side into
 * set->by_system. There cannot be more systems than events, so the arrays have that size. 0 or -ENOMEM;
 * trace_events_free() frees what there is.
 */
static int alloc_systems(struct trace_event_set *set)
{
	struct trace_event_system *system = NULL;
	struct trace_event_file *file, **next;

	set->systems = kvzalloc((set->nr_files + 1) * sizeof(*set->systems), GFP_KERNEL);
	set->by_system = kvzalloc(set->nr_files * sizeof(set->by_system[0]), GFP_KERNEL);
	if (!set->systems || !set->by_system)
		return -ENOMEM;
	count_systems(set);
	next = set->by_system;
	for (unsigned i = 0; i < set->nr_systems; i++) {
		set->systems[i].files = next;
		next += set->systems[i].nr_files;
		set->systems[i].nr_files = 0;
	}
	for_each_event(set, file) {
		system = system_of(set, file, system);
		system->files[system->nr_files++] = file;
	}
	return 0;
}

/* The state of all events for a new array. On an error trace_events_free() takes back what was made. */
static int trace_events_init(struct trace_array *tr)
{
	const struct late_events *late;
	int ret;

	tr->events = alloc_set(tr);
	if (!tr->events)
		return -ENOMEM;
	ret = alloc_systems(tr->events);
	if (!ret)
		for_each_in_table(late_events, late)
			late->join(tr->events);
	return ret;
}

/* The array is removed. All events are off, and no probe holds a filter any more. */
static void trace_events_free(struct trace_array *tr)
{
	/* Also called for an array whose trace_events_init() has failed halfway. */
	struct trace_event_set *set = tr->events;
	const struct late_events *late;
	struct trace_event_file *file;

	if (!set)
		return;
	for_each_in_table(late_events, late)
		late->leave(set);
	for_each_event(set, file) {
		if (!file->filter_text)
			continue; /* and no filter: most of them */
		filter_free(file->filter);
		kfree(file->filter_text);
	}
	for (unsigned i = 0; i < set->nr_systems; i++)
		kfree(set->systems[i].filter_text);
	kvfree(set->systems);
	kvfree(set->by_system);
	kvfree(set);
}

/* Pids, the clock or options have changed: set the bits that tell probes of that in the words of all events. */
static void trace_events_changed(struct trace_array *tr, enum trace_change what)
{
	if (what == TRACE_CHANGED_PIDS)
		trace_events_update_pids(tr);
	else
		trace_events_update_options(tr);
}

/* Nobody holds an event's probe any more, so each event that is on, for a user or by a command, goes off here. */
static void trace_events_stop(struct trace_array *tr)
{
	trace_events_enable(tr->events, &(struct trace_event_match){}, false);
}

static const char *trace_events_left(const struct trace_array *tr)
{
	const struct trace_event_set *set = tr->events;
	const struct trace_event_file *file;

	for_each_event(set, file)
		if (file->soft_users || file->triggers || (file->flags & EVENT_FILE_ENABLED))
			return file->call->name;
	return tracepoint_with_data(set, sizeof(*set) + set->nr_files * sizeof(set->files[0]));
}

static const struct trace_part events_part = {
	.init = trace_events_init,
	.changed = trace_events_changed,
	.stop = trace_events_stop,
	.left = trace_events_left,
	.free = trace_events_free,
};
REGISTER_TRACE_PART(events_part);
