/*
 * Dynamic events: the list of them, the lines that make and delete them, and what is wrong with a line. The files are
 * in files.c, and each kind of events has a file of its own. dynevent.h says how a kind plugs in.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/tracer.h"
#include "events/event_file.h"
#include "tracefs/error_log.h"
#include "dynevent.h"

char dyn_event_boot_lines[512];

DEFINE_MUTEX(dyn_event_mutex);
LIST_HEAD(dyn_events);

void dyn_event_add(struct dyn_event *ev, const struct dyn_event_kind *kind)
{
	ev->kind = kind;
	list_add_tail(&ev->list, &dyn_events);
}

void dyn_event_remove(struct dyn_event *ev)
{
	list_del(&ev->list);
}

/* ---- What is wrong with a line */

int dyn_refuse(struct dyn_command *c, const char *at, const char *what)
{
	tracing_log_err(&global_trace, c->log, c->text, what, at ? at - c->copy : 0);
	c->said = what;
	return -EINVAL;
}

int dyn_refuse_raw(struct dyn_command *c, const char *at, const char *what)
{
	tracing_log_err(&global_trace, c->log, c->raw, what, at ? at - c->raw : 0);
	c->said = what;
	return -EINVAL;
}

/* ---- Lines */

static void free_command(struct dyn_command *c)
{
	kvfree(c->raw);
	kvfree(c->text);
	kvfree(c->copy);
	kvfree(c->words);
}

/*
 * Split the line into words. All four pieces of memory are as large as the line needs at most. 0; -EINVAL: there is no
 * word; -ENOMEM.
 */
static int split_command(struct dyn_command *c, const char *line)
{
	size_t size = strlen(line) + 1;
	char *raw = kvzalloc(size, GFP_KERNEL), *text = kvzalloc(size, GFP_KERNEL), *at = text;

	c->raw = raw;
	c->text = text;
	c->copy = kvzalloc(size, GFP_KERNEL);
	c->words = kvzalloc((size / 2 + 2) * sizeof(c->words[0]), GFP_KERNEL);
	if (!raw || !text || !c->copy || !c->words)
		return -ENOMEM;
	strscpy(raw, line, size);
	c->raw = strim(raw);
	if (c->raw != raw) {
		memmove(raw, c->raw, strlen(c->raw) + 1);
		c->raw = raw;
	}
	for (char *p = raw; *p;) {
		size_t blanks = strspn(p, " \t\n\r\v\f"), len = strcspn(p + blanks, " \t\n\r\v\f");

		p += blanks;
		if (at != text)
			*at++ = ' ';
		c->words[c->nr] = memcpy(c->copy + (at - text), p, len);
		c->nr++;
		memcpy(at, p, len);
		at += len;
		p += len;
	}
	return c->nr ? 0 : -EINVAL;
}

static bool dyn_event_is_busy(struct dyn_event *ev)
{
	return ev->kind->call ? trace_late_event_is_busy(ev->kind->call(ev)) : ev->kind->is_busy(ev);
}

void dyn_event_why_busy(struct dyn_event *ev, struct dyn_why *why)
{
	if (ev->kind->call)
		trace_late_event_why_busy(ev->kind->call(ev), why->text, sizeof(why->text));
	else
		scnprintf(why->text, sizeof(why->text), "an event of %s is on, or in use", ev->kind->log);
}

/* The name behind "-:" or "!LETTER:" of a line that deletes: which events it means, and by which words. */
struct dyn_named {
	const char *group, *event; /* group NULL: any */
	char **rest;
};

/*
 * Delete the events of this kind that the line means: all of them, or those before the first one that is busy. Mutexes
 * held.
 */
