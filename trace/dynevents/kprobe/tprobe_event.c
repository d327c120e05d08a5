/*
 * Tracepoint probes: an event that is recorded when the kernel comes to a tracepoint, from the tracepoint's own
 * arguments. So an event can be made of a tracepoint that has none, and one that keeps what the usual event leaves out.
 *
 *	t:[GROUP/][EVENT] TRACEPOINT [ARGS]
 *
 * Each is a probe of the tracepoint (<trace/tracepoint.h>) that is registered while an array has the event on. A name
 * that no tracepoint has may be one of a module that comes later: the event waits for it, as on Linux.
 *
 * ARGUMENTS. A probe is called with its data and then the tracepoint's arguments, each a word in a register or on the
 * stack. The function below takes TPOINT_ARGS words whatever the tracepoint has. The words beyond the tracepoint's
 * arguments hold whatever is in the registers and in the caller's frame, which always exists; a line that names such a
 * word records it. An argument that is shorter than a word may have anything in its upper bytes, so it needs its type.
 */
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/tracepoint.h>

#include "events/event_file.h"
#include "../probe.h"

struct tprobe_event {
	struct probe probe;
	struct tracepoint *tp; /* [e] NULL: its module is not there */
	struct module *module; /* [e] of the tracepoint; NULL: the kernel */
	unsigned long func;    /* [e] __traceiter_NAME, which calls the probes: where a record says that it was hit */
	bool on;	       /* [e] registered */
};

static struct tprobe_event *tprobe_event_of(const struct probe *p)
{
	return container_of(p, struct tprobe_event, probe);
}

/* ---- A hit: preemption off, once by the tracepoint */

static void tprobe_hit(void *data, unsigned long a0, unsigned long a1, unsigned long a2, unsigned long a3,
		       unsigned long a4, unsigned long a5, unsigned long a6, unsigned long a7, unsigned long a8,
		       unsigned long a9, unsigned long a10, unsigned long a11)
{
	const struct tprobe_event *t = data;
	const unsigned long args[TPOINT_ARGS] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
	unsigned long fp = (unsigned long)__builtin_frame_address(0);
	const struct fetch_source src = {.entry = args, .sp = fp};

	probe_record(&t->probe, &src, &t->func, fp);
}

/* ---- On and off: event_mutex held */

static int tprobe_switch_on(struct probe *p, bool on)
{
	struct tprobe_event *t = tprobe_event_of(p);
	int err = 0;

	if (!t->tp || t->on == on)
		return 0;
	if (on)
		err = tracepoint_probe_register(t->tp, (void *)tprobe_hit, t);
	else
		tracepoint_probe_unregister(t->tp, (void *)tprobe_hit, t);
	t->on = on && !err;
	return err;
}

/* ---- Tracepoints: module_mutex held */

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *priv)
{
	struct search *s = priv;

	if (!strcmp(tp->name, s->name))
		s->found = tp;
}

static struct tracepoint *find_in_module(struct module *mod, const char *name)
{
	unsigned n;
	struct tracepoint *const *tps = module_section(mod, "ptrs_tracepoints", sizeof(*tps), &n);

	for (unsigned i = 0; tps && i < n; i++)
		if (!strcmp(tps[i]->name, name))
			return tps[i];
	return NULL;
}

static void set_tracepoint(struct tprobe_event *t, struct tracepoint *tp, struct module *mod)
{
	char name[KSYM_NAME_LEN + KSYM_MODULE_LEN];

	scnprintf(name, sizeof(name), "%s%s__traceiter_%s", mod ? mod->name : "", mod ? ":" : "", t->probe.place);
	t->tp = tp;
	t->module = mod;
	t->func = tp ? kallsyms_lookup_name(name) : 0;
}

