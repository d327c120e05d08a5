/*
 * Probe events: an event that probes share, its life and its text (probe.h). probe_hit.c makes its records.
 *
 * WHEN A HIT MAY STILL LOOK. A hit has preemption off from before it reads probe.quick or probe_event.files until its
 * records are complete. So after a grace period no hit has an older list of arrays, an array that has left, or a probe
 * that its kind does not call any more.
 */
#include <kernel/init.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <trace/kprobes.h>

#include "core/tracer.h"
#include "events/event_file.h"
#include "output/iter.h"
#include "records/records.h"
#include "probe.h"

#define PROBE_ARGS 2 /* the number of a line's first word that is an argument */

/* ---- On and off: event_mutex held */

/* All probes of the event, or none. */
static int switch_all(struct probe_event *ev, bool on)
{
	struct probe *p, *done;
	int err = 0;

	list_for_each_entry(p, &ev->probes, list) {
		err = ev->pclass->switch_on(p, on);
		if (err && on)
			break;
	}
	if (!err || !on)
		return 0;
	list_for_each_entry(done, &ev->probes, list) {
		if (done == p)
			break;
		ev->pclass->switch_on(done, false);
	}
	return err;
}

/* Have hits take the short way, if they may: the list of arrays has changed, or a probe has joined the event. */
static void choose_quick(struct probe_event *ev)
{
	struct trace_event_file *only = NULL;
	unsigned nr = 0;
	struct probe *p;

	for (unsigned i = 0; ev->files && i < ev->files->nr; i++) {
		if (ev->files->files[i]) {
			only = ev->files->files[i];
			nr++;
		}
	}
	list_for_each_entry(p, &ev->probes, list)
		WRITE_ONCE(p->quick, p->registers && nr == 1 ? only : NULL);
}

/*
 * An array joins: a longer list, which also leaves out the places of those that have left. It is there before the first
 * hit can come. 0, -ENOMEM, or the error of the kind, and nothing has changed.
 */
static int join(struct probe_event *ev, struct trace_event_file *file)
{
	struct probe_files *old = ev->files, *made;
	unsigned nr = old ? old->nr : 0;
	int err;

	made = kzalloc(sizeof(*made) + (nr + 1) * sizeof(file), GFP_KERNEL);
	if (!made)
		return -ENOMEM;
	for (unsigned i = 0; i < nr; i++)
		if (old->files[i])
			made->files[made->nr++] = old->files[i];
	made->files[made->nr++] = file;
	smp_store_release(&ev->files, made);
	choose_quick(ev);
	err = old ? 0 : switch_all(ev, true);
	if (err) {
		WRITE_ONCE(ev->files, NULL);
		choose_quick(ev);
		old = made;
	}
	if (old) {
		synchronize_rcu();
		kfree(old);
	}
	return err;
}

/* An array leaves: its place becomes NULL, which needs no memory. When it returns no hit uses the array. */
static void leave(struct probe_event *ev, const struct trace_event_file *file)
{
	struct probe_files *files = ev->files;
	bool any = false;

	for (unsigned i = 0; i < files->nr; i++) {
		if (files->files[i] == file)
			WRITE_ONCE(files->files[i], NULL);
		any |= files->files[i] != NULL;
	}
	choose_quick(ev);
	if (!any) {
		switch_all(ev, false);
		WRITE_ONCE(ev->files, NULL);
	}
	synchronize_rcu();
	if (!any)
		kfree(files);
}

static int probe_reg(struct trace_event_file *file, bool on)
{
	struct probe_event *ev = container_of(file->call, struct probe_event, call);

	if (ev->pclass->reg)
		return ev->pclass->reg(file, on);
	if (on)
		return join(ev, file);
	leave(ev, file);
	return 0;
}

const struct probe_class *probe_class_of(const struct trace_event_call *call)
{
	return call->class->reg == probe_reg ? container_of(call, struct probe_event, call)->pclass : NULL;
}

/* ---- Text */

