/*
 * Event probes (eprobes): an event that is recorded when another one is, from the fields of that one's record.
 *
 *	e[:[GROUP/][EVENT]] SYSTEM.EVENT [ARGS] [if FILTER]	SYSTEM/EVENT, too
 *
 * An eprobe is a trigger of the event that it is attached to. The trigger gets the record while the record still lies
 * where it was made, and no file shows the trigger. So the event's probe is registered while an eprobe of it is on, and
 * soft-disabled if the event itself is off: then its records are made, given to the eprobe, and discarded. Each array
 * that has the eprobe on has a trigger of its own, on its own state of the event, so one array's eprobe never writes to
 * another.
 *
 * The attached event is pinned from the definition on: a synthetic event or a module cannot go before the eprobe.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "triggers/trigger.h"
#include "../probe.h"

struct eprobe {
	struct probe probe;
	struct trace_event_file *attached; /* [I] in the global array; pinned */
	char *filter;			   /* [I] what stood behind "if"; NULL: nothing */
};

static struct eprobe *eprobe_of(const struct probe *p)
{
	return container_of(p, struct eprobe, probe);
}

/* ---- A hit */

/* An array's trigger. The general part comes first, because the whole is freed by the address of that part. */
struct eprobe_trigger {
	struct event_trigger trigger;
	const struct probe *probe;     /* [I] */
	struct trace_event_file *file; /* [I] the eprobe's, in the same array */
};

static struct eprobe_trigger *as_eprobe(struct event_trigger *t)
{
	return container_of(t, struct eprobe_trigger, trigger);
}

static void eprobe_fire(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	const struct eprobe_trigger *t = as_eprobe(trigger);
	const struct fetch_source src = {.record = hit->record};

	probe_record_in(t->file, t->probe, &src, NULL, hit->fp);
}

/* The file `trigger` does not tell of eprobes, as on Linux. */
static void show_nothing(struct seq_file *m, const struct event_trigger *trigger)
{
}

static const struct trigger_command eprobe_command = {
	.name = "eprobe", .type = TRIGGER_EPROBE, .reads = true, .fire = eprobe_fire, .show = show_nothing};

/* ---- On and off: event_mutex held */

/* The array's trigger, with a copy of the filter for this array. 0 or -errno, and nothing is left of it. */
static int add_trigger(struct trace_event_file *attached, struct trace_event_file *file, const struct eprobe *e)
{
	struct eprobe_trigger *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err;

	if (!t)
		return -ENOMEM;
	t->trigger.command = &eprobe_command;
	t->trigger.file = attached;
	t->probe = &e->probe;
	t->file = file;
	err = e->filter ? trace_event_trigger_filter(&t->trigger, e->filter) : 0;
	if (!err)
		err = trace_event_add_trigger(&t->trigger);
	if (err)
		trace_event_free_trigger(&t->trigger);
	return err;
}

/* When the array goes, the trigger is gone already, because all triggers of an array are removed first. */
static void remove_trigger(struct trace_event_file *attached, const struct trace_event_file *file)
{
	struct event_trigger *t = attached->triggers;

	while (t && (t->command != &eprobe_command || as_eprobe(t)->file != file))
		t = t->next;
	if (t)
		trace_event_remove_trigger(t);
}

/* An event has the same number in all arrays. */
static int eprobe_reg(struct trace_event_file *file, bool on)
{
	const struct eprobe *e = eprobe_of(probe_only(file));
	struct trace_event_file *attached = &file->tr->events->files[e->attached->type - TRACE_EVENT_FIRST];

	if (on)
		return add_trigger(attached, file, e);
	remove_trigger(attached, file);
	return 0;
}

static void free_eprobe(struct probe *p)
{
	struct eprobe *e = eprobe_of(p);

	if (e->attached)
		trace_event_unpin(e->attached);
	probe_free_parts(p);
	kfree(e->filter);
	kfree(e);
}

static const struct probe_class eprobe_class = {
	.letter = 'e', .head = PROBE_NO_HEAD, .reg = eprobe_reg, .free = free_eprobe};

/* ---- Definitions */

/*
 * The attached event is found, and stays. -EINVAL: the word has no two names; -ENODEV: there is no such event, it is
 * going, or it is a probe event of which no eprobe can be made. By dyn_refuse().
 */
