/*
 * Events on and off, and what their probes do. A probe runs with preemption off and knows its trace_event_file; what
 * that points to is changed under event_mutex and lives a grace period longer than probes can see it.
 */
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/record.h"
#include "trigger.h"

/*
 * ---- On and off: event_mutex held
 *
 * A change is complete only after trace_events_complete(): all sites that a request switches change in one stop of the
 * machine, and one grace period serves all probes that were removed. Until then such a probe may still run. So an event
 * that was soft-disabled keeps that flag, without ENABLED, and its probe's records are still refused.
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
 * two tracepoints, so their class does it in its own way (trace/syscalls). 0 or -errno.
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
	if (!ret) {
		file->was_enabled = true;
		return 0;
	}
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
void trace_events_update_pids(struct trace_array *tr)
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
		trace_event_set_flag(file, EVENT_FILE_PRINTK, trace_event_printk_flag);
	}
}

/*
 * Ends each request that has called a function that ends in _later, also after an error. When the sites are switched no
 * removed probe runs any more, so the flag that kept its records out can go.
 */
void trace_events_complete(struct trace_event_set *set)
{
	struct trace_event_file *file;

	tracepoint_switch();
	for_each_event(set, file)
		if ((file->flags & (EVENT_FILE_ENABLED | EVENT_FILE_SOFT_DISABLED)) == EVENT_FILE_SOFT_DISABLED)
			trace_event_set_flag(file, EVENT_FILE_SOFT_DISABLED, false);
}

/*
 * Switch the event on or off for a user. An event that a trigger or a command may switch keeps its probe and is only
 * soft-disabled: the probe runs and records nothing, so that switching it from any context is a store. 0, -ENOMEM.
 * event_mutex held.
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

/*
 * The last user goes. An event that is recorded stays on: a user has switched it on, or a command that has gone since.
 * Commands and triggers store to the bit that is read here, from any CPU. Each of them holds the event while it can be
 * called, and calls this only when it cannot be called any more. So after the last user no store can come.
 */
void trace_event_release_later(struct trace_event_file *file)
{
	if (!--file->soft_users && (file->flags & EVENT_FILE_SOFT_DISABLED))
		disable(file);
}

int trace_event_pin(struct trace_event_file *file)
{
	struct module *mod = file->call->module;

	if (file->call->pins) {
		__atomic_fetch_add(file->call->pins, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (mod && READ_ONCE(mod->state) != MODULE_STATE_LIVE)
		return -EBUSY;
	return try_module_get(mod) ? 0 : -EBUSY;
}

void trace_event_unpin(struct trace_event_file *file)
{
	if (file->call->pins)
		__atomic_fetch_sub(file->call->pins, 1, __ATOMIC_RELAXED);
	else
		module_put(file->call->module);
}

int trace_event_hold_other_later(struct trace_event_file *file)
{
	int ret = trace_event_pin(file);

	if (ret)
		return ret;
	ret = trace_event_hold_later(file);
	if (ret)
		trace_event_unpin(file);
	return ret;
}

void trace_event_release_other_later(struct trace_event_file *file)
{
	trace_event_release_later(file);
	trace_event_unpin(file);
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

struct trace_event_file *trace_event_find_any(struct trace_event_set *set, const char *system, const char *event)
{
	const struct trace_event_call *print = set->print.call;

	if (!strcmp(system, print->class->system) && !strcmp(event, print->name))
		return &set->print;
	return trace_event_find(set, system, event);
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