/* In the kernel, or in a module that is not going. */
static void find_tracepoint(struct tprobe_event *t)
{
	struct search s = {.name = t->probe.place};
	struct module *mod;

	for_each_kernel_tracepoint(compare, &s);
	set_tracepoint(t, s.found, NULL);
	for_each_module(mod)
		if (!t->tp && (mod->state == MODULE_STATE_LIVE || mod->state == MODULE_STATE_COMING))
			set_tracepoint(t, find_in_module(mod, t->probe.place), mod);
}

static void tprobe_module(struct probe *p, struct module *mod, bool comes)
{
	struct tprobe_event *t = tprobe_event_of(p);

	if (!comes && t->tp && module_frees(mod, (unsigned long)t->tp)) {
		tprobe_switch_on(p, false);
		set_tracepoint(t, NULL, NULL);
	} else if (comes && !t->tp) {
		set_tracepoint(t, find_in_module(mod, p->place), mod);
		if (probe_event_is_on(p->event))
			tprobe_switch_on(p, true);
	}
}

static void free_tprobe_event(struct probe *p)
{
	probe_free_parts(p);
	kfree(tprobe_event_of(p));
}

static const struct probe_class tprobe_class = {
	.letter = 't',
	.head = PROBE_AT,
	.below = true,
	.print_head = probe_print_at,
	.switch_on = tprobe_switch_on,
	.module = tprobe_module,
	.same = probe_same_place,
	.free = free_tprobe_event,
};

/* ---- Definitions */

static int parse_tracepoint(struct tprobe_event *t, struct dyn_command *c)
{
	char *word = c->words[1], *percent = strchr(word, '%'), *at = word;

	if (percent)
		return dyn_refuse(c, percent, "Invalid probed address suffix");
	while (isalnum(*at) || *at == '_')
		at++;
	if (*at)
		return dyn_refuse(c, at, "Invalid character in tracepoint name");
	t->probe.place = kstrdup(word, GFP_KERNEL);
	return t->probe.place ? 0 : -ENOMEM;
}

/* The name is the tracepoint's if the line has none, with "_" in front of a digit. */
static int parse_all(struct tprobe_event *t, struct dyn_command *c)
{
	char made[DYN_NAME_MAX];
	const char *group = "tracepoints", *name = NULL;
	int err = probe_parse_maxactive(&t->probe, c) ?: parse_tracepoint(t, c);

	if (err)
		return err;
	if (t->probe.maxactive)
		return dyn_refuse(c, c->words[0] + 1, "Maxactive is only for function exit");
	err = dyn_parse_event(c, &group, &name);
	if (err)
		return err;
	scnprintf(made, sizeof(made), "%s%s", isdigit(*t->probe.place) ? "_" : "", t->probe.place);
	err = probe_parse_args(&t->probe, c, &tprobe_class, FETCH_KERNEL | FETCH_TPOINT | FETCH_NO_REGS, NULL);
	if (err)
		return err;
	mutex_lock(&module_mutex); /* a module whose tracepoint is found goes after tprobe_module() can be told of it */
	mutex_lock(&event_mutex);
	find_tracepoint(t);
	err = probe_add(&t->probe, c, group, name ?: made, &fprobe_kind);
	mutex_unlock(&event_mutex);
	mutex_unlock(&module_mutex);
	return err;
}

/* No other kind begins with this letter. What an error leaves of it is freed. */
static int tprobe_create(struct dyn_command *c)
{
	const char *word = c->words[0];
	struct tprobe_event *t;
	int err;

	if (*word != 't' || (word[1] && word[1] != ':' && !isdigit(word[1])) || c->nr < 2)
		return DYN_NOT_MINE;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	err = parse_all(t, c);
	if (err)
		free_tprobe_event(&t->probe);
	return err;
}

/* Only the lines of this kind are its own: an event that it has made counts among the fprobe events, as on Linux. */
static const struct dyn_event_kind tprobe_kind = {.log = "trace_fprobe", .create = tprobe_create};
REGISTER_DYN_EVENT_KIND(tprobe_kind);
