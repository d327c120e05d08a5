/*
 * The file `hist` of an event: a table for each of its histograms, and the totals. Hits go on meanwhile, so the entries
 * are collected first, with the values by which they are sorted: the order is that of one moment for each entry.
 */
#include <asm/syscall_abi.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/sort.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/events/syscalls.h>

#include "events/text_file.h"
#include "hist.h"

/* ---- Keys */

/* "[ffff...] name" or "[ffff...] name+0x10/0x40 [module]", padded. */
static void show_symbol(struct seq_file *m, u64 address, bool with_offset)
{
	char text[KSYM_SYMBOL_LEN], *plus;

	sprint_symbol(text, address);
	plus = with_offset ? NULL : strchr(text, '+');
	if (plus) {
		const char *module = strchr(plus, '[');

		if (module) {
			*plus++ = ' ';
			memmove(plus, module, strlen(module) + 1);
		} else {
			*plus = '\0';
		}
	}
	seq_printf(m, "[%llx] %-*s", (unsigned long long)address, with_offset ? 55 : 45, text);
}

static void show_stack(struct seq_file *m, const u64 *addresses)
{
	char text[KSYM_SYMBOL_LEN];

	for (unsigned i = 0; i < HIST_STACK_DEPTH && addresses[i]; i++) {
		sprint_symbol(text, addresses[i]);
		seq_printf(m, "         %s\n", text);
	}
}

static void show_syscall(struct seq_file *m, u64 nr)
{
	const char *name = trace_syscall_name ? trace_syscall_name(nr) : NULL;
	char text[40] = "unknown_syscall";

	if (name)
		scnprintf(text, sizeof(text), "sys_%s", name);
	seq_printf(m, "%-30s[%3llu]", text, (unsigned long long)nr);
}

/* "NAME: VALUE". A stack has lines of its own; true. */
static bool show_key_field(struct seq_file *m, const struct hist_field *f, const u64 *at, const char *comm)
{
	unsigned long long v = *at;

	if (f->is_stack) {
		seq_printf(m, f->op == HIST_STACK ? "%s:\n" : "%s.stacktrace", f->name);
		show_stack(m, at);
		return true;
	}
	seq_printf(m, "%s: ", f->name);
	if (f->is_text)
		seq_printf(m, "%-50s", (const char *)at);
	else if (f->form == FORM_HEX)
		seq_printf(m, "%llx", v);
	else if (f->form == FORM_SYM || f->form == FORM_SYM_OFFSET)
		show_symbol(m, v, f->form == FORM_SYM_OFFSET);
	else if (f->form == FORM_EXECNAME)
		seq_printf(m, "%-16s[%10llu]", comm, v);
	else if (f->form == FORM_SYSCALL)
		show_syscall(m, v);
	else if (f->form == FORM_LOG2)
		seq_printf(m, "~ 2^%-2llu", v);
	else if (f->form == FORM_BUCKETS)
		seq_printf(m, "~ %llu-%llu", v, v + (unsigned long long)f->number - 1);
	else
		seq_printf(m, "%10llu", v);
	return false;
}

void hist_show_key(struct seq_file *m, const struct hist *h, const u64 *key, const char *comm)
{
	bool lines = false;

	seq_puts(m, "{ ");
	for (unsigned i = 0; i < h->nr_keys; i++) {
		if (i)
			seq_puts(m, ", ");
		lines |= show_key_field(m, h->keys[i], key + h->keys[i]->offset / sizeof(u64), comm);
	}
	seq_puts(m, lines ? "}" : " }");
}

/* ---- Values */

/* Of all entries, for .percent and .graph. */
struct totals {
	u64 sum, max;
};

/* A part of a whole in hundredths of a percent. ~0: there is no whole. */
static unsigned hundredths(u64 part, u64 whole)
{
	if (whole && part < U64_MAX / 10000)
		return part * 10000 / whole;
	if (whole / 10000)
		return part / (whole / 10000);
	return part ? ~0u : 0;
}

#define BAR_WIDTH 20