#define WORD_FIELD(name, at)                                                                     \
	{                                                                                        \
		"unsigned long", name, sizeof(struct trace_entry) + (at), 8, false, FILTER_OTHER \
	}
/* By enum probe_head: the fields, and what `format` says of them. */
static const struct {
	unsigned words;
	struct trace_event_field fields[PROBE_HEAD_MAX + 1];
	const char *fmt, *fmt_args;
} heads[] = {
	[PROBE_NO_HEAD] = {0, {{}}, "", ""},
	[PROBE_AT] = {1, {WORD_FIELD("__probe_ip", 0), {}}, "(%lx)", ", REC->__probe_ip"},
	[PROBE_RETURN] = {2,
			  {WORD_FIELD("__probe_func", 0), WORD_FIELD("__probe_ret_ip", 8), {}},
			  "(%lx <- %lx)",
			  ", REC->__probe_func, REC->__probe_ret_ip"},
};

void probe_print_at(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head)
{
	seq_putc(s, '(');
	seq_print_ip_sym_offset(s, iter->tr, head[0], true);
	seq_putc(s, ')');
}

void probe_print_return(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head)
{
	seq_putc(s, '(');
	seq_print_ip_sym_offset(s, iter->tr, head[1], true);
	seq_puts(s, " <- ");
	seq_print_ip_sym_offset(s, iter->tr, head[0], false);
	seq_putc(s, ')');
}

static void probe_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_event_call *call = trace_event_of_type(iter->ent->type);
	const struct probe_event *ev = container_of(call, struct probe_event, call);
	const struct probe *p = list_first_entry(&ev->probes, struct probe, list);
	unsigned long head[PROBE_HEAD_MAX];

	memcpy(head, iter->ent + 1, min(sizeof(head), p->args.head - sizeof(struct trace_entry)));
	if (ev->pclass->print_head)
		ev->pclass->print_head(s, iter, head);
	else
		seq_printf(s, "(%s)", p->place);
	fetch_print(s, &p->args, iter->ent);
	seq_putc(s, '\n');
}

/* ---- An event: event_mutex held */

static void free_event(struct probe_event *ev)
{
	fetch_fields_free((struct trace_event_field *)ev->call.fields);
	kvfree(ev->call.print_fmt);
	kfree(ev);
}

static const struct trace_event_field *no_fields(void)
{
	static const struct trace_event_field none[1];

	return none;
}

/* The event's fields and format are those of its first probe; probes that join must have the same. NULL: no memory. */
static struct probe_event *make_event(struct probe *p, const char *group, const char *name)
{
	struct probe_event *ev = kzalloc(sizeof(*ev), GFP_KERNEL);

	if (!ev)
		return NULL;
	INIT_LIST_HEAD(&ev->probes);
	strscpy(ev->group, group, sizeof(ev->group));
	strscpy(ev->name, name, sizeof(ev->name));
	ev->pclass = p->pclass;
	ev->class = (struct trace_event_class){
		.system = ev->group, .fields = no_fields, .print = probe_print, .reg = probe_reg};
	ev->call = (struct trace_event_call){.name = ev->name, .class = &ev->class, .pins = &ev->pins};
	ev->call.fields = fetch_fields(&p->args, heads[p->pclass->head].fields);
	ev->call.print_fmt = fetch_print_fmt(&p->args, heads[p->pclass->head].fmt, heads[p->pclass->head].fmt_args);
	if (ev->call.fields && ev->call.print_fmt)
		return ev;
	free_event(ev);
	return NULL;
}

static struct probe_event *find_event(const char *group, const char *name, const struct dyn_event_kind *kind)
{
	struct dyn_event *dev;

	for_each_dyn_event(dev)
		if (dev->kind == kind && !strcmp(probe_of(dev)->event->group, group) &&
		    !strcmp(probe_of(dev)->event->name, name))
			return probe_of(dev)->event;
	return NULL;
}

/*
 * Where p's arguments begin to differ from another probe's; NULL: nowhere. Another number of them is told first, as on
 * Linux: at the first one too many, or behind a blank at the end of the line.
 */
