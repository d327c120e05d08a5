/*
 * Histograms come, pause and go: what a write to the file `trigger` of an event does, when parse.c has understood it.
 *
 * A histogram belongs to one trigger, or to several that share its name, on events of one array. The list below has all
 * that are in force. Which of them is meant by "!" or pause is found by the text that would make it (spec.c).
 */
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/aside.h"
#include "hist.h"

static LIST_HEAD(hists); /* [event_mutex] */

struct hist *hist_first(void)
{
	return list_empty(&hists) ? NULL : list_first_entry(&hists, struct hist, list);
}

struct hist *hist_next(const struct hist *h)
{
	return h->list.next == &hists ? NULL : list_entry(h->list.next, struct hist, list);
}

void hist_put(struct hist *h)
{
	if (!h->users && !h->ref_users)
		hist_free(h);
}

/* ---- Finding */

static struct hist_trigger *as_hist(struct event_trigger *t)
{
	return container_of(t, struct hist_trigger, trigger);
}

/* The event's histogram of this text. */
static struct hist_trigger *find_spec(struct trace_event_file *file, const char *spec)
{
	for (struct event_trigger *t = file->triggers; t; t = t->next)
		if (trigger_is_hist(t) && !strcmp(as_hist(t)->spec, spec))
			return as_hist(t);
	return NULL;
}

/* The event's trigger of this histogram. */
static struct hist_trigger *find_trigger_of(struct trace_event_file *file, const struct hist *h)
{
	for (struct event_trigger *t = file->triggers; t; t = t->next)
		if (trigger_is_hist(t) && hist_of(t) == h)
			return as_hist(t);
	return NULL;
}

static struct hist *find_named(const struct trace_array *tr, const char *name)
{
	struct hist *h;

	for_each_hist(h)
		if (h->name && h->file->tr == tr && !strcmp(h->name, name))
			return h;
	return NULL;
}

/* ---- Going */

/* Histograms that were made for parameters of others go when nobody reads their variables any more. */
static void sweep(void)
{
	struct hist *h = hist_first();

	while (h) {
		struct hist_trigger *t = h->automatic && !h->ref_users ? find_trigger_of(h->file, h) : NULL;

		if (!t) {
			h = hist_next(h);
			continue;
		}
		trace_event_remove_trigger(&t->trigger);
		h = hist_first();
	}
}

/* An event with a trigger of this histogram, which has one. */
static struct trace_event_file *find_event_of(const struct hist *h)
{
	struct trace_event_file *file;

	for_each_event(h->file->tr->events, file)
		if (find_trigger_of(file, h))
			return file;
	return &h->file->tr->events->print;
}

/*
 * A named histogram stays when the event goes on which it was made: from now on it is that of another one. The fields,
 * too, since those of a dynamic event or of a module are freed with it.
 */
static void move_on(struct hist *h)
{
	h->file = find_event_of(h);
	for (unsigned i = 0; i < h->nr_keys; i++)
		hist_field_move(h->keys[i], h->file->call);
	for (unsigned i = 0; i < h->nr_vals; i++)
		hist_field_move(h->vals[i], h->file->call);
}

/* The command's free(). A trigger that has not come in force has no histogram. */
static void hist_trigger_free(struct event_trigger *trigger)
{
	struct hist_trigger *t = as_hist(trigger);
	struct hist *h = t->hist;

	kfree(t->spec);
	kfree(t);
	if (!h)
		return;
	if (--h->users)
		move_on(h);
	else
		list_del(&h->list);
	hist_put(h);
	sweep();
}

/* `>` takes all histograms of the event away, or, if another histogram reads a variable of one, nothing. */
static void hist_truncate(struct trace_event_file *file)
{
	struct event_trigger *t;

	for (t = file->triggers; t; t = t->next)
		if (trigger_is_hist(t) && hist_of(t)->ref_users)
			return;
	do {
		for (t = file->triggers; t && !trigger_is_hist(t);)
			t = t->next;
		if (t)
			trace_event_remove_trigger(t);
	} while (t);
}

static int remove_hist(struct hist_trigger *t)
{
	if (!t)
		return 0; /* to remove a histogram that does not exist is no error, as in Linux */
	if (t->hist->ref_users)
		return -EBUSY;
	trace_event_remove_trigger(&t->trigger);
	return 0;
}

/* ---- Changes of one that is there */

/* Its own hits, and those of histograms that read its variables: they look into the map as well. */
static void stop_hits(struct hist *h, bool stop)
{
	struct hist *reader;

	WRITE_ONCE(h->stopped, stop);
	for_each_hist(reader)
		for (unsigned i = 0; i < reader->nr_refs; i++)
			if (reader->refs[i].owner == h)
				WRITE_ONCE(reader->stopped, stop);
}

