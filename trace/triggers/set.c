/*
 * The file `trigger` of an event: triggers are read, put in force and taken away. event_mutex is held throughout. What
 * they do in probes is in fire.c.
 *
 * Triggers change an event's flags from its probes.
 *
 * EVENT_FILE_SOFT_DISABLED is set and cleared by probes on any CPU, and the other bits under event_mutex. All of these
 * are atomic operations on the word, so none of them undoes another. A probe reads the word once for each decision.
 *
 * The list of an event's triggers is walked without a lock, with preemption off. A new trigger is complete before it is
 * in the list. One that is taken away is freed a grace period later, and only then are the probes released that it
 * needed: a walk that still sees the trigger finds the probes of its events registered.
 *
 * A count is lowered by one for each change that a trigger makes. Two CPUs may both find tracing on and both switch it
 * off: together they use one of the count. The count is read before the switch is looked at, and lowered from the
 * value that was read after the switch is set; a CPU that reads the lower count finds the switch set.
 *
 * A record aside: when recording is off, or triggers act before the record, the record lies in memory of the CPU, in
 * the place of its level of nesting (trace_nest_enter). From the probe's begin to its end nothing sleeps, and an
 * interrupt on top takes the next place.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "events/text_file.h"
#include "trigger.h"

/* ---- The list */

/* Tell the probes, by bits in the word that they read anyway, whether there are triggers, and any with a condition. */
static void update_flags(struct trace_event_file *file)
{
	bool conditions = false;

	for (const struct event_trigger *t = file->triggers; t; t = t->next)
		conditions |= t->filter || t->command->behind || t->command->reads;
	trace_event_set_flag(file, EVENT_FILE_CONDITIONS, conditions);
	trace_event_set_flag(file, EVENT_FILE_TRIGGERS, file->triggers);
}

/* No probe can reach it: it was never in the list, or a grace period has passed since. */
void trace_event_free_trigger(struct event_trigger *t)
{
	filter_free(t->filter);
	kfree(t->filter_text);
	if (t->prepared)
		t->command->unprepare(t->file->tr);
	if (t->command->free)
		t->command->free(t);
	else
		kfree(t);
}

/*
 * An event has at most one trigger of each type, and of enable_event and disable_event one for each target. So the type
 * and the target identify it: `like` finds what stands in the way of a new one, or what "!" means.
 */
static struct event_trigger *find_trigger(struct trace_event_file *file, const struct event_trigger *like)
{
	struct event_trigger *t;

	for (t = file->triggers; t; t = t->next)
		if (t->command->type == like->command->type && t->target == like->target)
			return t;
	return NULL;
}

/*
 * The probes of both events are kept registered: the one that the trigger stands on, and the one that it switches. The
 * target comes first, so that the first hit finds everything in place. 0 or -errno, and then neither is held.
 */
static int hold_both(const struct event_trigger *t)
{
	int ret = t->target ? trace_event_hold_other_later(t->target) : 0;

	if (ret)
		return ret;
	ret = trace_event_hold_later(t->file);
	if (ret && t->target)
		trace_event_release_other_later(t->target);
	return ret;
}

/*
 * The trigger is complete, and its probes are registered, before the release puts it into the list. 0 or -errno; then
 * nothing has changed.
 */
int trace_event_add_trigger(struct event_trigger *t)
{
	struct trace_event_file *file = t->file;
	struct event_trigger **at = &file->triggers;
	int ret = hold_both(t);

	trace_events_complete(file->tr->events);
	if (ret)
		return ret;
	while (t->command->last && *at)
		at = &(*at)->next;
	t->next = *at;
	smp_store_release(at, t);
	update_flags(file);
	return 0;
}

/* The same for a trigger of which an event has at most one. -EEXIST: it has one. */
static int add_trigger(struct event_trigger *t)
{
	int ret = find_trigger(t->file, t) ? -EEXIST : 0;

	if (!ret && t->command->prepare) {
		ret = t->command->prepare(t->file->tr);
		t->prepared = !ret;
	}
	return ret ?: trace_event_add_trigger(t);
}

/*
 * Takes the trigger out of its event's list. A probe that walks the list may still be at it, and its `next` stays good.
 */
static void unlink_trigger(struct event_trigger *t)
{
	struct event_trigger **p = &t->file->triggers;

	while (*p != t)
		p = &(*p)->next;
	smp_store_release(p, t->next);
	update_flags(t->file);
}

