/*
 * What was wrong with what was written to set_event and to the files enable, filter and trigger below events/.
 *
 * A refused write gives its writer only an errno. The functions here look for the reason once more and say it in words
 * (struct trace_hint): "no event shced_switch; close: sched_switch". Nothing is changed. Context: a thread, no lock
 * held. Late events come and go, so event_mutex is taken wherever an event is looked at.
 */
#include <kernel/ksyms.h>
#include <lib/close_names.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "core/aside.h"
#include "events/text_file.h"
#include "triggers/trigger.h"
#include "refusals.h"

/* A file's i_private is its event, its system or its whole set, and each of them knows its array. */
static struct trace_array *array_of_event(void *owner)
{
	return ((struct trace_event_file *)owner)->tr;
}

static struct trace_array *array_of_system(void *owner)
{
	return ((struct trace_event_system *)owner)->set->tr;
}

static struct trace_array *array_of_all(void *owner)
{
	return ((struct trace_event_set *)owner)->tr;
}

#define TAKES_SWITCH "0 (off) or 1 (on)"
/* The files `enable` of an event, of a system and of all events take the same texts and differ in their owner. */
static const struct trace_hint event_enable_hint = {
	.subject = EVENT_ENABLE, .takes = TAKES_SWITCH, .array_of = array_of_event};
REGISTER_TRACE_HINT(event_enable_hint);
static const struct trace_hint system_enable_hint = {
	.subject = SYSTEM_ENABLE, .takes = TAKES_SWITCH, .array_of = array_of_system};
REGISTER_TRACE_HINT(system_enable_hint);
static const struct trace_hint all_enable_hint = {
	.subject = ALL_ENABLE, .takes = TAKES_SWITCH, .array_of = array_of_all};
REGISTER_TRACE_HINT(all_enable_hint);

/* ---- Names of events */

bool refusal_knows_event(const struct trace_refusal *r, const char *system, const char *event)
{
	bool known;

	mutex_lock(&event_mutex);
	known = trace_event_find(r->tr->events, system, event);
	mutex_unlock(&event_mutex);
	return known;
}

/*
 * Declared in refusals.h: names that look like the one asked for, or where the names are. With a system in front
 * "SYSTEM:EVENT" is compared as a whole, as either part may be misspelt; a single word is compared with names of events
 * and of systems.
 */
void refusal_say_close_events(struct trace_refusal *r, const char *system, const char *event)
{
	const struct trace_event_file *file;
	char asked[CLOSE_NAME_SIZE], name[CLOSE_NAME_SIZE];
	struct close_names close;

	scnprintf(asked, sizeof(asked), "%s%s%s", system ?: "", system ? ":" : "", event);
	close_names_init(&close, asked);
	mutex_lock(&event_mutex);
	for_each_event(r->tr->events, file) {
		const char *of = file->call->class->system;

		scnprintf(name, sizeof(name), "%s:%s", of, file->call->name);
		close_names_offer(&close, system ? name : file->call->name);
	}
	for (unsigned i = 0; !system && i < r->tr->events->nr_systems; i++)
		close_names_offer(&close, r->tr->events->systems[i].name);
	mutex_unlock(&event_mutex);
	refusal_say_close(r, &close);
	if (!close.nr)
		refusal_say(r, "; available_events has the names");
}

/*
 * set_event takes words one after the other; those before the refused one are in force. The refused word may also be
 * the name of a function, or begin with "-", as some tutorials write it.
 */
static void explain_set_event(struct trace_refusal *r)
{
	char word[CLOSE_NAME_SIZE], *event = word;
	const char *system;

	if (r->error != EINVAL)
		return;
	strscpy(word, r->text + (*r->text == '!'), sizeof(word));
	refusal_quote(r, "no event ", word, "");
	if (*word == '-') {
		/* Some tutorials take events out this way. Names that are close would be no answer. */
		*word = '!';
		refusal_quote(r, "; to switch it off write ", word, "");
		return;
	}
	if (kallsyms_lookup_name(word)) {
		refusal_say(r, "; it is a function, which set_ftrace_filter takes");
		return;
	}
	system = strchr(word, ':') ? strsep(&event, ":") : NULL;
	refusal_say_close_events(r, system, event);
}
static const struct trace_hint set_event_hint = {.subject = "set_event", .explain = explain_set_event};
REGISTER_TRACE_HINT(set_event_hint);

/* ---- Filters */

/*
 * Names the fields that look like `word`, or all of them: an event has few. A name such as "pid" in a system's filter
 * is close to "prev_pid" and "next_pid".
 */
static void say_fields(struct trace_refusal *r, const struct trace_event_field *fields, const char *word)
{
	struct close_names close;

	close_names_init(&close, word);
	for (const struct trace_event_field *f = fields; f->name; f++)
		close_names_offer(&close, f->name);
	refusal_say_close(r, &close);
	if (close.nr)
		return;
	refusal_say(r, "; the fields are:");
	for (const struct trace_event_field *f = fields; f->name; f++)
		refusal_say(r, " %s", f->name);
}

/* The characters of a field's name, with the dot of ".ustring" and ".function". */
static bool in_name(char c)
{
	return isalnum(c) || c == '_' || c == '.';
}

/*
 * The name that ends in front of the caret. The parser has read the name, and the blanks behind it, before it looks for
 * the field, so the caret stands behind both. `word` gets at most `size` bytes.
 */