/* Hits that come meanwhile do not count; those under way have ended with the grace period. */
static void clear_hist(struct hist *h)
{
	stop_hits(h, true);
	synchronize_rcu();
	hist_map_clear(h->map);
	for (unsigned i = 0; i < h->nr_actions; i++)
		if (h->actions[i]->snapshot)
			memset(h->actions[i]->snapshot, 0, sizeof(*h->actions[i]->snapshot));
	stop_hits(h, false);
}

static void change_hist(const struct hist_parse *p, struct hist_trigger *t)
{
	if (p->pause)
		WRITE_ONCE(t->trigger.paused, true);
	else if (p->cont)
		WRITE_ONCE(t->trigger.paused, false);
	else
		clear_hist(t->hist);
}

/* ---- Coming */

/* With all parts of an expression. Either may be NULL. */
static bool is_same_field(const struct hist_field *a, const struct hist_field *b)
{
	if (!a || !b)
		return a == b;
	return !strcmp(a->type, b->type) && a->size == b->size && a->is_signed == b->is_signed &&
	       (!a->field || !b->field ? a->field == b->field : a->field->offset == b->field->offset) &&
	       is_same_field(a->operand[0], b->operand[0]) && is_same_field(a->operand[1], b->operand[1]);
}

/* May triggers of these two share one histogram? If texts are the same, and the places of fields in the records. */
static bool can_share(const struct hist *a, const struct hist *b)
{
	char *x = hist_spec_text(a, NULL), *y = hist_spec_text(b, NULL);
	bool can = x && y && !strcmp(x, y);

	kfree(x);
	kfree(y);
	for (unsigned i = 0; i < a->nr_keys && can; i++)
		can = is_same_field(a->keys[i], b->keys[i]);
	for (unsigned i = 0; i < a->nr_vals && can; i++)
		can = is_same_field(a->vals[i], b->vals[i]);
	/* Variables and actions are of one event. */
	return can && !a->nr_vars && !a->nr_actions;
}

static int set_clock(const struct hist_parse *p)
{
	struct trace_array *tr = p->file->tr;
	int err = 0;

	mutex_lock(&trace_types_lock);
	if (!trace_clock_is(tr, p->hist->clock))
		err = tracing_set_clock(tr, p->hist->clock);
	mutex_unlock(&trace_types_lock);
	return err ? hist_error(p, HIST_ERR_SET_CLOCK_FAIL, p->clock) : 0;
}

static bool is_plain_number(const struct hist_field *f)
{
	return f->op == HIST_NUMBER && f->form != FORM_LOG2 && f->form != FORM_BUCKETS;
}

/* Does the short way do all that a hit of h is to do (count_known)? */
static bool is_plain(const struct hist *h)
{
	bool plain = h->nr_keys == 1 && is_plain_number(h->keys[0]) && !h->nr_refs && !h->nr_vars && !h->nr_actions;

	for (unsigned i = 1; i < h->nr_vals; i++)
		plain &= is_plain_number(h->vals[i]);
	return plain;
}

/* The last steps before hits can come: what the actions mean is known now, and so is the size of an element. */
static int complete_hist(struct hist_parse *p)
{
	struct hist *h = p->hist;
	int err = h->uses_time ? set_clock(p) : 0;

	if (!err)
		err = hist_create_actions(p);
	if (err)
		return err;
	h->plain = is_plain(h);
	h->map = hist_map_create(h->bits, h->key_size, hist_data_size(h), nr_cpu_ids);
	return h->map ? 0 : -ENOMEM;
}

static bool takes_snapshots(const struct hist *h)
{
	for (unsigned i = 0; i < h->nr_actions; i++)
		if (h->actions[i]->kind == ACTION_SNAPSHOT)
			return true;
	return false;
}

/* The trigger comes in force with its histogram, which is new, or `named`. 0 or -errno. */
static int add_hist(struct hist_parse *p, struct hist_trigger *t, struct hist *named)
{
	struct hist *h = named ?: p->hist;
	int err = named ? 0 : complete_hist(p);

	if (err)
		return err;
	t->hist = h;
	t->trigger.paused = p->pause;
	t->trigger.again = takes_snapshots(h);
	err = trace_event_add_trigger(&t->trigger);
	if (err) {
		t->hist = NULL;
		return err;
	}
	h->users++;
	if (!named) {
		list_add_tail(&h->list, &hists);
		p->hist = NULL;
	}
	return 0;
}

