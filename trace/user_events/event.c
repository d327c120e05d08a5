/*
 * The events that programs make: how they come, are found, and go. They are a kind of dynamic events
 * (dynevents/dynevent.h); a line of dynamic_events makes one that stays.
 *
 *	echo 'u:hello u32 count; char[16] who' >> dynamic_events
 *
 * An event is used by each file that has registered it, each place in a program that shows whether it is on, and each
 * array that wants its records. When nothing uses it any more, a work deletes it, unless it is to stay. Until then, and
 * while it is registered again at once, it is still found. Its records stay in the buffers, as on Linux: they can not
 * be printed any more.
 */
#include <fs/proc_fs.h>
#include <fs/text_file.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/capability.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

#include "core/record.h"
#include "events/event_file.h"
#include "output/iter.h"
#include "output/output.h"
#include "tracefs/tracefs.h"
#include "internal.h"

#define SYSTEM	     "user_events"
#define SYSTEM_MULTI "user_events_multi"

static unsigned nr_events;		 /* [e] */
static unsigned user_events_max = 32768; /* sysctl kernel.user_events_max, Linux's value */
static u64 next_multi;			 /* [dyn_event_mutex] the number of the next event of several forms */
struct workqueue_struct *user_events_wq; /* [dyn_event_mutex; I once it is there] */

static void reap_work_fn(struct work_struct *work);
static DECLARE_WORK(reap_work, reap_work_fn);

#define for_each_user_event(e, ev) \
	for_each_dyn_event(ev)     \
		if ((ev)->kind == &user_event_kind && ((e) = user_event_of(ev)))

/* ---- Who uses it */

void user_events_reap_later(void)
{
	queue_work(user_events_wq, &reap_work);
}

void user_event_put(struct user_event *e)
{
	if (atomic_dec_and_test(&e->refs) && !(e->flags & USER_EVENT_REG_PERSIST))
		user_events_reap_later();
}

/* An event that stays is a matter of those who may measure the whole machine. */
static bool may_persist(u16 flags)
{
	return !(flags & USER_EVENT_REG_PERSIST) || capable(CAP_PERFMON) || capable(CAP_SYS_ADMIN);
}

/* ---- Arrays that want the records: event_mutex held */

static struct user_event *user_event_of_call(const struct trace_event_call *call)
{
	return container_of(call, struct user_event, call);
}

static int add_listener(struct user_event *e, struct trace_event_file *file)
{
	struct user_event_listener *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return -ENOMEM;
	atomic_inc(&e->refs);
	l->file = file;
	l->next = e->listeners;
	smp_store_release(&e->listeners, l);
	if (!l->next)
		user_programs_update(e);
	return 0;
}

static void remove_listener(struct user_event *e, const struct trace_event_file *file)
{
	struct user_event_listener **at = &e->listeners, *l;

	while ((*at)->file != file)
		at = &(*at)->next;
	l = *at;
	smp_store_release(at, l->next);
	if (at == &e->listeners && !l->next) /* it was the last */
		user_programs_update(e);
	synchronize_rcu();
	kfree(l);
	user_event_put(e);
}

/* The event's class->reg. */
static int user_event_reg(struct trace_event_file *file, bool on)
{
	struct user_event *e = user_event_of_call(file->call);

	if (on)
		return add_listener(e, file);
	remove_listener(e, file);
	return 0;
}

/* A record has whole words, and what fills the last one is zero. */
static void record_for(struct trace_event_file *file, const char *payload, size_t n)
{
	const size_t head = sizeof(struct trace_entry), whole = ALIGN(head + n, 4);
	struct trace_event_buffer buffer;
	char *record = trace_event_begin(&buffer, file, whole);

	if (!record)
		return;
	memset(record + whole - 4, 0, 4 * (whole > head));
	memcpy(record + head, payload, n);
	trace_event_end(&buffer, (unsigned long)__builtin_frame_address(0));
}

bool user_event_record(const struct user_event *e, const char *payload, size_t n)
{
	const struct user_event_listener *first, *l;

	preempt_disable_notrace();
	first = smp_load_acquire(&e->listeners);
	for (l = first; l; l = smp_load_acquire(&l->next))
		record_for(l->file, payload, n);
	preempt_enable_notrace();
	return first;
}

/* ---- Making one */

static void free_event(struct user_event *e)
{
	if (e->name != e->reg_name)
		kfree(e->name);
	kfree(e->reg_name);
	kfree(e->words);
	kfree(e->definition);
	kfree(e->print_fmt);
	kfree(e->table);
	kfree(e);
}

/*
 * The event joins all arrays. Texts of records are those of the option `fields`: what programs say of their records is
 * not believed to be a format.
 */
