/*
 * Events of modules (TRACE_EVENT in a module's own header): they join the sets of all arrays before the module's init
 * runs, and leave them when it goes.
 *
 * Each array's set has places for them behind the kernel's events. A place is an event's number in all arrays, and so
 * the type of its records. The places are given out in turn, so that a number means something else as late as possible.
 * Buffers with records of an event that goes are emptied, as on Linux, because such records cannot be printed any more.
 *
 * A task that walks the directory events/, or prints a record, takes no lock. The names of events and systems are
 * copies that stay for ever; each name is kept once. The struct trace_event_call is in the module's memory. Code
 * without event_mutex looks at it with preemption off: the module is freed a grace period after the event has left
 * trace_module_calls. An event that other events or functions switch holds its module (trace_event_pin), so no trigger
 * and no command of a function is left with an event that has gone.
 *
 * event_mutex guards all of this.
 */
#include <kernel/module.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/aside.h"
#include "trigger.h"

const struct trace_event_call *trace_module_calls[ROOM_FOR_MODULE_EVENTS];

/* The names of the events in trace_module_calls, by place. [e] */
static struct {
	const char *system, *name;
} place_names[ROOM_FOR_MODULE_EVENTS];
static unsigned next_place; /* [e] where the search for a free one begins */

static LIST_HEAD(event_sets); /* [e] of all arrays */

/* ---- Names */

struct kept_name {
	struct kept_name *next;
	char text[];
};
static struct kept_name *kept_names; /* [e] */

/* The copy of a name. It is never freed, so a reader needs no lock; a module that comes again has it already. */
static const char *keep_name(const char *name)
{
	struct kept_name *kept;

	for (kept = kept_names; kept; kept = kept->next)
		if (!strcmp(kept->text, name))
			return kept->text;
	kept = kmalloc(sizeof(*kept) + strlen(name) + 1, GFP_KERNEL);
	if (!kept)
		return NULL;
	strscpy(kept->text, name, strlen(name) + 1);
	kept->next = kept_names;
	kept_names = kept;
	return kept->text;
}

/* ---- A set: event_mutex held */

/*
 * The system of this name, found or made. There always is room for a new one, because a set has room for as many
 * systems as events. A system whose last event has gone gives its place to the next one.
 */
static struct trace_event_system *get_system(struct trace_event_set *set, const char *name)
{
	struct trace_event_system *system = trace_event_find_system(set, name);

	if (system)
		return system;
	for (system = set->systems; system < set->systems + set->nr_systems; system++)
		if (!system->nr_files && !system->nr_module_events)
			break;
	system->set = set;
	WRITE_ONCE(system->name, name);
	if (system == set->systems + set->nr_systems)
		smp_store_release(&set->nr_systems, set->nr_systems + 1);
	return system;
}

/* The event of this place joins the set. Its directory can be found from the release on, when all of it is there. */
static void add_event(struct trace_event_set *set, unsigned place)
{
	struct trace_event_system *system = get_system(set, place_names[place].system);

	trace_event_file_init(set, trace_nr_events() + place, trace_module_calls[place]);
	set->module_places[place].name = place_names[place].name;
	smp_store_release(&set->module_places[place].system, system);
	WRITE_ONCE(system->nr_module_events, system->nr_module_events + 1);
}

/* Set the bits that are the same for all events of an array in those that are new. */
static void update_flags(struct trace_event_set *set)
{
	mutex_lock(&trace_types_lock);
	trace_events_update_options(set->tr);
	mutex_unlock(&trace_types_lock);
	trace_events_update_pids(set->tr);
}

/* Triggers, filter and recording of the event end; its probe is gone when trace_events_complete() has been called. */
static void stop_event(struct trace_event_set *set, unsigned place)
{
	struct trace_event_file *file = &set->files[trace_nr_events() + place];

	trace_event_clear_triggers_of(file);
	trace_event_set_filter(file, "0");
	trace_event_enable_later(file, false);
}

static void remove_event(struct trace_event_set *set, unsigned place)
{
	struct trace_event_system *system = set->module_places[place].system;

	WRITE_ONCE(set->module_places[place].system, NULL);
	WRITE_ONCE(system->nr_module_events, system->nr_module_events - 1);
	set->files[trace_nr_events() + place].call = NULL;
	if (system->nr_files || system->nr_module_events)
		return;
	kfree(system->filter_text);
	system->filter_text = NULL;
}

void trace_module_events_join(struct trace_event_set *set)
{
	mutex_lock(&event_mutex);
	for (unsigned place = 0; place < ROOM_FOR_MODULE_EVENTS; place++)
		if (trace_module_calls[place])
			add_event(set, place);
	list_add(&set->list, &event_sets);
	mutex_unlock(&event_mutex);
}