static const char *find_difference(const struct probe *p, const struct dyn_command *c, const struct probe *of)
{
	unsigned differ = p->args.nr == of->args.nr ? fetch_differ(&p->args, &of->args) : of->args.nr;

	if (differ < p->args.nr)
		return c->words[PROBE_ARGS + differ];
	return p->args.nr < of->args.nr ? c->copy + strlen(c->text) + 1 : NULL;
}

/* May p join the event? */
static int may_join(struct probe *p, struct dyn_command *c, const struct probe_event *ev)
{
	const struct probe *of = list_first_entry(&ev->probes, struct probe, list), *other;
	const char *differ = find_difference(p, c, of);

	if (ev->pclass != p->pclass) {
		dyn_refuse(c, c->words[0], "Probe type is different from existing probe");
		return -EEXIST;
	}
	if (differ) {
		dyn_refuse(c, differ, "Argument type or name is different from existing probe");
		return -EEXIST;
	}
	list_for_each_entry(other, &ev->probes, list)
		if (p->pclass->same(p, other) && fetch_same_words(&p->args, &other->args)) {
			dyn_refuse(c, c->words[0], "There is already the exact same probe event");
			return -EEXIST;
		}
	return 0;
}

static bool is_call(const struct trace_event_call *call, const void *data)
{
	return call == data;
}

/*
 * The probe leaves its event, and the event goes with its last probe. A reader prints a record by the event's first
 * probe, with preemption off, as hits have it. So when this returns, neither a hit nor a reader uses the probe.
 */
static void remove_probe(struct probe *p)
{
	struct probe_event *ev = p->event;
	bool last = list_is_singular(&ev->probes);

	if (last)
		trace_late_events_remove(is_call, &ev->call);
	else
		list_del(&p->list);
	dyn_event_remove(&p->dev);
	synchronize_rcu();
	if (last)
		free_event(ev);
}

/* If the event is on, the probe is switched on, too. On an error the probe has left the event again. */
static int join_event(struct probe *p, struct probe_event *ev, const struct dyn_event_kind *kind)
{
	int err;

	p->event = ev;
	list_add_tail(&p->list, &ev->probes);
	dyn_event_add(&p->dev, kind);
	choose_quick(ev);
	err = probe_event_is_on(ev) ? ev->pclass->switch_on(p, true) : 0;
	if (err)
		remove_probe(p);
	return err;
}

/* The probe is in the list before its event is known, because a text of a record may be asked for at once. */
int probe_add(struct probe *p, struct dyn_command *c, const char *group, const char *name,
	      const struct dyn_event_kind *kind)
{
	struct probe_event *ev = p->pclass->same ? find_event(group, name, kind) : NULL;
	int err;

	if (ev)
		return may_join(p, c, ev) ?: join_event(p, ev, kind);
	ev = make_event(p, group, name);
	if (!ev)
		return -ENOMEM;
	p->event = ev;
	list_add_tail(&p->list, &ev->probes);
	err = trace_late_event_add(&ev->call);
	if (err) {
		free_event(ev);
		if (err == -EEXIST)
			dyn_refuse(c, c->words[0], "Given group/event name is already used by another event");
		return err;
	}
	trace_late_events_ready();
	dyn_event_add(&p->dev, kind);
	return 0;
}

const struct trace_event_call *probe_call(struct dyn_event *dev)
{
	return &probe_of(dev)->event->call;
}

int probe_free(struct dyn_event *dev)
{
	struct probe *p = probe_of(dev);

	if (trace_late_event_is_busy(probe_call(dev)) && list_is_singular(&p->event->probes))
		return -EBUSY;
	if (probe_event_is_on(p->event))
		p->pclass->switch_on(p, false);
	remove_probe(p);
	p->pclass->free(p);
	return 0;
}

/* ---- Lines */

