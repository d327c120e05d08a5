/*
 * Events on and off, and what their probes do. A probe runs with preemption off and knows its trace_event_file; what
 * that points to is changed under event_mutex and lives a grace period longer than probes can see it.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/record.h"
#include "trigger.h"

/*
 * ---- On and off: event_mutex held
 *
 * What is switched is complete only after trace_events_complete(): all sites that a request switches change in one stop
 * of the machine, and one grace period serves all probes that went. Until then a probe that went may still run, so an
 * event that was soft-disabled keeps that flag, without ENABLED: what its probe sees is still refused.
 */

/*
 * Records carry only pids, so names of tasks are noted while an event is on. Also the array's buffer gets its full
 * size, which it does not have before it is first used. event_mutex held; takes trace_types_lock inside it.
 */
static int start_cmdlines(struct trace_event_file *file)
{
	int ret;

	mutex_lock(&trace_types_lock);
	ret = tracing_expand(file->tr);
	if (!ret)
		ret = tracing_start_cmdline_record_later();
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* The other half of start_cmdlines(). The buffer stays as large as it has become. */
static void stop_cmdlines(void)
{
	mutex_lock(&trace_types_lock);
	tracing_stop_cmdline_record_later();
	mutex_unlock(&trace_types_lock);
}

/*
 * Registers or unregisters the event's probe. Most events are a probe on a tracepoint of their own. System calls share
 * two tracepoints, so their class does it in its own way (events/syscalls.c). 0 or -errno.
 */
static int reg_probe(struct trace_event_file *file, bool on)
{
	const struct trace_event_class *class = file->call->class;

	if (class->reg)
		return class->reg(file, on);
	return on ? tracepoint_probe_register_later(file->call->tp, class->probe, file)
		  : tracepoint_probe_unregister_later(file->call->tp, class->probe, file);
}

/*
 * Registers the probe. The flag is set before the probe can run, so that its first record is not refused. 0 or -errno,
 * and then everything is as before.
 */
static int enable(struct trace_event_file *file)
{
	int ret = start_cmdlines(file);

	if (ret)
		return ret;
	trace_event_set_flag(file, EVENT_FILE_ENABLED, true);
	ret = reg_probe(file, true);
	if (!ret)
		return 0;
	trace_event_set_flag(file, EVENT_FILE_ENABLED, false);
	stop_cmdlines();
	return ret;
}

/*
 * The flag is cleared last. A probe that still runs finds the event on, and its record is good: the array outlives it.
 */
static void disable(struct trace_event_file *file)
{
	reg_probe(file, false);
	trace_event_set_flag(file, EVENT_FILE_ENABLED, false);
	stop_cmdlines();
}

/*
 * The probes look at the lists of pids only for events with this flag: without a list an event pays nothing for them.
 */
static void update_event_pids(struct trace_array *tr)
{
	bool on = trace_pids_any(&tr->event_pids);
	struct trace_event_file *file;

	for_each_event(tr->events, file)
		trace_event_set_flag(file, EVENT_FILE_PIDS, on);
}

/*
 * [trace_types_lock] Bits in each event's word say that an option of the array concerns its records, so that probes
 * need not look at the array.
 */
void trace_events_update_options(struct trace_array *tr)
{
	bool stacks = tr->trace_flags & TRACE_STACK_OPTIONS;
	struct trace_event_file *file;

	for_each_event(tr->events, file) {
		trace_event_set_flag(file, EVENT_FILE_STACKS, stacks);
		trace_event_set_flag(file, EVENT_FILE_CLOCK, tr->clock);
		trace_event_set_flag(file, EVENT_FILE_PRINTK, trace_event_printk_flag());
	}
}

/* After each request that has called one of the functions above or below that end in _later, whatever came of it. */
void trace_events_complete(struct trace_event_set *set)
{
	struct trace_event_file *file;

	tracepoint_switch();
	for_each_event(set, file)
		if ((file->flags & (EVENT_FILE_ENABLED | EVENT_FILE_SOFT_DISABLED)) == EVENT_FILE_SOFT_DISABLED)
			trace_event_set_flag(file, EVENT_FILE_SOFT_DISABLED, false);
}

/*
 * On or off by a person. An event that a trigger or a command may switch keeps its probe and is only soft-disabled: the
 * probe runs and records nothing, so that switching it from any context is a store. 0, -ENOMEM. event_mutex held.
 */
int trace_event_enable_later(struct trace_event_file *file, bool on)
{
	bool registered = file->flags & EVENT_FILE_ENABLED;

	if (on) {
		trace_event_set_flag(file, EVENT_FILE_SOFT_DISABLED, false);
		return registered ? 0 : enable(file);
	}
	if (file->soft_users)
		trace_event_set_flag(file, EVENT_FILE_SOFT_DISABLED, true);
	else if (registered)
		disable(file);
	return 0;
}

/*
 * [event_mutex] Somebody needs the event's probe, recording or not: a trigger, or enable_event. The first one
 * registers it, with records off. The sites change at the next trace_events_complete(). 0 or -errno.
 */
int trace_event_hold_later(struct trace_event_file *file)
{
	int ret;

	if (file->soft_users++ || (file->flags & EVENT_FILE_ENABLED))
		return 0;
	trace_event_set_flag(file, EVENT_FILE_SOFT_DISABLED, true);
	ret = enable(file);
	if (!ret)
		return 0;
	file->soft_users--;
	return ret;
}

/* The last user goes. An event that is on for itself stays on. */
void trace_event_release_later(struct trace_event_file *file)
{
	if (!--file->soft_users && (file->flags & EVENT_FILE_SOFT_DISABLED))
		disable(file);
}

/* The event of this name, in this system or in the first that has one (system NULL). NULL: there is none. */
struct trace_event_file *trace_event_find(struct trace_event_set *set, const char *system, const char *event)
{
	struct trace_event_file *file;

	for_each_event(set, file)
		if ((!system || !strcmp(file->call->class->system, system)) && !strcmp(file->call->name, event))
			return file;
	return NULL;
}

/*
 * Each part that is not NULL must match; `either` is a word without a colon, which may be the name of a system or of an
 * event.
 */
bool trace_event_matches(const struct trace_event_file *file, const struct trace_event_match *match)
{
	const char *system = file->call->class->system, *event = file->call->name;

	return (!match->system || glob_match(match->system, system)) &&
	       (!match->event || glob_match(match->event, event)) &&
	       (!match->either || glob_match(match->either, system) || glob_match(match->either, event));
}

/* Events before `end` that this request has switched on go off again; events that were on before stay on. */
static void undo(struct trace_event_set *set, const struct trace_event_file *end)
{
	for (struct trace_event_file *file = set->files; file < end; file++)
		if (file->switched_on)
			trace_event_enable_later(file, false);
}

/*
 * All that match, or none: an error undoes what this request has switched on, and leaves on what was on before. -EINVAL
 * when nothing matches.
 */
int trace_events_enable_later(struct trace_event_set *set, const struct trace_event_match *match, bool on)
{
	struct trace_event_file *file;
	int ret = -EINVAL;

	for_each_event(set, file) {
		file->switched_on = false;
		if (!trace_event_matches(file, match))
			continue;
		file->switched_on = on && !trace_event_is_on(file);
		ret = trace_event_enable_later(file, on);
		if (ret) {
			undo(set, file);
			break;
		}
	}
	return ret;
}

/* The same in one go, complete when it returns. */
int trace_events_enable(struct trace_event_set *set, const struct trace_event_match *match, bool on)
{
	int ret = trace_events_enable_later(set, match, on);

	trace_events_complete(set);
	return ret;
}

/* An empty part of "SYSTEM:EVENT" stands for all. */
static const char *part(const char *text)
{
	return text && *text ? text : NULL;
}

/*
 * A word of set_event: "EVENT", "SYSTEM", "SYSTEM:EVENT", "SYSTEM:*", each with "!" in front to switch off. `text` is
 * cut into pieces.
 */
int trace_event_set_by_text_later(struct trace_event_set *set, char *text)
{
	struct trace_event_match match = {};
	bool on = *text != '!';
	char *name = text + !on, *system = strsep(&name, ":");

	if (!name && !*system)
		return -EINVAL; /* a "!" alone */
	if (name) {
		match.system = part(system);
		match.event = part(name);
	} else {
		match.either = part(system);
	}
	return trace_events_enable_later(set, &match, on);
}

/* ---- The set of an array */

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
		for (const struct trace_event_field *f = call->class->fields(); f->name; f++)
			if (!strcmp(events[i][1], f->name))
				return f->offset;
	}
	return 0;
}