void trace_module_events_leave(struct trace_event_set *set)
{
	mutex_lock(&event_mutex);
	list_del_init(&set->list);
	mutex_unlock(&event_mutex);
}

/* ---- A module */

static bool is_known(const struct trace_event_call *call)
{
	struct trace_event_set *set = list_first_entry(&event_sets, struct trace_event_set, list);

	return trace_event_find(set, call->class->system, call->name);
}

/*
 * Give the event a place, and put it into the sets of all arrays. 0; -EEXIST: there is such an event; -ENOSPC: no place
 * is free; both with a line in the log; -ENOMEM.
 */
static int add_call(const struct trace_event_call *call)
{
	const char *system = keep_name(call->class->system), *name = keep_name(call->name);
	struct trace_event_set *set;
	unsigned place = next_place;

	if (!system || !name)
		return -ENOMEM;
	if (is_known(call)) {
		pr_err("%s: there is an event %s:%s already\n", call->module->name, system, name);
		return -EEXIST;
	}
	for (unsigned n = 0; trace_module_calls[place]; n++) {
		if (n == ROOM_FOR_MODULE_EVENTS) {
			pr_err("%s: no room for event %s:%s; unload a module that has events\n", call->module->name,
			       system, name);
			return -ENOSPC;
		}
		place = (place + 1) % ROOM_FOR_MODULE_EVENTS;
	}
	next_place = (place + 1) % ROOM_FOR_MODULE_EVENTS;
	place_names[place].system = system;
	place_names[place].name = name;
	WRITE_ONCE(trace_module_calls[place], call);
	list_for_each_entry(set, &event_sets, list)
		add_event(set, place);
	return 0;
}

/* Empty the buffers of arrays that may have records of the module's events. [event_mutex] */
static void reset_used(const struct module *mod)
{
	struct trace_array *tr;

	mutex_lock(&trace_types_lock);
	for_each_trace_array(tr) {
		bool used = false;

		for (unsigned place = 0; place < ROOM_FOR_MODULE_EVENTS; place++)
			if (trace_module_calls[place] && trace_module_calls[place]->module == mod)
				used |= tr->events->files[trace_nr_events() + place].was_enabled;
		if (!used)
			continue;
		tracing_reset(tr, RING_BUFFER_ALL_CPUS);
		if (tr->max)
			trace_max_clear(tr, RING_BUFFER_ALL_CPUS_FILE);
	}
	mutex_unlock(&trace_types_lock);
}

/*
 * A module goes, or could not come: each array's files and triggers of its events end, then the places are free. By
 * then no probe runs: stop_event() has removed them, and trace_events_complete() has waited.
 */
static void events_going(struct module *mod)
{
	struct trace_event_set *set;
	bool any = false;

	mutex_lock(&event_mutex);
	list_for_each_entry(set, &event_sets, list) {
		for (unsigned place = 0; place < ROOM_FOR_MODULE_EVENTS; place++)
			if (trace_module_calls[place] && trace_module_calls[place]->module == mod) {
				stop_event(set, place);
				any = true;
			}
		if (any)
			trace_events_complete(set);
	}
	reset_used(mod);
	for (unsigned place = 0; place < ROOM_FOR_MODULE_EVENTS; place++) {
		if (!trace_module_calls[place] || trace_module_calls[place]->module != mod)
			continue;
		list_for_each_entry(set, &event_sets, list)
			remove_event(set, place);
		WRITE_ONCE(trace_module_calls[place], NULL);
	}
	mutex_unlock(&event_mutex);
}

/*
 * A module is loaded: its events get places in every array. All of them or none: what was added goes again at an error,
 * which refuses the module. Thread context.
 */
static int events_coming(struct module *mod)
{
	unsigned n;
	const struct trace_event_call *const *calls = module_section(mod, "ptrs_ftrace_events", sizeof(*calls), &n);
	struct trace_event_set *set;
	int err = 0;

	mutex_lock(&event_mutex);
	for (unsigned i = 0; i < n && !err; i++)
		err = add_call(calls[i]);
	if (n)
		list_for_each_entry(set, &event_sets, list)
			update_flags(set);
	mutex_unlock(&event_mutex);
	if (err)
		events_going(mod);
	return err;
}

static const struct module_notifier events_notifier = {.coming = events_coming, .going = events_going};
REGISTER_MODULE_NOTIFIER(events_notifier);

int trace_event_pin(struct trace_event_file *file)
{
	struct module *mod = file->call->module;

	if (mod && READ_ONCE(mod->state) != MODULE_STATE_LIVE)
		return -EBUSY;
	return try_module_get(mod) ? 0 : -EBUSY;
}

void trace_event_unpin(struct trace_event_file *file)
{
	module_put(file->call->module);
}