/* Up to the colon. The number is copied, because the word is still needed as a whole. */
int probe_parse_maxactive(struct probe *p, struct dyn_command *c)
{
	char *word = c->words[0] + 1, number[DYN_NAME_MAX];
	size_t len = strcspn(word, ":");

	if (!isdigit(*word))
		return 0;
	if (len >= sizeof(number))
		return dyn_refuse(c, word, "Invalid maxactive number");
	memcpy(number, word, len);
	number[len] = '\0';
	if (kstrtouint(number, 0, &p->maxactive) || !p->maxactive)
		return dyn_refuse(c, word, "Invalid maxactive number");
	if (p->maxactive > KRETPROBE_MAXACTIVE_MAX)
		return dyn_refuse(c, word, "Maxactive is too big");
	return 0;
}

int probe_parse_args(struct probe *p, struct dyn_command *c, const struct probe_class *pclass, unsigned flags,
		     const struct trace_event_field *const fields[2])
{
	int err;

	p->pclass = pclass;
	p->args.head = sizeof(struct trace_entry) + heads[pclass->head].words * sizeof(long);
	err = fetch_parse(&p->args, c, PROBE_ARGS, flags, fields);
	if (!p->args.dynamic && p->args.size <= RINGBUF_TYPE_DATA_TYPE_LEN_MAX * 4)
		p->direct = RB_WORDS(p->args.size);
	p->registers = p->direct && pclass->head == PROBE_AT && p->args.plain;
	return err;
}

void probe_free_parts(struct probe *p)
{
	fetch_free(&p->args);
	kfree(p->place);
}

void probe_show(struct seq_file *m, struct dyn_event *dev)
{
	const struct probe *p = probe_of(dev);

	seq_putc(m, p->pclass->letter);
	if (p->maxactive)
		seq_printf(m, "%u", p->maxactive);
	seq_printf(m, ":%s/%s %s", p->event->group, p->event->name, p->place);
	fetch_show(m, &p->args);
	seq_putc(m, '\n');
}

bool probe_same_place(const struct probe *a, const struct probe *b)
{
	return !strcmp(a->place, b->place);
}

bool probe_names_match(const struct probe *p, const char *group, const char *event)
{
	return (!group || !strcmp(group, p->event->group)) && (!*event || !strcmp(event, p->event->name));
}

bool probe_args_match(const struct probe *p, char **words)
{
	for (unsigned i = 0; words[i]; i++) {
		const struct fetch_arg *arg = i < p->args.nr ? p->args.args[i] : NULL;
		size_t len = arg ? strlen(arg->name) : 0;

		if (!arg || strncmp(words[i], arg->name, len) || words[i][len] != '=' ||
		    strcmp(words[i] + len + 1, arg->word))
			return false;
	}
	return true;
}

/* The words behind the name, if there are any: the place, and arguments. */
bool probe_match(const struct dyn_event *dev, const char *group, const char *event, char **rest)
{
	const struct probe *p = probe_of(dev);

	return probe_names_match(p, group, event) &&
	       (!rest[0] || (!strcmp(rest[0], p->place) && probe_args_match(p, rest + 1)));
}

/* ---- Modules: module_mutex held */

bool probe_waits_for_module(const char *symbol)
{
	const char *colon = strchr(symbol, ':');
	char name[KSYM_MODULE_LEN];

	if (!colon || colon == symbol || colon - symbol >= (long)sizeof(name))
		return false;
	strscpy(name, symbol, colon - symbol + 1);
	return !find_module(name);
}

static void tell_probes(struct module *mod, bool comes)
{
	struct dyn_event *dev;

	mutex_lock(&event_mutex);
	for_each_dyn_event(dev)
		if (dev->kind->show == probe_show && probe_of(dev)->pclass->module)
			probe_of(dev)->pclass->module(probe_of(dev), mod, comes);
	mutex_unlock(&event_mutex);
}

void probe_module_came(struct module *mod)
{
	tell_probes(mod, true);
}

static void module_goes(struct module *mod)
{
	tell_probes(mod, false);
}

/* Not told of `coming`: kprobes say when probes can be put in (kprobe/kprobe_event.c). */
static const struct module_notifier modules_notifier = {.live = module_goes, .going = module_goes};
REGISTER_MODULE_NOTIFIER(modules_notifier);