static void show_bar(struct seq_file *m, unsigned part)
{
	char bar[BAR_WIDTH + 1];

	for (unsigned i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < part * BAR_WIDTH / 10000 ? '#' : ' ';
	bar[BAR_WIDTH] = '\0';
	seq_puts(m, bar);
}

/* " NAME: VALUE", with .percent of the sum of all entries, and .graph of the greatest value. */
static void show_val(struct seq_file *m, const struct hist_field *f, u64 v, const struct totals *totals)
{
	unsigned part;

	if (f->form == FORM_PERCENT) {
		part = hundredths(v, totals->sum);
		if (part == ~0u)
			seq_printf(m, " %s (%%):[ERROR]", f->name);
		else
			seq_printf(m, " %s (%%): %3u.%02u", f->name, part / 100, part % 100);
	} else if (f->form == FORM_GRAPH) {
		part = hundredths(v, totals->max);
		seq_printf(m, " %s: ", f->name);
		if (part == ~0u)
			seq_printf(m, "%20s", "[ERROR]");
		else
			show_bar(m, part);
	} else {
		seq_printf(m, f->form == FORM_HEX ? " %s: %10llx" : " %s: %10llu", f->name, (unsigned long long)v);
	}
}

/* What save() has kept of the hit for which a handler acted. */
static void show_saved(struct seq_file *m, const struct hist *h, void *elt)
{
	for (unsigned i = 0; i < h->nr_vars; i++) {
		const struct hist_var *var = &h->vars[i];

		if (var->kind != VAR_SAVED)
			continue;
		if (var->text >= 0 && var->value->is_text)
			seq_printf(m, "  %s: %-32s", var->name, hist_text(h, elt, var->text));
		else
			seq_printf(m, "  %s: %10llu", var->name, (unsigned long long)*hist_var(h, elt, i));
	}
}

static void show_tracked(struct seq_file *m, const struct hist *h, void *elt)
{
	for (unsigned i = 0; i < h->nr_actions; i++) {
		const struct hist_action *a = h->actions[i];

		if (a->handler == ONMATCH || a->kind == ACTION_SNAPSHOT)
			continue;
		seq_printf(m, "\n\t%s: %10llu", a->handler == ONMAX ? "max" : "changed",
			   (unsigned long long)READ_ONCE(*hist_var(h, elt, a->track_var)));
		show_saved(m, h, elt);
	}
}

static void show_entry(struct seq_file *m, const struct hist *h, void *elt, const struct totals *totals)
{
	const u64 *sums = hist_sums(h, elt);

	hist_show_key(m, h, elt, h->has_comm ? hist_comm(h, elt) : "");
	if (!h->no_hitcount)
		show_val(m, h->vals[0], READ_ONCE(sums[0]), &totals[0]);
	for (unsigned i = 1; i < h->nr_vals; i++) {
		seq_putc(m, ' ');
		show_val(m, h->vals[i], READ_ONCE(sums[i]), &totals[i]);
	}
	show_tracked(m, h, elt);
	seq_putc(m, '\n');
}

/* ---- The order */

struct entry {
	void *elt;
	u64 by[HIST_SORT_MAX]; /* numbers: the larger is greater, signed ones too. Strings: the address */
};
static const struct hist *sorting; /* [event_mutex] */

static const struct hist_field *sorted_field(const struct hist *h, unsigned i)
{
	unsigned n = h->sort[i].field;

	return n < h->nr_vals ? h->vals[n] : h->keys[n - h->nr_vals];
}

/* For sort(): by the first field, and if these are equal by the second. Stacks have no order. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	for (unsigned i = 0; i < sorting->nr_sort; i++) {
		const struct hist_field *f = sorted_field(sorting, i);
		int order = (x->by[i] > y->by[i]) - (x->by[i] < y->by[i]);

		if (f->is_text)
			order = strcmp((const char *)(unsigned long)x->by[i], (const char *)(unsigned long)y->by[i]);
		else if (f->is_stack)
			order = 0;
		if (order)
			return sorting->sort[i].descending ? -order : order;
	}
	return 0;
}

/* What an entry is sorted by is copied, because its sums go on changing; keys do not. The totals are added up. */
static void collect_entry(const struct hist *h, void *elt, struct entry *e, struct totals *totals)
{
	const u64 *sums = hist_sums(h, elt);

	e->elt = elt;
	for (unsigned i = 0; i < h->nr_vals; i++) {
		totals[i].sum += READ_ONCE(sums[i]);
		totals[i].max = max(totals[i].max, READ_ONCE(sums[i]));
	}
	for (unsigned i = 0; i < h->nr_sort; i++) {
		const struct hist_field *f = sorted_field(h, i);
		const u64 *at = (const u64 *)elt + f->offset / sizeof(u64);

		if (h->sort[i].field < h->nr_vals)
			e->by[i] = READ_ONCE(sums[h->sort[i].field]);
		else if (f->is_text)
			e->by[i] = (unsigned long)at;
		else
			e->by[i] = *at ^ (f->is_signed ? 1ull << 63 : 0);
	}
}

/* Shows the entries and returns how many there are; -ENOMEM. */
static int show_entries(struct seq_file *m, const struct hist *h)
{
	struct entry *entries = kvmalloc((sizeof(*entries)) << h->bits, GFP_KERNEL);
	struct totals totals[HIST_VALS_MAX] = {};
	unsigned n = 0;

	if (!entries)
		return -ENOMEM;
	for (unsigned slot = 0; slot < 2u << h->bits && n < 1u << h->bits; slot++) {
		void *elt = hist_map_slot(h->map, slot);

		if (elt)
			collect_entry(h, elt, &entries[n++], totals);
	}
	sorting = h;
	sort(entries, n, sizeof(*entries), compare);
	for (unsigned i = 0; i < n && !seq_has_overflowed(m); i++)
		show_entry(m, h, entries[i].elt, totals);
	kvfree(entries);
	return n;
}

/* ---- The file */

static void show_snapshot(struct seq_file *m, const struct hist *h)
{
	for (unsigned i = 0; i < h->nr_actions; i++) {
		const struct hist_action *a = h->actions[i];

		if (a->kind != ACTION_SNAPSHOT || !a->snapshot->taken)
			continue;
		seq_puts(m, "\nSnapshot taken (see tracing/snapshot).  Details:\n");
		seq_printf(m, "\ttriggering value { %s(%s) }: %10llu", a->handler == ONMAX ? "onmax" : "onchange",
			   a->tracked, (unsigned long long)a->snapshot->value);
		seq_puts(m, "\ttriggered by event with key: ");
		hist_show_key(m, h, a->snapshot->key, a->snapshot->comm);
		seq_putc(m, '\n');
	}
}

static void show_head(struct seq_file *m, const struct event_trigger *t, unsigned n)
{
	seq_printf(m, "%s# event histogram\n#\n# trigger info: ", n ? "\n\n" : "");
	hist_show_trigger(m, t);
	seq_puts(m, "#\n\n");
}

static int show_table(struct seq_file *m, const struct event_trigger *t)
{
	const struct hist *h = hist_of(t);
	int n = show_entries(m, h);

	if (n < 0)
		return n;
	show_snapshot(m, h);
	seq_printf(m, "\nTotals:\n    Hits: %llu\n    Entries: %d\n    Dropped: %llu\n",
		   (unsigned long long)hist_map_hits(h->map), n, (unsigned long long)hist_map_drops(h->map));
	return 0;
}

static int hist_show(struct seq_file *m, void *owner)
{
	const struct trace_event_file *file = owner;
	unsigned n = 0;
	int err = 0;

	for (const struct event_trigger *t = file->triggers; t && !err; t = t->next)
		if (trigger_is_hist(t)) {
			show_head(m, t, n++);
			err = show_table(m, t);
		}
	return err;
}

/* ---- hist_debug: how a histogram is made inside */

static void debug_field(struct seq_file *m, const char *what, unsigned i, const struct hist_field *f)
{
	seq_printf(m, "  %s[%u]: ", what, i);
	hist_show_field(m, f);
	seq_printf(m, "\n    type: %s\n    size: %u\n    is_signed: %u\n", f->type, f->size, f->is_signed);
	if (f->op == HIST_REF)
		seq_printf(m, "    refs[%u]\n", f->ref);
}

static void debug_var(struct seq_file *m, unsigned i, const struct hist_var *var)
{
	static const char *const kinds[] = {"defined", "parameter", "saved", "tracked"};

	seq_printf(m, "  vars[%u]: %s (%s)\n", i, var->name, kinds[var->kind]);
	if (var->value)
		debug_field(m, "  value of", i, var->value);
}

/* Sizes, types and numbers by which the parts refer to each other. */
static int hist_debug_show(struct seq_file *m, void *owner)
{
	const struct trace_event_file *file = owner;
	unsigned n = 0;

	for (const struct event_trigger *t = file->triggers; t; t = t->next) {
		const struct hist *h = trigger_is_hist(t) ? hist_of(t) : NULL;

		if (!h)
			continue;
		show_head(m, t, n++);
		seq_printf(m, "n_vals: %u\nn_keys: %u\nn_vars: %u\nkey_size: %u\nelt_size: %u\n", h->nr_vals,
			   h->nr_keys, h->nr_vars, h->key_size, h->map->elt_size);
		for (unsigned i = 0; i < h->nr_vals; i++)
			debug_field(m, "vals", i, h->vals[i]);
		for (unsigned i = 0; i < h->nr_keys; i++)
			debug_field(m, "keys", i, h->keys[i]);
		for (unsigned i = 0; i < h->nr_vars; i++)
			debug_var(m, i, &h->vars[i]);
		for (unsigned i = 0; i < h->nr_refs; i++)
			seq_printf(m, "  refs[%u]: %s.%s.%s%s\n", i, h->refs[i].owner->file->call->class->system,
				   h->refs[i].owner->file->call->name, h->refs[i].owner->vars[h->refs[i].var].name,
				   h->refs[i].once ? " (once)" : "");
	}
	return 0;
}

static const struct text_file hist_file = EVENT_TEXT("hist", 0440, hist_show, NULL, NULL);
REGISTER_EVENT_FILE(hist_file);
static const struct text_file hist_debug_file = EVENT_TEXT("hist_debug", 0440, hist_debug_show, NULL, NULL);
REGISTER_EVENT_FILE(hist_debug_file);
