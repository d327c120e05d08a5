/*
 * Late events: those that come at run time, with a module (trace/modules) or because a user has defined them
 * (trace/dynevents). They join the sets of all arrays, and leave them again.
 *
 * Each array's set has places for them behind the kernel's events. A place is an event's number in all arrays, and so
 * the type of its records. The places are given out in turn, so that a number means something else as late as possible.
 * Buffers with records of an event that goes are emptied, as on Linux, because such records cannot be printed any more.
 * Where an event goes by itself, with its last user, that would take the trace from its reader: such records stay, and
 * the buffers are emptied when the place is needed again (trace_late_events_retire).
 *
 * A task that walks the directory events/, or prints a record, takes no lock. The names of events and systems are
 * copies whose memory is never given back, so such a task may read any of them; at worst it reads the name of an event
 * that has come meanwhile, and finds that its directory is not there. The struct trace_event_call is the module's or
 * the user's. Code without event_mutex looks at it with preemption off: it is freed a grace period after the event has
 * left trace_late_calls. An event that other events or functions switch is pinned (trace_event_pin), so no trigger and
 * no command of a function is left with an event that has gone.
 *
 * event_mutex guards all of this.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/aside.h"
#include "events/trigger.h"

static unsigned next_place;			      /* [e] where the search for a free one begins */
static u64 retired_places[ROOM_FOR_LATE_EVENTS / 64]; /* [e] free ones, of which buffers may have records */

static LIST_HEAD(event_sets); /* [e] of all arrays */

/* ---- Names */

/* Names of dynamic events are shorter than this, so any of their copies can take any other one. */
#define KEPT_NAME_MIN 64u

/* [e] */
struct kept_name {
	struct kept_name *next;
	unsigned users; /* 0: the memory may take another name */
	size_t size;
	char text[];
};
static struct kept_name *kept_names;

/* The names of the events in trace_late_calls, by place. [e] */
static struct {
	struct kept_name *system, *name;
} place_names[ROOM_FOR_LATE_EVENTS];

/*
 * The copy of a name, which each user gives back by `users--`. A reader without a lock may see it change: its last byte
 * is always zero, so such a reader finds an end.
 */
static struct kept_name *keep_name(const char *name)
{
	size_t size = max_t(size_t, strlen(name) + 1, KEPT_NAME_MIN);
	struct kept_name *kept, *free = NULL;

	for (kept = kept_names; kept; kept = kept->next) {
		if (!strcmp(kept->text, name))
			break;
		if (!kept->users && kept->size >= size)
			free = kept;
	}
	if (!kept && free) {
		kept = free;
		strscpy(kept->text, name, kept->size);
	}
	if (!kept) {
		kept = kzalloc(sizeof(*kept) + size, GFP_KERNEL);
		if (!kept)
			return NULL;
		kept->size = size;
		strscpy(kept->text, name, size);
		kept->next = kept_names;
		kept_names = kept;
	}
	kept->users++;
	return kept;
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
		if (!system->nr_files && !system->nr_late_events)
			break;
	system->set = set;
	WRITE_ONCE(system->name, name);
	if (system == set->systems + set->nr_systems)
		smp_store_release(&set->nr_systems, set->nr_systems + 1);
	return system;
}

/*
 * The directory of a late event can be found from the release on. A function of its own, so that a probe of it sees the
 * name of each event that comes, as on Linux.
 */
void tracefs_create_dir(const char *name, struct trace_late_place *place, struct trace_event_system *system);
noinline void tracefs_create_dir(const char *name, struct trace_late_place *place, struct trace_event_system *system)
{
	place->name = name;
	smp_store_release(&place->system, system);
	WRITE_ONCE(system->nr_late_events, system->nr_late_events + 1);
}

/* The event of this place joins the set. */
static void add_event(struct trace_event_set *set, unsigned place)
{
	struct trace_event_system *system = get_system(set, place_names[place].system->text);

	trace_event_file_init(set, trace_nr_events() + place, trace_late_calls[place]);
	tracefs_create_dir(place_names[place].name->text, &set->late_places[place], system);
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
	const struct event_triggers *triggers = event_triggers();

	if (triggers)
		triggers->clear(file);
	trace_event_set_filter(file, "0");
	trace_event_enable_later(file, false);
}