static int attach(struct eprobe *e, struct dyn_command *c)
{
	const char *system = NULL, *event = NULL;
	const struct probe_class *pclass;
	struct trace_event_file *file;
	int err = -ENODEV;

	if (dyn_parse_name(c, c->words[1], &system, &event) || !system || !event)
		return dyn_refuse(c, c->words[1], "This requires both group and event name to attach");
	mutex_lock(&event_mutex);
	file = trace_event_find(global_trace.events, system, event);
	pclass = file ? probe_class_of(file->call) : NULL;
	if (file && (!pclass || pclass->below) && !trace_event_pin(file)) {
		e->attached = file;
		err = 0;
	}
	mutex_unlock(&event_mutex);
	if (err) {
		dyn_refuse(c, c->words[1], "Attached event does not exist");
		return err;
	}
	e->probe.place = kasprintf(GFP_KERNEL, "%s.%s", system, event);
	return e->probe.place ? 0 : -ENOMEM;
}

/* The words from "if" on are cut off. The filter is compiled only to see whether it is right. 0 or -errno. */
static int parse_filter(struct eprobe *e, struct dyn_command *c)
{
	struct event_filter *filter;
	unsigned at = 2;

	while (at < c->nr && strcmp(c->words[at], "if"))
		at++;
	if (at == c->nr)
		return 0;
	if (at + 1 == c->nr)
		return dyn_refuse(c, c->copy + strlen(c->text) + 1, "No filter rule after 'if'");
	e->filter = kstrdup(c->text + (c->words[at + 1] - c->copy), GFP_KERNEL);
	if (!e->filter)
		return -ENOMEM;
	c->nr = at;
	c->words[at] = NULL;
	mutex_lock(&event_mutex);
	filter = trace_event_parse_filter(e->attached, e->filter);
	mutex_unlock(&event_mutex);
	if (IS_ERR(filter)) {
		c->said = "its filter is wrong"; /* error_log has been told why */
		return PTR_ERR(filter);
	}
	filter_free(filter);
	return 0;
}

static const struct dyn_event_kind eprobe_kind;

/* The name is the attached event's, if the line has none. */
static int parse_all(struct eprobe *e, struct dyn_command *c)
{
	const char *group = "eprobes", *name = NULL;
	const struct trace_event_field *fields[2] = {NULL, trace_common_fields};
	int err = dyn_parse_event(c, &group, &name) ?: attach(e, c) ?: parse_filter(e, c);

	if (err)
		return err;
	fields[0] = trace_event_fields(e->attached->call);
	err = probe_parse_args(&e->probe, c, &eprobe_class, FETCH_KERNEL | FETCH_OF_EVENT | FETCH_NO_REGS, fields);
	if (err)
		return err;
	mutex_lock(&event_mutex);
	err = probe_add(&e->probe, c, group, name ?: e->attached->call->name, &eprobe_kind);
	mutex_unlock(&event_mutex);
	return err;
}

/* After an error the parts of the eprobe that were made are freed, and the attached event is unpinned. */
static int eprobe_create(struct dyn_command *c)
{
	const char *word = c->words[0];
	struct eprobe *e;
	int err;

	if (*word != 'e' || (word[1] && word[1] != ':') || c->nr < 2)
		return DYN_NOT_MINE;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	err = parse_all(e, c);
	if (err)
		free_eprobe(&e->probe);
	return err;
}

/* The words behind the name, if there are any: "SYSTEM.EVENT" or "SYSTEM/EVENT", and arguments. */
static bool eprobe_match(const struct dyn_event *dev, const char *group, const char *event, char **rest)
{
	const struct probe *p = probe_of(dev);
	size_t len = strlen(eprobe_of(p)->attached->call->class->system);

	if (!probe_names_match(p, group, event))
		return false;
	if (!rest[0])
		return true;
	return !strncmp(rest[0], p->place, len) && (rest[0][len] == '.' || rest[0][len] == '/') &&
	       !strcmp(rest[0] + len + 1, p->place + len + 1) && probe_args_match(p, rest + 1);
}

/* As on Linux a line is shown without its filter. */
static const struct dyn_event_kind eprobe_kind = {
	.log = "event_probe",
	.create = eprobe_create,
	.show = probe_show,
	.call = probe_call,
	.free = probe_free,
	.match = eprobe_match,
};
REGISTER_DYN_EVENT_KIND(eprobe_kind);
