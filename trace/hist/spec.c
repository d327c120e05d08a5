/*
 * A histogram as the text that would make it: the line in the file `trigger`, and what stands above its table in
 * `hist`.
 *
 *	hist:keys=pid:vals=hitcount:ts0=common_timestamp:sort=hitcount:size=2048:clock=global if comm=="sh" [active]
 *
 * The same text without size, clock and state says whether two histograms of an event are the same: that is what "!"
 * and pause look for.
 */
#include <fs/seq_file.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "hist.h"

void hist_show_field(struct seq_file *m, const struct hist_field *f)
{
	seq_puts(m, f->name);
	if (f->form != FORM_PLAIN)
		seq_printf(m, ".%s", hist_form_names[f->form]);
	if (f->form == FORM_BUCKETS)
		seq_printf(m, "=%llu", (unsigned long long)f->number);
}

static void show_fields(struct seq_file *m, struct hist_field *const *fields, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i)
			seq_putc(m, ',');
		hist_show_field(m, fields[i]);
	}
}

/* Only those that the command defines; those of actions are seen there. */
static void show_vars(struct seq_file *m, const struct hist *h)
{
	char before = ':';

	for (unsigned i = 0; i < h->nr_vars; i++) {
		if (h->vars[i].kind != VAR_DEFINED)
			continue;
		seq_printf(m, "%c%s=", before, h->vars[i].name);
		hist_show_field(m, h->vars[i].value);
		before = ',';
	}
}

/* Without modifiers, which the command does not take there. */
static void show_sort(struct seq_file *m, const struct hist *h)
{
	for (unsigned i = 0; i < h->nr_sort; i++) {
		unsigned n = h->sort[i].field;

		seq_printf(m, "%s%s",
			   i ? "," : ":sort=", n < h->nr_vals ? h->vals[n]->name : h->keys[n - h->nr_vals]->name);
		if (h->sort[i].descending)
			seq_puts(m, ".descending");
	}
}

static void show_action(struct seq_file *m, const struct hist_action *a)
{
	if (a->handler == ONMATCH)
		seq_printf(m, ":onmatch(%s.%s).", a->system, a->event);
	else
		seq_printf(m, ":%s(%s).", a->handler == ONMAX ? "onmax" : "onchange", a->tracked);
	seq_printf(m, "%s%s", a->by_keyword ? "trace(" : "", a->name);
	if (!a->by_keyword)
		seq_putc(m, '(');
	for (unsigned i = 0; i < a->nr_params; i++)
		seq_printf(m, "%s%s", i || a->by_keyword ? "," : "", a->params[i]);
	seq_putc(m, ')');
}

static void show_fields_of(struct seq_file *m, const struct hist *h)
{
	seq_puts(m, "hist:");
	if (h->name)
		seq_printf(m, "%s:", h->name);
	seq_puts(m, "keys=");
	show_fields(m, h->keys, h->nr_keys);
	seq_puts(m, ":vals=");
	show_fields(m, h->vals, h->nr_vals);
	show_vars(m, h);
	show_sort(m, h);
}

static void show_actions_of(struct seq_file *m, const struct hist *h, const char *filter)
{
	for (unsigned i = 0; i < h->nr_actions; i++)
		show_action(m, h->actions[i]);
	if (filter)
		seq_printf(m, " if %s", filter);
}

void hist_show_trigger(struct seq_file *m, const struct event_trigger *t)
{
	const struct hist *h = hist_of(t);

	show_fields_of(m, h);
	seq_printf(m, ":size=%u", 1u << h->bits);
	if (h->uses_time)
		seq_printf(m, ":clock=%s", h->clock);
	if (h->no_hitcount)
		seq_puts(m, ":nohitcount");
	show_actions_of(m, h, t->filter_text);
	seq_puts(m, READ_ONCE(t->paused) ? " [paused]\n" : " [active]\n");
}

/* The command was at most FILTER_TEXT_MAX bytes; what is added to it is shorter than as much again. NULL: no memory. */
#define SPEC_MAX (2 * FILTER_TEXT_MAX)

char *hist_spec_text(const struct hist *h, const char *filter)
{
	struct seq_file m = {.buf = kmalloc(SPEC_MAX, GFP_KERNEL), .size = SPEC_MAX - 1};
	char *spec = NULL;

	if (!m.buf)
		return NULL;
	show_fields_of(&m, h);
	show_actions_of(&m, h, filter);
	if (!seq_has_overflowed(&m))
		spec = kstrndup(m.buf, m.count, GFP_KERNEL);
	kfree(m.buf);
	return spec;
}