static int publish(struct user_event *e)
{
	int err;

	e->class = (struct trace_event_class){
		.system = e->flags & USER_EVENT_REG_MULTI_FORMAT ? SYSTEM_MULTI : SYSTEM,
		.print = trace_print_fields,
		.names_itself = true,
		.reg = user_event_reg,
	};
	e->call = (struct trace_event_call){
		.name = e->name, .class = &e->class, .fields = e->table, .print_fmt = e->print_fmt, .pins = &e->pins};
	if (nr_events >= READ_ONCE(user_events_max))
		return -EMFILE;
	err = trace_late_event_add(&e->call);
	if (err)
		return err;
	trace_late_events_ready();
	dyn_event_add(&e->dyn, &user_event_kind);
	nr_events++;
	return 0;
}

/* [both mutexes] The event of this name and these fields, which is not there yet. With a reference. */
static int create(const char *name, const char *fields, u16 flags, struct user_event **made)
{
	struct user_event *e = kzalloc(sizeof(*e), GFP_KERNEL);
	int err = -ENOMEM;

	if (!e)
		return -ENOMEM;
	e->flags = flags;
	atomic_set(&e->refs, 1);
	e->reg_name = e->name = kasprintf(GFP_KERNEL, "%s", name);
	if (e->name && flags & USER_EVENT_REG_MULTI_FORMAT)
		e->name = kasprintf(GFP_KERNEL, "%s.%llx", name, (unsigned long long)next_multi);
	if (e->name && strlen(e->name) > NAME_MAX) {
		err = -EINVAL;
	} else if (e->name) {
		next_multi += e->name != e->reg_name;
		err = user_event_parse_fields(e, fields) ?: publish(e);
	}
	if (err)
		free_event(e);
	else
		*made = e;
	return err;
}

/*
 * [both mutexes] The event with this name and form. A name has one form, or any number of them (MULTI_FORMAT). NULL
 * when the name is free, ERR_PTR(-EADDRINUSE) when it has another form.
 */
static struct user_event *find(const char *name, const char *definition, u16 flags)
{
	bool multi = flags & USER_EVENT_REG_MULTI_FORMAT;
	struct user_event *e;
	struct dyn_event *ev;

	for_each_user_event(e, ev)
	{
		if (strcmp(e->reg_name, name) || !(e->flags & USER_EVENT_REG_MULTI_FORMAT) == multi)
			continue;
		if (!strcmp(e->definition, definition))
			return e;
		if (!multi)
			return ERR_PTR(-EADDRINUSE);
	}
	return NULL;
}

/* [both mutexes] */
static int find_or_create(const char *name, const char *fields, u16 flags, struct user_event **found)
{
	char *definition = user_event_canonical(fields);
	struct user_event *e;

	if (!definition)
		return -ENOMEM;
	e = find(name, definition, flags);
	kfree(definition);
	if (IS_ERR(e))
		return PTR_ERR(e);
	if (!e)
		return create(name, fields, flags, found);
	atomic_inc(&e->refs);
	*found = e;
	return 0;
}

static void reap(void);

/* May an event have this name? It is that of a directory, beside two files of the system's. */
static bool name_is_good(const char *name)
{
	static const char *const taken[] = {".", "..", "enable", "filter"};

	for (unsigned i = 0; i < ARRAY_SIZE(taken); i++)
		if (!strcmp(name, taken[i]))
			return false;
	return strlen(name) <= NAME_MAX && user_event_is_clean(name, "/:");
}

/* Text flags, which a colon begins, are not known yet. */
int user_event_open(const char *text, u16 flags, struct user_event **found)
{
	size_t len = strcspn(text, " ");
	char *name = kstrndup(text, len, GFP_KERNEL);
	int err = -ENOMEM;

	if (!user_events_wq)
		user_events_wq = alloc_workqueue("user_events", WQ_UNBOUND, 1);
	if (!name || !user_events_wq)
		goto free;
	err = -EINVAL;
	if (!name_is_good(name))
		goto free;
	err = -EPERM;
	if (!may_persist(flags))
		goto free;
	mutex_lock(&event_mutex);
	reap();
	err = find_or_create(name, text + len, flags, found);
	mutex_unlock(&event_mutex);
free:
	kfree(name);
	return err;
}

/* ---- Deleting: both mutexes held */

static bool is_call(const struct trace_event_call *call, const void *data)
{
	return call == data;
}

/* Nothing uses it. -EBUSY: a trigger of another event names it. `empty`: buffers with records of it are emptied. */
static int destroy(struct user_event *e, bool empty)
{
	if (trace_late_event_is_busy(&e->call))
		return -EBUSY;
	(empty ? trace_late_events_remove : trace_late_events_retire)(is_call, &e->call);
	dyn_event_remove(&e->dyn);
	nr_events--;
	synchronize_rcu();
	free_event(e);
	return 0;
}

/* What programs have left that have ended, and events that nothing uses. */
static void reap(void)
{
	struct dyn_event *ev, *next;

	user_programs_reap();
	list_for_each_entry_safe(ev, next, &dyn_events, list) {
		struct user_event *e = user_event_of(ev);

		if (ev->kind == &user_event_kind && !(e->flags & USER_EVENT_REG_PERSIST) && !atomic_read(&e->refs))
			destroy(e, false);
	}
}

static void reap_work_fn(struct work_struct *work)
{
	mutex_lock(&dyn_event_mutex);
	mutex_lock(&event_mutex);
	reap();
	mutex_unlock(&event_mutex);
	mutex_unlock(&dyn_event_mutex);
}

