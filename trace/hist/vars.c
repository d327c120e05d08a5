/*
 * Variables: values that a hit leaves in the element of its key, and that hits of other events with the same key read.
 *
 * A histogram whose variables others read stays until these have gone: the trigger cannot be taken away (-EBUSY), and
 * the event's module cannot be unloaded. When an array is removed all its triggers go together, in any order, so the
 * memory of a histogram also waits for its last reference (hist_put).
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "hist.h"

/* ---- Names */

/* A dot alone separates a modifier, as in "common_timestamp.usecs"; two separate system, event and name. */
int hist_split_name(struct hist_name *to, const char *text)
{
	char *rest = to->buf;
	const char *first = strchr(text, '.'), *second = first ? strchr(first + 1, '.') : NULL;

	to->system = to->event = NULL;
	to->name = text;
	if (!second)
		return 0;
	if ((size_t)(second - text) >= sizeof(to->buf))
		return -EINVAL;
	memcpy(to->buf, text, second - text);
	to->buf[second - text] = '\0';
	to->system = strsep(&rest, ".");
	to->event = rest;
	to->name = second + 1;
	return 0;
}

struct hist_var *hist_find_var(struct hist *h, const char *name, unsigned *n)
{
	for (unsigned i = 0; i < h->nr_vars; i++)
		if (h->vars[i].kind == VAR_DEFINED && !strcmp(h->vars[i].name, name)) {
			*n = i;
			return &h->vars[i];
		}
	return NULL;
}

struct hist *hist_find_on_event(const struct trace_event_file *file, const char *name, unsigned *n)
{
	struct hist *h;

	for_each_hist(h)
		if (h->file == file && hist_find_var(h, name, n))
			return h;
	return NULL;
}

/* By its name alone: only one event of the array may have such a variable. NULL: none has, or several have. */
static struct hist *find_anywhere(struct hist_parse *p, const char *var, unsigned *n)
{
	struct hist *h, *found = NULL;
	unsigned i;

	for_each_hist(h) {
		if (h->file->tr != p->file->tr || (found && h->file == found->file) || !hist_find_var(h, var, &i))
			continue;
		if (found) {
			hist_error(p, HIST_ERR_VAR_NOT_UNIQUE, var);
			return NULL;
		}
		found = h;
		*n = i;
	}
	return found;
}

/* First the events that the handlers onmatch of this command name, then any event. */
struct hist *hist_resolve(struct hist_parse *p, const char *system, const char *event, const char *var, unsigned *n)
{
	struct trace_event_set *set = p->file->tr->events;
	const struct trace_event_file *file;
	struct hist *found;

	if (system) {
		file = trace_event_find_any(set, system, event);
		return file ? hist_find_on_event(file, var, n) : NULL;
	}
	for (unsigned i = 0; i < p->hist->nr_actions; i++) {
		const struct hist_action *a = p->hist->actions[i];

		file = a->handler == ONMATCH ? trace_event_find_any(set, a->system, a->event) : NULL;
		found = file ? hist_find_on_event(file, var, n) : NULL;
		if (found)
			return found;
	}
	return find_anywhere(p, var, n);
}

/* Keys of one value each, the same number of them, of the same types. */
static bool have_like_keys(const struct hist *a, const struct hist *b)
{
	if (a->nr_keys != b->nr_keys)
		return false;
	for (unsigned i = 0; i < a->nr_keys; i++) {
		const struct hist_field *x = a->keys[i], *y = b->keys[i];

		if (strcmp(x->type, y->type) || x->size != y->size || x->is_signed != y->is_signed || !y->field)
			return false;
	}
	return true;
}

struct hist_trigger *hist_find_compatible(const struct hist *h, const struct trace_event_file *file)
{
	for (struct event_trigger *t = file->triggers; t; t = t->next)
		if (trigger_is_hist(t) && have_like_keys(h, hist_of(t)))
			return container_of(t, struct hist_trigger, trigger);
	return NULL;
}

/* ---- Making */

int hist_add_var(struct hist_parse *p, const char *name, struct hist_field *value, enum hist_var_kind kind)
{
	struct hist *h = p->hist;
	struct hist_var *var = &h->vars[h->nr_vars];
	bool is_long = value && value->op != HIST_REF && (value->is_text || value->is_stack);
	char *copy = h->nr_vars < HIST_VARS_MAX ? kstrdup(name, GFP_KERNEL) : NULL;

	if (!copy) {
		hist_field_free(value);
		return h->nr_vars < HIST_VARS_MAX ? -ENOMEM : hist_error(p, HIST_ERR_TOO_MANY_VARS, NULL);
	}
	*var = (struct hist_var){copy, value, kind, is_long ? h->nr_texts++ : -1};
	return h->nr_vars++;
}

/* Two uses of a variable are one reference. The owner and its event are held until hist_drop_refs(). */
int hist_add_ref(struct hist *h, struct hist *owner, unsigned var)
{
	int err;

	for (unsigned i = 0; i < h->nr_refs; i++)
		if (h->refs[i].owner == owner && h->refs[i].var == var)
			return i;
	if (h->nr_refs == HIST_REFS_MAX)
		return -EINVAL;
	if (owner != h) {
		err = trace_event_pin(owner->file);
		if (err)
			return err;
		owner->ref_users++;
	}
	h->refs[h->nr_refs] = (struct hist_ref){.owner = owner, .var = var};
	return h->nr_refs++;
}

/* The other half of hist_add_ref, for all of them. No hit of h is under way. */
void hist_drop_refs(struct hist *h)
{
	for (unsigned i = 0; i < h->nr_refs; i++) {
		struct hist *owner = h->refs[i].owner;

		if (owner == h)
			continue;
		trace_event_unpin(owner->file);
		owner->ref_users--;
		hist_put(owner);
	}
	h->nr_refs = 0;
}
