/*
 * What a histogram does besides counting: HANDLER.ACTION.
 *
 *	onmatch(SYSTEM.EVENT)	at each hit for which all variables are set
 *	onmax($VAR)		when the variable is greater than ever before for this key
 *	onchange($VAR)		when it is another than at the hit before
 *
 *	trace(EVENT,PARAM,...)	a record of a synthetic event; EVENT(PARAM,...) means the same
 *	save(FIELD,...)		the fields of this hit, to be shown beside the key
 *	snapshot()		of the whole trace; of all keys together, for the greatest or a changed value
 *
 * The texts are taken apart first (hist_parse_actions), since variables of the events that onmatch names come before
 * others. What they mean is looked up when the fields of the histogram are known (hist_create_actions).
 */
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "records/records.h"
#include "synth/synth.h"
#include "hist.h"

/* ---- Taking apart. Each function cuts the text that it is given, and hist_error() tells what is wrong with it. */

/* The parameters, without the closing parenthesis. The first one behind trace( is the event's name. */
static int parse_params(struct hist_parse *p, struct hist_action *a, char *params)
{
	bool is_name = a->by_keyword;
	char *param;

	while ((param = strsep(&params, ",")) != NULL) {
		char *copy;

		param = strim(param);
		if (strlen(param) < 2)
			return hist_error(p, HIST_ERR_INVALID_PARAM, param);
		if (!is_name && a->nr_params == HIST_PARAMS_MAX)
			return hist_error(p, HIST_ERR_TOO_MANY_PARAMS, NULL);
		copy = kstrdup(param, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		if (is_name) {
			kfree(a->name);
			a->name = copy;
		} else {
			a->params[a->nr_params++] = copy;
		}
		is_name = false;
	}
	return 0;
}

/* ").ACTION(PARAMS)": `text` begins behind the handler's parenthesis. */
static int parse_action(struct hist_parse *p, struct hist_action *a, char *text)
{
	const char *dot = strsep(&text, "."), *name = text ? strsep(&text, "(") : NULL;
	char *params;

	if (!dot || !name || !text)
		return hist_error(p, HIST_ERR_ACTION_NOT_FOUND, NULL);
	a->name = kstrdup(name, GFP_KERNEL);
	if (!a->name)
		return -ENOMEM;
	params = strsep(&text, ")");
	a->kind = !strncmp(name, "save", 4)	  ? ACTION_SAVE
		  : !strncmp(name, "snapshot", 8) ? ACTION_SNAPSHOT
						  : ACTION_TRACE;
	a->by_keyword = a->kind == ACTION_TRACE && !strcmp(name, "trace");
	if (a->kind == ACTION_SNAPSHOT && !text)
		return hist_error(p, HIST_ERR_NO_CLOSING_PAREN, params);
	if (a->kind == ACTION_SAVE && !*params)
		return hist_error(p, HIST_ERR_NO_SAVE_PARAMS, NULL);
	if (a->kind != ACTION_TRACE && a->handler == ONMATCH)
		return hist_error(p, HIST_ERR_ACTION_MISMATCH, name);
	return a->kind == ACTION_SNAPSHOT || !*params ? 0 : parse_params(p, a, params);
}

/* "SYSTEM.EVENT)..." */
static int parse_onmatch(struct hist_parse *p, struct hist_action *a, char *text)
{
	char *event = strsep(&text, ")"), *begin = event, *system;

	if (!text)
		return hist_error(p, HIST_ERR_NO_CLOSING_PAREN, begin);
	system = strsep(&event, ".");
	if (!event)
		return hist_error(p, HIST_ERR_SUBSYS_NOT_FOUND, system);
	if (!trace_event_find_any(p->file->tr->events, system, event))
		return hist_error(p, HIST_ERR_INVALID_SUBSYS_EVENT, event);
	a->system = kstrdup(system, GFP_KERNEL);
	a->event = kstrdup(event, GFP_KERNEL);
	return a->system && a->event ? parse_action(p, a, text) : -ENOMEM;
}

/* "$VAR)..." */
static int parse_tracking(struct hist_parse *p, struct hist_action *a, char *text)
{
	const char *var = strsep(&text, ")");

	if (!text)
		return -EINVAL;
	a->tracked = kstrdup(var, GFP_KERNEL);
	return a->tracked ? parse_action(p, a, text) : -ENOMEM;
}

/* parse_part() has let nothing through that does not begin with one of these handlers. */
int hist_parse_actions(struct hist_parse *p)
{
	static const struct {
		const char *name;
		u8 handler;
	} handlers[] = {{"onmatch(", ONMATCH}, {"onmax(", ONMAX}, {"onchange(", ONCHANGE}};
	int err = 0;

	for (unsigned i = 0; i < p->nr_actions && !err; i++) {
		struct hist_action *a = kzalloc(sizeof(*a), GFP_KERNEL);
		unsigned n = 0;
		char *text;

		if (!a)
			return -ENOMEM;
		p->hist->actions[p->hist->nr_actions++] = a;
		while (strncmp(p->actions[i], handlers[n].name, strlen(handlers[n].name)))
			n++;
		text = p->actions[i] + strlen(handlers[n].name);
		a->handler = handlers[n].handler;
		err = a->handler == ONMATCH ? parse_onmatch(p, a, text) : parse_tracking(p, a, text);
	}
	return err;
}

void hist_free_action(struct hist_action *a)
{
	if (a->synth)
		synth_event_drop(a->synth);
	for (unsigned i = 0; i < a->nr_params; i++)
		kfree(a->params[i]);
	kfree(a->system);
	kfree(a->event);
	kfree(a->tracked);
	kfree(a->name);
	kfree(a->snapshot);
	if (a->armed)
		tracing_disarm_snapshot(a->armed);
	kfree(a);
}

/* ---- What they mean */

/* A step of an action has failed. That is told as `what`, unless it was the lack of memory. Returns -errno. */
static int action_error(const struct hist_parse *p, int err, enum hist_err what, const char *at)
{
	return err == -ENOMEM ? err : hist_error(p, what, at);
}

/* A field of this event becomes a variable that nobody named. Returns its number or -errno. */
static int add_field_var(struct hist_parse *p, const char *name, enum hist_var_kind kind)
{
	struct hist_field *f = hist_parse_atom(p, name);

	if (!IS_ERR(f))
		return hist_add_var(p, name, f, kind);
	return PTR_ERR(f);
}

/*
 * A field of the event that onmatch names: a histogram is made there that keeps it in a variable "synthetic_NAME".
 * ERR_PTR after an error was told.
 */
static struct hist *add_remote_var(struct hist_parse *p, const char *system, const char *event, const char *name,
				   const char *param, unsigned *n)
{
	struct trace_event_file *file = trace_event_find_any(p->file->tr->events, system, event);
	struct hist_trigger *like;
	struct hist *owner;
	int err = 0;
	char *var;

	if (!file)
		return ERR_PTR(hist_error(p, HIST_ERR_EVENT_FILE_NOT_FOUND, param));
	like = hist_find_compatible(p->hist, file);
	if (!like)
		return ERR_PTR(hist_error(p, HIST_ERR_HIST_NOT_FOUND, param));
	var = kasprintf(GFP_KERNEL, "synthetic_%s", name);
	if (!var)
		return ERR_PTR(-ENOMEM);
	owner = hist_find_on_event(file, var, n);
	if (!owner) {
		err = hist_add_automatic(like, name);
		owner = hist_find_on_event(file, var, n);
	}
	kfree(var);
	return owner ?: ERR_PTR(action_error(p, err, HIST_ERR_HIST_CREATE_FAIL, param));
}

/* Has the event this field? The part of `name` behind a dot does not count. All events have the common fields. */
static bool has_field(const struct trace_event_file *file, const char *name)
{
	size_t len = strcspn(name, ".");

	for (const struct trace_event_field *f = trace_event_fields(file->call); f->name; f++)
		if (!strncmp(f->name, name, len) && !f->name[len])
			return true;
	return !strncmp(name, "common_", 7);
}

/*
 * The variable that a parameter of trace() means: "$VAR" is looked for here, and then at the event that onmatch names.
 * Another name is a field: of this event, if it has one of that name, else of the event that onmatch names. A field
 * becomes a variable. Returns the variable's owner and its number in *n, or ERR_PTR after an error was told.
 */
static struct hist *find_param(struct hist_parse *p, const struct hist_action *a, const char *param, unsigned *n)
{
	const struct trace_event_call *call = p->file->call;
	struct hist *h = p->hist, *owner;
	struct hist_name name = {};
	const char *system, *event;
	bool here;
	int var;

	var = hist_split_name(&name, param);
	if (var)
		return ERR_PTR(var);
	here = !name.system || (!strcmp(name.system, call->class->system) && !strcmp(name.event, call->name));
	system = name.system ?: a->system; /* NULL for onmax and onchange */
	event = name.system ? name.event : a->event;
	if (*name.name == '$') {
		if (here && hist_find_var(h, name.name + 1, n))
			return h;
		owner = hist_resolve(p, system, event, name.name + 1, n);
		return owner ?: ERR_PTR(hist_error(p, HIST_ERR_PARAM_NOT_FOUND, param));
	}
	if (!here || (!has_field(p->file, name.name) && system)) {
		if (!system)
			return ERR_PTR(-EINVAL);
		return add_remote_var(p, system, event, name.name, param, n);
	}
	var = add_field_var(p, name.name, VAR_PARAM);
	if (var < 0)
		return ERR_PTR(action_error(p, var, HIST_ERR_FIELD_VAR_PARSE_FAIL, param));
	*n = var;
	return h;
}

/* Each parameter becomes a reference to a variable, of this histogram or of another one, and must fit its field. */
static int create_trace(struct hist_parse *p, struct hist_action *a)
{
	struct synth_event *synth = synth_event_find(a->name);
	unsigned n;

	if (!synth)
		return hist_error(p, HIST_ERR_SYNTH_EVENT_NOT_FOUND, a->name);
	a->synth = synth;
	synth_event_hold(synth);
	for (unsigned i = 0; i < a->nr_params; i++) {
		struct hist *owner = find_param(p, a, a->params[i], &n);
		const struct hist_field *f;
		int ref;

		if (IS_ERR(owner))
			return PTR_ERR(owner);
		f = owner->vars[n].value;
		if (!f || !synth_event_takes(synth, i, f->type, f->size, f->is_signed, f->is_text, f->is_stack))
			return hist_error(p, HIST_ERR_SYNTH_TYPE_MISMATCH, a->params[i]);
		ref = hist_add_ref(p->hist, owner, n);
		if (ref < 0)
			return ref;
		a->refs[i] = ref;
	}
	if (a->nr_params != synth_event_nr_fields(synth))
		return hist_error(p, HIST_ERR_SYNTH_COUNT_MISMATCH, a->name);
	return 0;
}

/* Fields that are saved are variables of this histogram, and it has room for one such set. 0 or -errno. */
static int create_save(struct hist_parse *p, struct hist_action *a)
{
	for (unsigned i = 0; i < p->hist->nr_vars; i++)
		if (p->hist->vars[i].kind == VAR_SAVED) {
			hist_error(p, HIST_ERR_TOO_MANY_SAVE_ACTIONS, NULL);
			return -EEXIST;
		}
	for (unsigned i = 0; i < a->nr_params; i++) {
		int err = add_field_var(p, a->params[i], VAR_SAVED);

		if (err < 0)
			return action_error(p, err, HIST_ERR_FIELD_VAR_CREATE_FAIL, a->params[i]);
	}
	return 0;
}

/* The buffer for a snapshot is allocated now: a hit cannot. */
static int create_snapshot(struct hist_parse *p, struct hist_action *a)
{
	int ret = -ENOMEM;

	a->snapshot = kzalloc(sizeof(*a->snapshot), GFP_KERNEL);
	if (a->snapshot)
		ret = tracing_arm_snapshot(p->file->tr);
	if (!ret)
		a->armed = p->file->tr;
	else if (ret == -EBUSY)
		hist_note(p, trace_rings_are_mapped, NULL);
	return ret;
}

/* onmax($var) and onchange($var): the variable is one of this histogram, and another one keeps what it was. */
static int create_tracking(struct hist_parse *p, struct hist_action *a)
{
	unsigned n;
	int var;

	if (*a->tracked != '$')
		return hist_error(p, HIST_ERR_ONX_NOT_VAR, a->tracked);
	if (!hist_find_var(p->hist, a->tracked + 1, &n) || p->hist->vars[n].value->is_text ||
	    p->hist->vars[n].value->is_stack)
		return hist_error(p, HIST_ERR_ONX_VAR_NOT_FOUND, a->tracked + 1);
	var = hist_add_ref(p->hist, p->hist, n);
	if (var < 0)
		return var;
	a->tracked_ref = var;
	var = hist_add_var(p, a->handler == ONMAX ? "__max" : "__change", NULL, VAR_TRACKED);
	if (var < 0)
		return action_error(p, var, HIST_ERR_ONX_VAR_CREATE_FAIL, NULL);
	a->track_var = var;
	return 0;
}

/* In their order, since one may use a variable that the one before has added. */
int hist_create_actions(struct hist_parse *p)
{
	int err = 0;

	for (unsigned i = 0; i < p->hist->nr_actions && !err; i++) {
		struct hist_action *a = p->hist->actions[i];

		if (a->handler != ONMATCH)
			err = create_tracking(p, a);
		if (!err)
			err = a->kind == ACTION_TRACE	   ? create_trace(p, a)
			      : a->kind == ACTION_SNAPSHOT ? create_snapshot(p, a)
							   : create_save(p, a);
	}
	return err;
}

/* ---- Hits: any context, preemption off */

/*
 * Is this value the one to act for, instead of `old`? The first value of a key is compared with 0, as in Linux: onmax
 * acts for it unless it is 0.
 */
static bool is_news(const struct hist_action *a, u64 value, u64 old)
{
	return a->handler == ONMAX ? value > old : value != old;
}

/*
 * Keep the value, if it is news for this key. Two CPUs may hit the key at once: the exchange lets the greater one win,
 * and for a change the later one.
 */
static bool track(struct hist *h, void *elt, const struct hist_action *a, u64 value)
{
	u64 *word = hist_var(h, elt, a->track_var), old = READ_ONCE(*word);

	do {
		if (!is_news(a, value, old))
			return false;
	} while (!__atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	__atomic_fetch_or(hist_vars_set(h, elt), BIT(a->track_var), __ATOMIC_RELEASE);
	return true;
}

static void run_save(struct hist *h, void *elt, const struct hist_hit *hit)
{
	for (unsigned i = 0; i < h->nr_vars; i++)
		if (h->vars[i].kind == VAR_SAVED)
			hist_set_var(h, elt, i, hit);
}

static void run_trace(const struct hist_action *a, const u64 *refs)
{
	u64 values[HIST_PARAMS_MAX];

	for (unsigned i = 0; i < a->nr_params; i++)
		values[i] = refs[a->refs[i]];
	synth_event_trace(a->synth, values);
}

/*
 * A snapshot is of the whole trace, so only the best value of all keys may take it. Whoever finds another hit at it
 * just now leaves it to that one, which may have interrupted nobody: it is taken for a value of the same moment.
 */
static void run_snapshot(struct hist *h, void *elt, unsigned n, u64 value, bool open)
{
	struct hist_action *a = h->actions[n];
	struct hist_snapshot *s = a->snapshot;
	bool news;

	if (__atomic_exchange_n(&s->busy, 1, __ATOMIC_ACQUIRE))
		return;
	news = is_news(a, value, s->value);
	if (news) {
		s->value = value;
		s->taken = true;
		memcpy(s->key, elt, h->key_size);
		if (h->has_comm)
			memcpy(s->comm, hist_comm(h, elt), sizeof(s->comm));
	}
	__atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
	if (news && open)
		__atomic_fetch_or(&h->snapshots_due, BIT(n), __ATOMIC_RELAXED);
	else if (news)
		tracing_snapshot_instance(h->file->tr);
}

/* Variables are set by now, those of other events in hit->refs. onmax and onchange act for news only. */
void hist_run_actions(struct hist *h, void *elt, const struct hist_hit *hit, bool open)
{
	for (unsigned i = 0; i < h->nr_actions; i++) {
		const struct hist_action *a = h->actions[i];
		u64 value = a->handler == ONMATCH ? 0 : hit->refs[a->tracked_ref];

		if (a->handler != ONMATCH && !track(h, elt, a, value))
			continue;
		if (a->kind == ACTION_TRACE)
			run_trace(a, hit->refs);
		else if (a->kind == ACTION_SAVE)
			run_save(h, elt, hit);
		else
			run_snapshot(h, elt, i, value, open);
	}
}

/* The ring may not be exchanged while a record lies open in it, so these snapshots have waited. */
void hist_take_due(struct hist *h)
{
	if (READ_ONCE(h->snapshots_due) && __atomic_exchange_n(&h->snapshots_due, 0, __ATOMIC_RELAXED))
		tracing_snapshot_instance(h->file->tr);
}
