/*
 * Synthetic events come and go: a kind of dynamic events (dynevents/dynevent.h).
 *
 *	echo 'wakeup_latency u64 lat; pid_t pid; char comm[]' >> synthetic_events
 *	echo 's:wakeup_latency u64 lat; pid_t pid; char comm[]' >> dynamic_events	the same
 *	echo '!wakeup_latency' >> synthetic_events					and it is gone
 *
 * The lines of the file synthetic_events have a form of their own, older than that of dynamic_events.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "events/event_file.h"
#include "internal.h"

#define SYSTEM "synthetic"

static const struct dyn_event_kind synth_kind;

/* ---- What others ask: event_mutex held */

struct synth_event *synth_event_find(const char *name)
{
	struct dyn_event *ev;

	for_each_dyn_event(ev)
		if (ev->kind == &synth_kind && !strcmp(synth_of_dyn(ev)->name, name))
			return synth_of_dyn(ev);
	return NULL;
}

void synth_event_hold(struct synth_event *e)
{
	__atomic_fetch_add(&e->pins, 1, __ATOMIC_RELAXED);
}

void synth_event_drop(struct synth_event *e)
{
	__atomic_fetch_sub(&e->pins, 1, __ATOMIC_RELAXED);
}

unsigned synth_event_nr_fields(const struct synth_event *e)
{
	return e->nr_fields;
}

/* A string without a fixed length takes any string, one with it only those of the same length. */
bool synth_event_takes(const struct synth_event *e, unsigned n, const char *type, unsigned size, bool is_signed,
		       bool is_text, bool is_stack)
{
	const struct synth_field *f = &e->fields[n];

	if (n >= e->nr_fields || f->is_text != is_text || f->is_stack != is_stack)
		return false;
	if (f->is_dynamic || is_stack)
		return true;
	return f->size == size && (is_text || f->is_signed == is_signed || !strcmp(f->type, type));
}

/* ---- Making one */

static void free_event(struct synth_event *e)
{
	synth_free_fields(e->fields, e->nr_fields);
	kfree(e->name);
	kfree(e->table);
	kfree(e->print_fmt);
	kfree(e);
}

/*
 * The table of fields for the file `format` and for filters; each field begins at a multiple of eight. One of dynamic
 * length has eight bytes, as in Linux, of which four say where it is.
 */
static int make_table(struct synth_event *e)
{
	unsigned offset = sizeof(struct trace_entry);

	e->table = kcalloc(e->nr_fields + 1, sizeof(e->table[0]), GFP_KERNEL);
	if (!e->table)
		return -ENOMEM;
	for (unsigned i = 0; i < e->nr_fields; i++) {
		const struct synth_field *f = &e->fields[i];

		e->table[i] = (struct trace_event_field){
			.type = f->shown,
			.name = f->name,
			.offset = offset,
			.size = f->is_dynamic ? sizeof(u64) : f->size,
			.is_signed = f->is_signed,
			.filter_type = f->is_stack     ? FILTER_NONE
				       : !f->is_text   ? FILTER_OTHER
				       : f->is_dynamic ? FILTER_DYN_STRING
						       : FILTER_STATIC_STRING,
		};
		offset += ALIGN(e->table[i].size, 8);
	}
	e->fixed = offset;
	return 0;
}