static int delete (struct user_event *e, bool empty)
{
	if (atomic_read(&e->refs))
		return -EBUSY;
	return may_persist(e->flags) ? destroy(e, empty) : -EPERM;
}

/* All forms of the name, up to one that cannot go. */
int user_event_delete(const char *name)
{
	struct dyn_event *ev, *next;
	int err = -ENOENT;

	mutex_lock(&event_mutex);
	user_programs_reap();
	list_for_each_entry_safe(ev, next, &dyn_events, list) {
		if (ev->kind != &user_event_kind || strcmp(user_event_of(ev)->reg_name, name))
			continue;
		err = delete (user_event_of(ev), false);
		if (err)
			break;
	}
	mutex_unlock(&event_mutex);
	return err;
}

/* ---- Lines of dynamic_events */

/* "u:NAME [FIELDS]" */
static int user_event_create(struct dyn_command *c)
{
	const char *text = c->raw + 2;
	struct user_event *e;
	int err;

	if (strncmp(c->raw, "u:", 2))
		return DYN_NOT_MINE;
	while (isspace(*text))
		text++;
	err = user_event_open(text, USER_EVENT_REG_PERSIST, &e);
	if (!err) {
		mutex_lock(&event_mutex);
		user_event_put(e);
		mutex_unlock(&event_mutex);
	}
	if (err == -EINVAL)
		return dyn_refuse_raw(c, text, "Command must be of the form: u:NAME [TYPE FIELD[; TYPE FIELD]...]");
	if (err == -EADDRINUSE)
		dyn_refuse_raw(c, text, "The name is in use for an event with other fields");
	if (err == -EMFILE)
		dyn_refuse_raw(c, text, "There are as many events as kernel.user_events_max allows");
	return err;
}

static void user_event_show(struct seq_file *m, struct dyn_event *ev)
{
	const struct user_event *e = user_event_of(ev);

	seq_printf(m, "u:%s%s%s\n", e->reg_name, *e->definition ? " " : "", e->definition);
}

static bool user_event_is_busy(struct dyn_event *ev)
{
	return atomic_read(&user_event_of(ev)->refs) || trace_late_event_is_busy(&user_event_of(ev)->call);
}

static int user_event_free(struct dyn_event *ev)
{
	return delete (user_event_of(ev), true);
}

/* Is the definition made of these words? */
static bool has_words(const struct user_event *e, char **words)
{
	size_t size = 1, n = 0;
	char *text, *definition = NULL;
	bool same;

	for (char **w = words; *w; w++)
		size += strlen(*w) + 1;
	text = kzalloc(size, GFP_KERNEL);
	for (char **w = words; text && *w; w++)
		n += scnprintf(text + n, size - n, "%s ", *w);
	if (text)
		definition = user_event_canonical(text);
	same = definition && !strcmp(definition, e->definition);
	kfree(definition);
	kfree(text);
	return same;
}

/* As on Linux, all fields must be said: one name may have several forms. */
static bool user_event_match(const struct dyn_event *ev, const char *group, const char *event, char **rest)
{
	const struct user_event *e = user_event_of(ev);

	return (!group || !strcmp(group, SYSTEM) || !strcmp(group, SYSTEM_MULTI)) && !strcmp(event, e->reg_name) &&
	       has_words(e, rest);
}

const struct dyn_event_kind user_event_kind = {
	.log = "user_events",
	.create = user_event_create,
	.show = user_event_show,
	.is_busy = user_event_is_busy,
	.free = user_event_free,
	.match = user_event_match,
};
REGISTER_DYN_EVENT_KIND(user_event_kind);

/* ---- user_events_status, and the limit */

/* All events that programs can find by their names, in the order in which they were made. */
static int user_events_status_show(struct seq_file *m, void *data)
{
	unsigned active = 0, busy = 0;
	struct user_event *e;
	struct dyn_event *ev;

	mutex_lock(&event_mutex);
	for_each_user_event(e, ev)
	{
		bool on = user_event_is_on(e);

		seq_printf(m, "%s%s\n", e->name, on ? " # Used by ftrace" : "");
		active++;
		busy += on;
	}
	mutex_unlock(&event_mutex);
	seq_printf(m, "\nActive: %u\nBusy: %u\n", active, busy);
	return 0;
}
TRACEFS_TEXT_FILE(user_events_status, "user_events_status", 0440, TRACEFS_TOP, user_events_status_show, NULL);

static int user_events_max_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(user_events_max));
	return 0;
}

/* A limit below the number of events that are there deletes none of them. */
static int user_events_max_store(char *text, void *data)
{
	unsigned max;
	int err = sysctl_number(text, &max);

	if (!err)
		WRITE_ONCE(user_events_max, max);
	return err;
}
static const struct text_file user_events_max_entry = {
	.path = "sys/kernel/user_events_max",
	.mode = 0644,
	.show = user_events_max_show,
	.store = user_events_max_store,
};
REGISTER_PROC(user_events_max_entry);