/*
 * The array's state of every event there is, all off. The files' numbers are the places in the linker's table, so
 * that a probe's event is found by subtraction.
 */
static struct trace_event_set *alloc_set(struct trace_array *tr)
{
	struct trace_event_set *set = kvzalloc(sizeof(*set) + trace_nr_events() * sizeof(set->files[0]), GFP_KERNEL);

	if (!set)
		return NULL;
	set->tr = tr;
	set->nr_files = trace_nr_events();
	for (unsigned i = 0; i < set->nr_files; i++) {
		set->files[i].call = __start_ptrs_ftrace_events[i];
		set->files[i].tr = tr;
		set->files[i].flags = trace_event_printk_flag();
		set->files[i].buffers = ring_buffer_cpus(tr->buffer);
		set->files[i].type = TRACE_EVENT_FIRST + i;
		set->files[i].other_pid = find_other_pid(set->files[i].call);
	}
	return set;
}

/* Searched from the last system on, because the events of a system follow one another in the linker's table. */
static struct trace_event_system *find_system(const struct trace_event_set *set, const char *name)
{
	for (unsigned i = set->nr_systems; i-- > 0;)
		if (set->systems[i].name == name || !strcmp(set->systems[i].name, name))
			return &set->systems[i];
	return NULL;
}