/* `"lat=%llu, pid=%d", REC->lat, REC->pid`, as programs read it in the file `format`. */
static int make_print_fmt(struct synth_event *e)
{
	size_t size = 8, n = 0;
	char *text;

	for (unsigned i = 0; i < e->nr_fields; i++)
		size += 2 * strlen(e->fields[i].name) + 40;
	text = e->print_fmt = kmalloc(size, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	for (unsigned i = 0; i < e->nr_fields; i++) {
		const char *format = e->fields[i].is_text ? "%s" : synth_field_format(&e->fields[i]);

		n += scnprintf(text + n, size - n, "%s%s=%s", i ? ", " : "\"", e->fields[i].name, format);
	}
	n += scnprintf(text + n, size - n, "\"");
	for (unsigned i = 0; i < e->nr_fields; i++) {
		const struct synth_field *f = &e->fields[i];
		const char *how = f->is_stack	  ? ", __get_stacktrace(%s)"
				  : f->is_dynamic ? ", __get_str(%s)"
						  : ", REC->%s";

		n += scnprintf(text + n, size - n, how, f->name);
	}
	return 0;
}

/* The event joins all arrays. Its class is its own, since the system's name and the printer are there. */
static int publish(struct synth_event *e)
{
	int err;

	e->class = (struct trace_event_class){.system = SYSTEM, .print = synth_event_print, .reg = synth_event_reg};
	e->call = (struct trace_event_call){
		.name = e->name, .class = &e->class, .fields = e->table, .print_fmt = e->print_fmt, .pins = &e->pins};
	mutex_lock(&event_mutex);
	err = trace_late_event_add(&e->call);
	if (!err) {
		trace_late_events_ready();
		dyn_event_add(&e->dyn, &synth_kind);
	}
	mutex_unlock(&event_mutex);
	return err;
}

/* The name is `len` characters at `name`, the fields follow at `text`. 0 or -errno. dyn_event_mutex held. */
static int create(struct dyn_command *c, const char *name, unsigned len, const char *text)
{
	struct synth_event *e = kzalloc(sizeof(*e) + SYNTH_FIELDS_MAX * sizeof(e->fields[0]), GFP_KERNEL);
	int err;

	if (!e)
		return -ENOMEM;
	e->name = kstrndup(name, len, GFP_KERNEL);
	if (!e->name)
		err = -ENOMEM;
	else if (!dyn_name_is_good(e->name, false) || len >= DYN_NAME_MAX)
		err = dyn_refuse_raw(c, name, synth_bad_name);
	else
		err = synth_parse_fields(c, text, e->fields, &e->nr_fields);
	if (!err)
		err = make_table(e) ?: make_print_fmt(e) ?: publish(e);
	if (!err)
		return 0;
	free_event(e);
	if (err == -EEXIST)
		dyn_refuse_raw(c, name, "Event already exists");
	return err;
}

/*
 * "NAME TYPE FIELD...": what stands before the first semicolon must have three words, so that an event has a field.
 * -EINVAL and error_log has been told.
 */
static int check_form(struct dyn_command *c, const char *text)
{
	const char *end = text + strcspn(text, ";");
	unsigned words = 0;

	for (const char *at = text; at < end; at++)
		words += !isspace(*at) && (at + 1 == end || isspace(at[1]));
	return words < 3 ? dyn_refuse_raw(c, NULL, synth_bad_command) : 0;
}

static int create_line(struct dyn_command *c, const char *name)
{
	unsigned len = strcspn(name, " \t");

	return check_form(c, name) ?: create(c, name, len, name + len);
}

/* "s:[synthetic/]NAME FIELDS" */
static int synth_create(struct dyn_command *c)
{
	static const char group[] = SYSTEM "/";
	const char *name = c->raw + 2, *slash;

	if (strncmp(c->raw, "s:", 2))
		return DYN_NOT_MINE;
	slash = memchr(name, '/', strcspn(name, " \t"));
	if (slash && strncmp(name, group, strlen(group)))
		return dyn_refuse_raw(c, NULL,
				      "Command must be of the form: s or -:[synthetic/]<name> field[;field] ...");
	return create_line(c, slash ? slash + 1 : name);
}

/* ---- Deleting: both mutexes held */

static const struct trace_event_call *synth_call(struct dyn_event *ev)
{
	return &synth_of_dyn(ev)->call;
}

static bool is_call(const struct trace_event_call *call, const void *data)
{
	return call == data;
}

static int synth_free(struct dyn_event *ev)
{
	struct synth_event *e = synth_of_dyn(ev);

	if (trace_late_event_is_busy(synth_call(ev)))
		return -EBUSY;
	trace_late_events_remove(is_call, &e->call);
	dyn_event_remove(ev);
	synchronize_rcu();
	free_event(e);
	return 0;
}

/* Each by its name: "-:synthetic/" names none, whereas that of a group of probes names all in it, as in Linux. */
static bool synth_match(const struct dyn_event *ev, const char *group, const char *event, char **rest)
{
	return (!group || !strcmp(group, SYSTEM)) && !strcmp(event, synth_of_dyn(ev)->name);
}

/* "!NAME ...": what stands behind the name does not matter, as in Linux. */
static int delete_named(const char *name, struct dyn_why *why)
{
	char copy[DYN_NAME_MAX];
	struct synth_event *e;
	int err = -ENOENT;

	strscpy(copy, name, min(strcspn(name, " \t") + 1, sizeof(copy)));
	mutex_lock(&event_mutex);
	e = synth_event_find(copy);
	if (e)
		err = synth_free(&e->dyn);
	if (err == -EBUSY)
		dyn_event_why_busy(&e->dyn, why);
	mutex_unlock(&event_mutex);
	return err;
}

/* ---- The files */

static void show_definition(struct seq_file *m, const struct synth_event *e)
{
	seq_printf(m, "%s\t", e->name);
	for (unsigned i = 0; i < e->nr_fields; i++)
		seq_printf(m, "%s%s %s", i ? "; " : "", e->fields[i].type, e->fields[i].name);
	seq_putc(m, '\n');
}

static void synth_show(struct seq_file *m, struct dyn_event *ev)
{
	seq_puts(m, "s:" SYSTEM "/");
	show_definition(m, synth_of_dyn(ev));
}

static void synth_show_own(struct seq_file *m, struct dyn_event *ev)
{
	show_definition(m, synth_of_dyn(ev));
}

/* A line of synthetic_events. 0 or -errno. */
static int synth_run(const char *line, struct dyn_why *why)
{
	struct dyn_command c = {.log = "synthetic_events"};
	int err;

	while (isspace(*line))
		line++;
	c.raw = line;
	mutex_lock(&dyn_event_mutex);
	err = *line == '!' ? delete_named(line + 1, why) : create_line(&c, line);
	mutex_unlock(&dyn_event_mutex);
	if (err == -EBUSY)
		dyn_refuse_raw(&c, NULL, why->text);
	else if (err == -ENOENT)
		dyn_refuse_raw(&c, NULL, "there is no such event");
	if (err && err != -EBUSY)
		strscpy(why->text, c.said ?: errno_text(-err), sizeof(why->text));
	return err;
}

static const struct dyn_event_kind synth_kind = {
	.file = "synthetic_events",
	.log = "synthetic_events",
	.create = synth_create,
	.show = synth_show,
	.call = synth_call,
	.free = synth_free,
	.match = synth_match,
	.run = synth_run,
	.show_own = synth_show_own,
};
REGISTER_DYN_EVENT_KIND(synth_kind);
DYN_EVENT_FILE(synthetic_events, "synthetic_events");