static void remove_event(struct trace_event_set *set, unsigned place)
{
	struct trace_event_system *system = set->late_places[place].system;

	WRITE_ONCE(set->late_places[place].system, NULL);
	WRITE_ONCE(system->nr_late_events, system->nr_late_events - 1);
	set->files[trace_nr_events() + place].call = NULL;
	if (system->nr_files || system->nr_late_events)
		return;
	WRITE_ONCE(system->name, ""); /* the memory of its name may take another one */
	kfree(system->filter_text);
	system->filter_text = NULL;
}

static void join_set(struct trace_event_set *set)
{
	mutex_lock(&event_mutex);
	for (unsigned place = 0; place < ROOM_FOR_LATE_EVENTS; place++)
		if (trace_late_calls[place])
			add_event(set, place);
	list_add(&set->list, &event_sets);
	mutex_unlock(&event_mutex);
}

static void leave_set(struct trace_event_set *set)
{
	mutex_lock(&event_mutex);
	list_del_init(&set->list);
	mutex_unlock(&event_mutex);
}

static const struct late_events late_events = {.join = join_set, .leave = leave_set};
REGISTER_LATE_EVENTS(late_events);

/* ---- What others ask. event_mutex held */

static bool is_known(const struct trace_event_call *call)
{
	struct trace_event_set *set = list_first_entry(&event_sets, struct trace_event_set, list);

	return trace_event_find(set, call->class->system, call->name);
}

static bool has_place(const u64 *places, unsigned place)
{
	return places[place / 64] >> place % 64 & 1;
}

/* The number of a free place, if possible of one that is not retired; or ROOM_FOR_LATE_EVENTS. */
static unsigned find_place(void)
{
	unsigned found = ROOM_FOR_LATE_EVENTS;

	for (unsigned n = 0; n < ROOM_FOR_LATE_EVENTS; n++) {
		unsigned place = (next_place + n) % ROOM_FOR_LATE_EVENTS;

		if (trace_late_calls[place])
			continue;
		if (!has_place(retired_places, place))
			return place;
		if (found == ROOM_FOR_LATE_EVENTS)
			found = place;
	}
	return found;
}

/* Empty the buffers of arrays that may have records of an event in one of these places. */
static void reset_used(const u64 *places)
{
	struct trace_array *tr;

	mutex_lock(&trace_types_lock);
	for_each_trace_array(tr) {
		bool used = false;

		for (unsigned place = 0; place < ROOM_FOR_LATE_EVENTS; place++)
			if (has_place(places, place))
				used |= tr->events->files[trace_nr_events() + place].was_enabled;
		if (!used)
			continue;
		trace_max_reset_live(tr);
		trace_max_clear(tr, RING_BUFFER_ALL_CPUS_FILE);
	}
	mutex_unlock(&trace_types_lock);
}

/* Its old records must not be taken for those of the event that comes. */
static void reuse_retired(unsigned place)
{
	u64 places[ROOM_FOR_LATE_EVENTS / 64] = {};

	if (!has_place(retired_places, place))
		return;
	places[place / 64] = 1ULL << place % 64;
	reset_used(places);
	retired_places[place / 64] &= ~places[place / 64];
}

/* The names are kept before the call can be found, and all sets have it when this returns. */
int trace_late_event_add(const struct trace_event_call *call)
{
	struct kept_name *system, *name;
	struct trace_event_set *set;
	unsigned place = find_place();

	if (is_known(call))
		return -EEXIST;
	if (place == ROOM_FOR_LATE_EVENTS)
		return -ENOSPC;
	system = keep_name(call->class->system);
	if (!system)
		return -ENOMEM;
	name = keep_name(call->name);
	if (!name) {
		system->users--;
		return -ENOMEM;
	}
	next_place = (place + 1) % ROOM_FOR_LATE_EVENTS;
	reuse_retired(place);
	place_names[place].system = system;
	place_names[place].name = name;
	WRITE_ONCE(trace_late_calls[place], call);
	list_for_each_entry(set, &event_sets, list)
		add_event(set, place);
	return 0;
}