/* Linux's order of the checks, but that a histogram with variables can be paused, continued and cleared. */
static int add_or_change(struct hist_parse *p, struct hist_trigger *t)
{
	struct hist *named = p->hist->name ? find_named(p->file->tr, p->hist->name) : NULL;
	struct hist_trigger *same = find_spec(p->file, t->spec);
	unsigned n;

	if (named && !can_share(p->hist, named))
		return hist_error(p, HIST_ERR_NAMED_MISMATCH, p->name);
	if (same && (p->pause || p->cont || p->clear)) {
		change_hist(p, same);
		return 0;
	}
	for (unsigned i = 0; i < p->nr_defs; i++)
		if (hist_find_on_event(p->file, p->def_names[i], &n))
			return hist_error(p, HIST_ERR_DUPLICATE_VAR, p->def_names[i]);
	if (same) {
		hist_error(p, HIST_ERR_TRIGGER_EEXIST, NULL);
		return -EEXIST;
	}
	if (p->cont || p->clear) {
		hist_error(p, HIST_ERR_TRIGGER_ENOENT_CLEAR, NULL);
		return -ENOENT;
	}
	return add_hist(p, t, named);
}

/* The command is understood. A trigger that does not come in force is freed here. */
static int carry_out(struct hist_parse *p, const struct trigger_command *command)
{
	struct hist_trigger *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err;

	if (!t)
		return -ENOMEM;
	t->trigger.command = command;
	t->trigger.file = p->file;
	t->trigger.count = TRIGGER_UNLIMITED;
	err = p->filter ? trace_event_trigger_filter(&t->trigger, p->filter) : 0;
	if (err == -EINVAL)
		hist_note(p, "", NULL);
	if (!err) {
		t->spec = hist_spec_text(p->hist, p->filter);
		err = t->spec ? 0 : -ENOMEM;
	}
	if (!err && p->remove) {
		hist_drop_refs(p->hist);
		err = remove_hist(find_spec(p->file, t->spec));
	} else if (!err) {
		err = add_or_change(p, t);
	}
	if (!t->hist)
		trace_event_free_trigger(&t->trigger);
	return err;
}

static int run(struct trace_event_file *file, const struct trigger_command *command, const char *text, bool remove,
	       bool automatic)
{
	struct hist_parse p = {.file = file, .remove = remove, .automatic = automatic};
	int err = hist_parse(&p, text);

	if (!err)
		err = carry_out(&p, command);
	hist_parse_end(&p);
	return err;
}

static int hist_write(struct trace_event_file *file, const struct trigger_command *command, char *text, bool remove)
{
	int err = text ? run(file, command, text, remove, false) : -EINVAL;

	sweep();
	return err;
}

/* The same keys and filter as `like` has, so that the variable is set for the same hits under the same keys. */
int hist_add_automatic(struct hist_trigger *like, const char *field)
{
	const struct hist *h = like->hist;
	const char *filter = like->trigger.filter_text;
	char *text = kmalloc(FILTER_TEXT_MAX, GFP_KERNEL);
	int n, err;

	if (!text)
		return -ENOMEM;
	n = scnprintf(text, FILTER_TEXT_MAX, "keys=");
	for (unsigned i = 0; i < h->nr_keys; i++)
		n += scnprintf(text + n, FILTER_TEXT_MAX - n, "%s%s", i ? "," : "", h->keys[i]->name);
	n += scnprintf(text + n, FILTER_TEXT_MAX - n, ":synthetic_%s=%s", field, field);
	if (filter)
		n += scnprintf(text + n, FILTER_TEXT_MAX - n, " if %s", filter);
	/* A text that fills the place may have been cut. */
	err = n == FILTER_TEXT_MAX - 1 ? -E2BIG : run(like->trigger.file, like->trigger.command, text, false, true);
	kfree(text);
	return err;
}

/* ---- enable_hist and disable_hist: an event lets the histograms of another one go on, or pauses them */

static void fire_hist_onoff(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	if (!trace_count_take(&trigger->count))
		return;
	for (struct event_trigger *t = smp_load_acquire(&trigger->target->triggers); t; t = smp_load_acquire(&t->next))
		if (trigger_is_hist(t))
			WRITE_ONCE(t->paused, !trigger->command->on);
}

/* In Linux's order. */
static const struct trigger_command commands[] = {
	{.name = "enable_hist", .type = TRIGGER_HIST_ONOFF, .on = true, .fire = fire_hist_onoff},
	{.name = "disable_hist", .type = TRIGGER_HIST_ONOFF, .on = false, .fire = fire_hist_onoff},
	{.name = "hist",
	 .type = TRIGGER_HIST,
	 .reads = true,
	 .last = true,
	 .fire = hist_fire,
	 .write = hist_write,
	 .show = hist_show_trigger,
	 .free = hist_trigger_free,
	 .truncate = hist_truncate,
	 .explain = hist_explain},
};
static const struct trigger_commands hist_commands = {commands, ARRAY_SIZE(commands)};
REGISTER_TRIGGER_COMMANDS(hist_commands);