static void word_at(char *word, size_t size, const char *text, unsigned column)
{
	size_t at = min_t(size_t, column, strlen(text)), len = 0;

	while (at && !in_name(text[at - 1]))
		at--;
	while (at && in_name(text[at - 1]))
		at--;
	while (len < size - 1 && in_name(text[at + len]))
		len++;
	memcpy(word, text + at, len);
	word[len] = '\0';
}

/*
 * Parses the text again, to get the place and kind of the error. Says nothing when the filter is good, or when there is
 * nothing to say but the errno. error_log has Linux's own words already (r->logged).
 */
static void explain_fields(struct trace_refusal *r, const struct trace_event_field *fields, const char *text)
{
	struct filter_problem problem;
	struct event_filter *filter = filter_parse(fields, text, &problem);
	char word[CLOSE_NAME_SIZE];

	if (!IS_ERR(filter)) {
		filter_free(filter);
		return;
	}
	if (filter == ERR_PTR(-ENOMEM))
		return;
	r->logged = true;
	if (problem.error == FILT_ERR_NONE)
		return;
	refusal_quote(r, "", text, "");
	refusal_say(r, ", column %u: %s", problem.column, filter_error_texts[problem.error]);
	if (problem.error == FILT_ERR_FIELD_NOT_FOUND) {
		word_at(word, sizeof(word), text, problem.column);
		say_fields(r, fields, word);
	}
}

/*
 * The owner is the event. A late event may have gone since the file was opened (-ENODEV): it has no fields any
 * more, and nothing is said.
 */
static void explain_filter_text(struct trace_refusal *r, const char *text)
{
	const struct trace_event_file *file = r->owner;

	mutex_lock(&event_mutex);
	if (file->call)
		explain_fields(r, trace_event_fields(file->call), text);
	mutex_unlock(&event_mutex);
}

static void explain_event_filter(struct trace_refusal *r)
{
	explain_filter_text(r, r->text);
}

/* A system's filter is wrong for each event in another way, so no single reason can be named. */
static void explain_system_filter(struct trace_refusal *r)
{
	r->logged = r->error != ENOMEM;
}

/* The hints of the two kinds of filter files. */
static const struct trace_hint event_filter_hint = {
	.subject = EVENT_FILTER,
	.takes = "a filter, such as common_pid > 1 && common_flags == 0; 0 takes the filter away",
	.explain = explain_event_filter,
	.array_of = array_of_event};
REGISTER_TRACE_HINT(event_filter_hint);
static const struct trace_hint system_filter_hint = {
	.subject = SYSTEM_FILTER,
	.takes = "a filter for the fields of any event of this system; each event's file `format` has them",
	.explain = explain_system_filter,
	.array_of = array_of_system};
REGISTER_TRACE_HINT(system_filter_hint);

/* ---- Triggers. A kernel without the room has no file of this kind. */

static void say_triggers(struct trace_refusal *r)
{
	const struct event_triggers *triggers = event_triggers();
	const struct trigger_command *c;

	refusal_say(r, "; there are:");
	for (unsigned n = 0; (c = triggers->command(n)); n++)
		refusal_say(r, " %s", c->name);
}

static const struct trigger_command *command_of(const char *name)
{
	const struct event_triggers *triggers = event_triggers();
	const struct trigger_command *c;

	for (unsigned n = 0; (c = triggers->command(n)); n++)
		if (!strcmp(c->name, name))
			break;
	return c;
}

/* `target` is what stands behind "enable_event:" or "disable_event:", with a count behind a third colon perhaps. */
static void explain_target(struct trace_refusal *r, const char *name, char *target)
{
	const char *system = strsep(&target, ":"), *event = strsep(&target, ":");

	if (!event) {
		refusal_say(r, "%s needs an event: %s:SYSTEM:EVENT[:COUNT]", name, name);
	} else if (!refusal_knows_event(r, system, event)) {
		refusal_quote(r, "no event ", event, " in");
		refusal_quote(r, " ", system, "");
		refusal_say_close_events(r, system, event);
	}
}

/*
 * Says which part of the command is wrong: the trigger, the event that it names, or its filter. The parts are looked at
 * from left to right, and only the first that is wrong is explained.
 */
static void explain_event_trigger(struct trace_refusal *r)
{
	char text[128], *rest = text + (*r->text == '!');
	const char *name, *filter = strstr(r->text, " if ");

	strscpy(text, r->text, sizeof(text));
	name = strsep(&rest, ": \t");
	if (!command_of(name)) {
		refusal_quote(r, "no trigger ", name, "");
		say_triggers(r);
	} else if (command_of(name)->explain) {
		command_of(name)->explain(r);
	} else if (r->error == EEXIST) {
		refusal_say(r, "the event has such a trigger already; take it away first: '!%s'", r->text);
	} else if (r->error == EBUSY) {
		refusal_say(r, "%s", trace_rings_are_mapped);
	} else if (trigger_has_target(command_of(name))) {
		explain_target(r, name, strsep(&rest, " \t"));
	}
	if (!r->len && filter)
		explain_filter_text(r, filter + strlen(" if "));
}
static const struct trace_hint event_trigger_hint = {.subject = EVENT_TRIGGER,
						     .takes = "TRIGGER[:COUNT] [if FILTER]",
						     .explain = explain_event_trigger,
						     .array_of = array_of_event};
REGISTER_TRACE_HINT(event_trigger_hint);