/* Collects the names of the systems, and counts the events of each. */
static void count_systems(struct trace_event_set *set)
{
	struct trace_event_file *file;

	for_each_event(set, file) {
		const char *name = file->call->class->system;
		struct trace_event_system *system = find_system(set, name);

		if (!system) {
			system = &set->systems[set->nr_systems++];
			*system = (struct trace_event_system){.name = name, .set = set};
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
		struct trace_event_system *system = find_system(set, file->call->class->system);

		system->files[system->nr_files++] = file;
	}
	return 0;
}

/* The state of all events for a new array. On an error trace_events_free() takes back what was made. */
static int trace_events_init(struct trace_array *tr)
{
	tr->events = alloc_set(tr);
	if (!tr->events)
		return -ENOMEM;
	return alloc_systems(tr->events);
}

/* The array is removed. All events are off, and no probe holds a filter any more. */
static void trace_events_free(struct trace_array *tr)
{
	/* Also called for an array whose trace_events_init() has failed halfway. */
	struct trace_event_set *set = tr->events;
	struct trace_event_file *file;

	if (!set)
		return;
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

/* Something that all events of the array depend on has changed: the bits in their words are set again. */
static void trace_events_changed(struct trace_array *tr, enum trace_change what)
{
	if (what == TRACE_CHANGED_PIDS)
		update_event_pids(tr);
	else
		trace_events_update_options(tr);
}

/* The array is about to be removed: triggers first, as they hold probes of other events. */
static void trace_events_stop(struct trace_array *tr)
{
	trace_event_clear_triggers(tr->events);
	trace_events_enable(tr->events, &(struct trace_event_match){}, false);
}

static const struct trace_part events_part = {
	.init = trace_events_init,
	.changed = trace_events_changed,
	.stop = trace_events_stop,
	.free = trace_events_free,
};
REGISTER_TRACE_PART(events_part);