/*
 * Frees what unlink_trigger() has taken out, a list by `removed`. Probes run with preemption off: after the grace
 * period no probe knows any of these triggers, so none of them switches an event whose state is looked at below. One
 * grace period and one stop of the machine serve them all.
 */
static void free_unlinked(struct trace_event_set *set, struct event_trigger *removed)
{
	struct event_trigger *next;

	if (!removed)
		return;
	synchronize_rcu();
	for (; removed; removed = next) {
		next = removed->removed;
		trace_event_release_later(removed->file);
		if (removed->target)
			trace_event_release_other_later(removed->target);
		trace_event_free_trigger(removed);
	}
	trace_events_complete(set);
}

void trace_event_remove_trigger(struct event_trigger *t)
{
	unlink_trigger(t);
	free_unlinked(t->file->tr->events, t);
}

/* All triggers of the event are unlinked and stand before `removed`, in a list by that name. */
static struct event_trigger *unlink_all(struct trace_event_file *file, struct event_trigger *removed)
{
	struct event_trigger *t;

	while ((t = file->triggers)) {
		unlink_trigger(t);
		t->removed = removed;
		removed = t;
	}
	return removed;
}

/*
 * trace_part.unhook: triggers switch other events, and hold their probes. All triggers of all events are unlinked first
 * and freed together, so an instance goes after one grace period.
 */
static void clear_triggers(struct trace_array *tr)
{
	struct trace_event_set *set = tr->events;
	struct event_trigger *removed = NULL;
	struct trace_event_file *file;

	for_each_event(set, file)
		removed = unlink_all(file, removed);
	free_unlinked(set, unlink_all(&set->print, removed));
}

static const struct trace_part triggers_part = {.unhook = clear_triggers};
REGISTER_TRACE_PART(triggers_part);

static void clear_triggers_of(struct trace_event_file *file)
{
	free_unlinked(file->tr->events, unlink_all(file, NULL));
}

static const struct event_triggers triggers_room = {
	.end = trace_event_end_triggers,
	.fire_within = trace_event_fire_within,
	.fire_left = trace_event_fire_left,
	.clear = clear_triggers_of,
	.command = trigger_command_nr,
};
REGISTER_EVENT_TRIGGERS(triggers_room);

/* ---- Reading a command. The text is cut into pieces where it lies. */