static int delete_matching(const struct dyn_named *named, const struct dyn_event_kind *only, struct dyn_why *why)
{
	struct dyn_event *ev, *next;
	int err = -ENOENT;

	list_for_each_entry_safe(ev, next, &dyn_events, list) {
		if ((only && ev->kind != only) || !ev->kind->match(ev, named->group, named->event, named->rest))
			continue;
		err = ev->kind->free(ev);
		if (err == -EBUSY)
			dyn_event_why_busy(ev, why);
		if (err)
			break;
	}
	return err;
}

/*
 * "-:[GROUP/]EVENT ..." or "!LETTER:[GROUP/]EVENT ...". -ENOENT: there is no such event; -EBUSY; -EINVAL: it names
 * nothing. dyn_event_mutex held.
 */
static int delete_event(struct dyn_command *c, const struct dyn_event_kind *only, struct dyn_why *why)
{
	struct dyn_named named = {.rest = c->words + 1};
	char *event = c->words[0], *slash;
	int err;

	if (*event == '-' && event[1] != ':')
		return -EINVAL;
	event = strchr(event, ':');
	if (!event)
		return -EINVAL;
	event++;
	slash = strchr(event, '/');
	if (slash) {
		*slash = '\0';
		named.group = event;
		event = slash + 1;
	}
	if (!named.group && !*event)
		return -EINVAL;
	named.event = event;
	mutex_lock(&event_mutex);
	err = delete_matching(&named, only, why);
	mutex_unlock(&event_mutex);
	return err;
}

/* The first kind that accepts the line as its own makes the event, or refuses it. dyn_event_mutex held. */
static int create_event(struct dyn_command *c, const struct dyn_event_kind *only)
{
	const struct dyn_event_kind *kind;

	for_each_in_table(dyn_event_kinds, kind) {
		int err;

		if (only && kind != only)
			continue;
		c->log = kind->log;
		err = kind->create(c);
		if (err != DYN_NOT_MINE)
			return err;
	}
	return -EINVAL;
}

/* The reason for an error when the kind itself has given no reason. */
static const char *general_reason(int err)
{
	switch (-err) {
	case ENOENT:
		return "there is no such event";
	case EBUSY:
		return errno_text(EBUSY);
	case EEXIST:
		return "there is such an event already";
	case ENOSPC:
		return "no room for another event; delete one that is not needed";
	case ENOMEM:
		return "not enough memory for it";
	}
	return "no kind of event begins so, or its place is missing; README shows the forms";
}

/* A kind's create may have cut its words into pieces; what the user wrote is in `text`. */
int dyn_event_run(const char *line, const struct dyn_event_kind *only, struct dyn_why *why)
{
	struct dyn_command c = {.log = only && only->file ? only->file : "dynamic_events"};
	int err = split_command(&c, line);

	why->text[0] = '\0';
	if (!err) {
		mutex_lock(&dyn_event_mutex);
		err = *c.words[0] == '-' || *c.words[0] == '!' ? delete_event(&c, only, why) : create_event(&c, only);
		mutex_unlock(&dyn_event_mutex);
	}
	if (err && !why->text[0])
		strscpy(why->text, c.said ?: general_reason(err), sizeof(why->text));
	if (err && err != -ENOMEM && !c.said)
		dyn_refuse(&c, NULL, why->text);
	free_command(&c);
	return err;
}

/* There are two rounds, so that one busy event keeps all the others from being deleted, too. */
int dyn_event_release_all(const struct dyn_event_kind *only, struct dyn_why *why)
{
	struct dyn_event *ev, *next;
	int err = 0;

	mutex_lock(&dyn_event_mutex);
	mutex_lock(&event_mutex);
	for_each_dyn_event(ev)
		if (!err && (!only || ev->kind == only) && dyn_event_is_busy(ev)) {
			err = -EBUSY;
			dyn_event_why_busy(ev, why);
		}
	list_for_each_entry_safe(ev, next, &dyn_events, list) {
		if (err)
			break;
		if (!only || ev->kind == only)
			err = ev->kind->free(ev);
	}
	mutex_unlock(&event_mutex);
	mutex_unlock(&dyn_event_mutex);
	return err;
}