void trace_late_events_ready(void)
{
	struct trace_event_set *set;

	list_for_each_entry(set, &event_sets, list)
		update_flags(set);
}

static void free_place(unsigned place)
{
	struct trace_event_set *set;

	list_for_each_entry(set, &event_sets, list)
		remove_event(set, place);
	WRITE_ONCE(trace_late_calls[place], NULL);
	place_names[place].system->users--;
	place_names[place].name->users--;
}

/*
 * Each array's recording, filters and triggers of the events end, then the places are free. By then no probe runs:
 * stop_event() has removed them, and trace_events_complete() has waited.
 */
static void remove_events(bool (*goes)(const struct trace_event_call *call, const void *data), const void *data,
			  bool retire)
{
	u64 places[ROOM_FOR_LATE_EVENTS / 64] = {};
	struct trace_event_set *set;
	bool any = false;

	for (unsigned place = 0; place < ROOM_FOR_LATE_EVENTS; place++)
		if (trace_late_calls[place] && goes(trace_late_calls[place], data)) {
			places[place / 64] |= 1ULL << place % 64;
			any = true;
		}
	if (!any)
		return;
	list_for_each_entry(set, &event_sets, list) {
		for (unsigned place = 0; place < ROOM_FOR_LATE_EVENTS; place++)
			if (has_place(places, place))
				stop_event(set, place);
		trace_events_complete(set);
	}
	if (!retire)
		reset_used(places);
	for (unsigned place = 0; place < ROOM_FOR_LATE_EVENTS; place++)
		if (has_place(places, place))
			free_place(place);
	for (unsigned i = 0; retire && i < ARRAY_SIZE(places); i++)
		retired_places[i] |= places[i];
}

void trace_late_events_remove(bool (*goes)(const struct trace_event_call *call, const void *data), const void *data)
{
	remove_events(goes, data, false);
}

void trace_late_events_retire(bool (*goes)(const struct trace_event_call *call, const void *data), const void *data)
{
	remove_events(goes, data, true);
}

/*
 * The event in the first array where it is on or has users; NULL: in none. An event has the same place in all sets, so
 * its number is looked for once.
 */
static const struct trace_event_file *late_event_in_use(const struct trace_event_call *call)
{
	struct trace_event_set *set;
	unsigned place = 0;

	while (place < ROOM_FOR_LATE_EVENTS && trace_late_calls[place] != call)
		place++;
	if (place == ROOM_FOR_LATE_EVENTS)
		return NULL;
	list_for_each_entry(set, &event_sets, list) {
		const struct trace_event_file *file = &set->files[trace_nr_events() + place];

		if (file->soft_users || (file->flags & EVENT_FILE_ENABLED))
			return file;
	}
	return NULL;
}

bool trace_late_event_is_busy(const struct trace_event_call *call)
{
	return (call->pins && __atomic_load_n(call->pins, __ATOMIC_RELAXED)) || late_event_in_use(call);
}

/*
 * The reasons in the order in which a user removes them: an event that is on in some array, then its own trigger, then
 * what only pins it or holds its probe, of which the event itself does not know the name.
 */
void trace_late_event_why_busy(const struct trace_event_call *call, char *why, size_t size)
{
	const struct trace_event_file *file = late_event_in_use(call);
	const char *array = file ? file->tr->name : NULL;
	int len = scnprintf(why, size, "%s/%s ", call->class->system, call->name);
	char at[256];

	scnprintf(at, sizeof(at), "%s%s%sevents/%s/%s", array ? "instances/" : "", array ?: "", array ? "/" : "",
		  call->class->system, call->name);
	if (file && trace_event_is_on(file))
		scnprintf(why + len, size - len, "is on: echo 0 > %s/enable first", at);
	else if (file && file->triggers)
		scnprintf(why + len, size - len, "has a trigger: %s/trigger shows what to take away first", at);
	else
		scnprintf(why + len, size - len,
			  "is in use by a trigger or probe of another event or by a function's command");
}