static const struct trigger_command *find_command(const char *name)
{
	const struct trigger_command *c;

	for_each_trigger_command(c)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* `echo TEXT > trigger`: the file was opened with O_TRUNC. Commands may do something then. */
static void trigger_truncated(const struct text_file *text, void *file)
{
	const struct trigger_command *c;

	for_each_trigger_command(c)
		if (c->truncate)
			c->truncate(file);
}

/* From the first character that is not blank; NULL: there is none. */
static char *skip_blanks(char *text)
{
	while (text && isspace(*text))
		text++;
	return text && *text ? text : NULL;
}

/* "PARAMETER FILTER": the first word goes to *param, what follows it to *filter. NULL where there is nothing. */
static void split(char *rest, char **param, char **filter)
{
	*param = strsep(&rest, " \t");
	*filter = skip_blanks(rest);
}

/*
 * The parameter may be missing, and can only be a count: a word that does not begin with a digit is already the filter.
 */
static void split_optional(char *rest, char **param, char **filter)
{
	*param = *filter = NULL;
	if (rest && !isdigit(*rest))
		*filter = rest;
	else if (rest)
		split(rest, param, filter);
}

/* "SYSTEM:EVENT", and behind another colon the count, which stays in *param. -EINVAL: there is no such event. */
static int parse_target(struct event_trigger *t, char **param)
{
	const char *system = strsep(param, ":"), *event = strsep(param, ":");

	t->target = event ? trace_event_find(t->file->tr->events, system, event) : NULL;
	return t->target ? 0 : -EINVAL;
}

/*
 * A number, or nothing for a trigger that acts without end. What stands behind another colon is ignored, as in Linux.
 */
static int parse_count(struct event_trigger *t, char *param)
{
	const char *number = strsep(&param, ":");

	t->count = TRIGGER_UNLIMITED;
	return number ? kstrtoul(number, 0, &t->count) : 0;
}

/* "if FILTER". */
static int parse_filter(struct event_trigger *t, char *text)
{
	const char *word = strsep(&text, " \t");

	if (!word)
		return 0;
	return strcmp(word, "if") || !text ? -EINVAL : trace_event_trigger_filter(t, text);
}

/* On an error the trigger has no filter, or one without its text: it must be freed. */
int trace_event_trigger_filter(struct event_trigger *t, const char *text)
{
	struct event_filter *filter = trace_event_parse_filter(t->file, text);

	if (IS_ERR(filter))
		return PTR_ERR(filter);
	t->filter = filter;
	t->filter_text = kstrdup(text, GFP_KERNEL);
	return t->filter_text ? 0 : -ENOMEM;
}

/*
 * Reads the parameters of *t, whose command and file are known. With `remove` only the target matters:
 * "!enable_event:sched:sched_switch" takes the trigger away whatever its count and filter are.
 */
static int parse_rest(struct event_trigger *t, char *rest, bool remove)
{
	char *param, *filter;
	int ret = 0;

	if (trigger_has_target(t->command)) {
		if (!rest)
			return -EINVAL;
		split(rest, &param, &filter);
		ret = parse_target(t, &param);
	} else {
		split_optional(rest, &param, &filter);
	}
	if (ret || remove)
		return ret;
	return parse_count(t, param) ?: parse_filter(t, filter);
}

/* Takes away the trigger that the text means. If there is no such trigger, that is no error, as in Linux. */
static int remove_like(struct trace_event_file *file, const struct trigger_command *command, char *rest)
{
	struct event_trigger like = {.command = command, .file = file}, *t;
	int ret = parse_rest(&like, rest, true);

	t = ret ? NULL : find_trigger(file, &like);
	if (t) {
		unlink_trigger(t);
		free_unlinked(file->tr->events, t);
	}
	return ret;
}

/*
 * The text of one write is one trigger: "[!]command[:parameters][ if filter]". A trigger that is refused leaves nothing
 * behind: it is freed before any probe has seen it. 0 or -errno.
 */
static int trigger_store(char *text, void *owner)
{
	struct trace_event_file *file = owner;
	bool remove = *text == '!';
	char *rest = text + remove, *name = strsep(&rest, ": \t");
	const struct trigger_command *command = find_command(name);
	struct event_trigger *t;
	int ret;

	rest = skip_blanks(rest);
	if (!command)
		return -EINVAL;
	if (command->write)
		return command->write(file, command, rest, remove);
	if (remove)
		return remove_like(file, command, rest);
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->command = command;
	t->file = file;
	ret = parse_rest(t, rest, false) ?: add_trigger(t);
	if (ret)
		trace_event_free_trigger(t);
	return ret;
}

/* ---- Showing */

/* One line in the form in which it can be written: "enable_event:sched:sched_switch:count=3 if prio < 100". */
static void show_trigger(struct seq_file *m, const struct event_trigger *t)
{
	unsigned long count = READ_ONCE(t->count);

	if (t->command->show) {
		t->command->show(m, t);
		return;
	}
	seq_puts(m, t->command->name);
	if (t->target)
		seq_printf(m, ":%s:%s", t->target->call->class->system, t->target->call->name);
	if (count == TRIGGER_UNLIMITED)
		seq_puts(m, ":unlimited");
	else
		seq_printf(m, ":count=%ld", count);
	if (t->filter_text)
		seq_printf(m, " if %s", t->filter_text);
	seq_putc(m, '\n');
}

static int trigger_show(struct seq_file *m, void *owner)
{
	const struct trace_event_file *file = owner;
	const struct trigger_command *c;

	if (!file->triggers) {
		seq_puts(m, "# Available triggers:\n#");
		for_each_trigger_command(c)
			seq_printf(m, " %s", c->name);
		seq_putc(m, '\n');
	}
	for (const struct event_trigger *t = file->triggers; t; t = t->next)
		show_trigger(m, t);
	return 0;
}

static const struct text_kind trigger_text = {.max = FILTER_TEXT_MAX,
					      .lock = &event_mutex,
					      .check = event_is_there,
					      .refused = event_text_refused,
					      .truncated = trigger_truncated};
static const struct text_file trigger_file =
	EVENT_TEXT_OF(trigger_text, "trigger", 0640, trigger_show, trigger_store, EVENT_TRIGGER);
REGISTER_EVENT_FILE(trigger_file);
