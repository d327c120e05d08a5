/*
 * The directory events/, and the files of an event, a system and all of them.
 *
 * There are some hundred events and an array for each instance, so the directories are virtual (struct virtual_dir):
 * an entry is made from the table below when a program looks at it, and takes no memory before. i_private is the
 * event, the system or the set that a file belongs to. event_mutex is held around the functions of each text
 * (event_text).
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "text_file.h"

ssize_t event_text_refused(const struct file *file, const char *text, const char *why, ssize_t ret)
{
	return file->f_inode->i_text->hint ? tracefs_text_refused(file, text, why, ret) : ret;
}

int event_is_there(const struct file *file)
{
	return virtual_dir_is_there(file) ? 0 : -ENODEV;
}

const struct text_kind event_text = {
	.max = FILTER_TEXT_MAX, .lock = &event_mutex, .check = event_is_there, .refused = event_text_refused};

/* ---- enable */

/* 0 and 1 alone; Linux takes nothing else either. */
static int parse_switch(const char *text, bool *on)
{
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	*on = val;
	return ret ? ret : val > 1 ? -EINVAL : 0;
}

static int event_enable_show(struct seq_file *m, void *owner)
{
	const struct trace_event_file *file = owner;

	/* The star: a probe may switch it. */
	seq_printf(m, "%d%s\n", trace_event_is_on(file), file->soft_users ? "*" : "");
	return 0;
}

/* trace_events_complete() is called after an error too, because a part of the change may have been made. */
static int event_enable_store(char *text, void *owner)
{
	struct trace_event_file *file = owner;
	bool on;
	int ret = parse_switch(text, &on);

	if (ret)
		return ret;
	ret = trace_event_enable_later(file, on);
	trace_events_complete(file->tr->events);
	return ret;
}

/* 0, 1, or X: some are on. */
static void show_enabled(struct seq_file *m, struct trace_event_set *set, const struct trace_event_match *match)
{
	unsigned seen[2] = {};
	struct trace_event_file *file;

	for_each_event(set, file)
		if (trace_event_matches(file, match))
			seen[!!(file->flags & EVENT_FILE_ENABLED)]++;
	seq_puts(m, seen[0] && seen[1] ? "X\n" : seen[1] ? "1\n" : "0\n");
}

static int system_enable_show(struct seq_file *m, void *owner)
{
	const struct trace_event_system *system = owner;

	show_enabled(m, system->set, &(struct trace_event_match){.system = system->name});
	return 0;
}

/* All events of the system, or none: trace_events_enable() undoes what it has switched when one fails. */
static int system_enable_store(char *text, void *owner)
{
	const struct trace_event_system *system = owner;
	bool on;

	return parse_switch(text, &on)
		       ?: trace_events_enable(system->set, &(struct trace_event_match){.system = system->name}, on);
}

static int all_enable_show(struct seq_file *m, void *owner)
{
	show_enabled(m, owner, &(struct trace_event_match){});
	return 0;
}

/* The same for all events there are. */
static int all_enable_store(char *text, void *owner)
{
	bool on;

	return parse_switch(text, &on) ?: trace_events_enable(owner, &(struct trace_event_match){}, on);
}

/* ---- filter */

static int event_filter_show(struct seq_file *m, void *owner)
{
	trace_event_show_filter(m, owner);
	return 0;
}

static int event_filter_store(char *text, void *owner)
{
	return trace_event_set_filter(owner, text);
}

static int system_filter_show(struct seq_file *m, void *owner)
{
	trace_system_show_filter(m, owner);
	return 0;
}

static int system_filter_store(char *text, void *owner)
{
	return trace_system_set_filter(owner, text);
}

/* ---- What does not change */

static int event_id_show(struct seq_file *m, void *owner)
{
	seq_printf(m, "%d\n", ((const struct trace_event_file *)owner)->type);
	return 0;
}

/* What programs parse to read raw records: an event may bring its own text for printing, else its class has one. */
static int event_format_show(struct seq_file *m, void *owner)
{
	const struct trace_event_file *file = owner;
	const struct trace_event_call *call = file->call;

	trace_show_format(m, call->name, file->type, trace_event_fields(call), call->class->system,
			  call->print_fmt ? call->print_fmt : call->class->print_fmt);
	return 0;
}

static int header_page_show(struct seq_file *m, void *owner)
{
	const struct trace_event_set *set = owner;

	seq_printf(m, ring_buffer_header_page, ring_buffer_page_size(set->tr->buffer) - (unsigned)RB_PAGE_HEAD);
	return 0;
}

static int header_event_show(struct seq_file *m, void *owner)
{
	seq_puts(m, ring_buffer_header_event);
	return 0;
}

/* ---- Directories */

#define EVENT_SWITCH(show_fn, store_fn, store_hint)                                                \
	{                                                                                          \
		.path = "enable", .mode = 0640, .show = show_fn, .store = store_fn, .exact = true, \
		.kind = &event_text, .hint = store_hint                                            \
	}
static const struct text_file of_event[] = {
	EVENT_SWITCH(event_enable_show, event_enable_store, EVENT_ENABLE),
	EVENT_TEXT("filter", 0640, event_filter_show, event_filter_store, EVENT_FILTER),
	EVENT_TEXT("format", 0440, event_format_show, NULL, NULL),
	EVENT_TEXT("id", 0440, event_id_show, NULL, NULL),
};
static const struct text_file of_system[] = {
	EVENT_SWITCH(system_enable_show, system_enable_store, SYSTEM_ENABLE),
	EVENT_TEXT("filter", 0640, system_filter_show, system_filter_store, SYSTEM_FILTER),
};
static const struct text_file of_all[] = {
	EVENT_SWITCH(all_enable_show, all_enable_store, ALL_ENABLE),
	EVENT_TEXT("header_event", 0440, header_event_show, NULL, NULL),
	EVENT_TEXT("header_page", 0440, header_page_show, NULL, NULL),
};

/* A file in the folder of an event: one of this file's, or one that another room has registered. */
const struct text_file *trace_event_text_file(enum trace_event_level level, const char *name)
{
	const struct text_file *added;
	static const struct {
		const struct text_file *files;
		unsigned nr;
	} of[] = {{of_all, ARRAY_SIZE(of_all)}, {of_system, ARRAY_SIZE(of_system)}, {of_event, ARRAY_SIZE(of_event)}};

	for (unsigned i = 0; i < of[level].nr; i++)
		if (!strcmp(of[level].files[i].path, name))
			return &of[level].files[i];
	if (level == TRACE_EVENT_LEVEL_ONE)
		for_each_in_table(event_files, added)
			if (!strcmp(added->path, name))
				return added;
	return NULL;
}

bool event_file_entry(struct virtual_entry *e, const struct text_file *text, void *owner)
{
	*e = (struct virtual_entry){.name = text->path, .mode = text->mode, .text = text, .data = owner};
	return true;
}

bool added_file_entry(struct trace_event_file *file, unsigned n, struct virtual_entry *e)
{
	return n < (unsigned)(__stop_ptrs_event_files - __start_ptrs_event_files) &&
	       event_file_entry(e, __start_ptrs_event_files[n], file);
}

/* Entry number n of an event's directory: files alone, those of other rooms after our own. */
static bool event_entry(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	struct trace_event_file *file = container_of(dir, struct trace_event_file, dir);

	if (n < ARRAY_SIZE(of_event))
		return event_file_entry(e, &of_event[n], file);
	return added_file_entry(file, n - ARRAY_SIZE(of_event), e);
}

/*
 * The n-th late event of the system. No lock is held: an event that comes or goes meanwhile moves
 * the others, and whether a name is still there is checked when it is used (late_event_is_there).
 */
static bool late_event_entry(struct trace_event_system *system, unsigned n, struct virtual_entry *e)
{
	struct trace_event_set *set = system->set;

	for (unsigned i = 0; i < ROOM_FOR_LATE_EVENTS; i++) {
		const struct trace_late_place *place = &set->late_places[i];

		if (smp_load_acquire(&place->system) != system || n--)
			continue;
		*e = (struct virtual_entry){
			.name = place->name, .mode = 0750, .dir = &set->files[trace_nr_events() + i].dir};
		return true;
	}
	return false;
}

/* A name that was looked up before may belong to an event that had this place earlier, in this system or another. */
static bool late_event_is_there(const struct virtual_dir *dir, const struct dentry *d)
{
	const struct trace_event_file *file = container_of(dir, struct trace_event_file, dir);
	const struct trace_event_set *set = file->tr->events;
	const struct trace_late_place *place = &set->late_places[file - set->files - trace_nr_events()];
	const struct trace_event_system *system = smp_load_acquire(&place->system);

	return system && d->d_parent->d_inode->i_private == &system->dir && !strcmp(place->name, d->d_name.name);
}

static bool late_system_is_there(const struct virtual_dir *dir, const struct dentry *d)
{
	const struct trace_event_system *system = container_of(dir, struct trace_event_system, dir);

	return READ_ONCE(system->nr_late_events) && !strcmp(READ_ONCE(system->name), d->d_name.name);
}

/* Entry number n of a system's directory: its own files, and behind them a directory for each of its events. */
static bool system_entry(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	struct trace_event_system *system = container_of(dir, struct trace_event_system, dir);

	if (n < ARRAY_SIZE(of_system))
		return event_file_entry(e, &of_system[n], system);
	n -= ARRAY_SIZE(of_system);
	if (n >= system->nr_files)
		return late_event_entry(system, n - system->nr_files, e);
	*e = (struct virtual_entry){.name = system->files[n]->call->name, .mode = 0750, .dir = &system->files[n]->dir};
	return true;
}

/*
 * Entry number n of events/: its own files, a directory for each system, and last the one of the tracers' own records.
 */
static bool all_entry(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	struct trace_event_set *set = container_of(dir, struct trace_event_set, dir);

	if (n < ARRAY_SIZE(of_all))
		return event_file_entry(e, &of_all[n], set);
	n -= ARRAY_SIZE(of_all);
	for (unsigned i = 0; i < smp_load_acquire(&set->nr_systems); i++) {
		struct trace_event_system *system = &set->systems[i];

		if ((!system->nr_files && !READ_ONCE(system->nr_late_events)) || n--)
			continue;
		*e = (struct virtual_entry){.name = READ_ONCE(system->name), .mode = 0750, .dir = &system->dir};
		return true;
	}
	*e = (struct virtual_entry){.name = "ftrace", .mode = 0750, .dir = &set->entries_dir};
	return !n;
}

/* Only events/ itself is made; what is below comes when it is asked for. */
static int create_event_files(struct trace_array *tr)
{
	struct trace_event_set *set = tr->events;
	struct dentry *d;

	set->dir.entry = all_entry;
	trace_entry_dirs_init(set);
	/*
	 * With those that may come: there cannot be more systems than events. A system without events of the kernel
	 * may go, also one that has come before this array.
	 */
	for (unsigned i = 0; i < set->nr_files; i++) {
		set->systems[i].dir.entry = system_entry;
		if (!set->systems[i].nr_files)
			set->systems[i].dir.is_there = late_system_is_there;
		set->files[i].dir.entry = event_entry;
	}
	for (unsigned i = 0; i < ROOM_FOR_LATE_EVENTS; i++)
		set->files[trace_nr_events() + i].dir.is_there = late_event_is_there;
	d = virtual_dir_create(tr->dir, "events", 0750, &set->dir);
	return IS_ERR(d) ? (int)PTR_ERR(d) : 0;
}

static const struct trace_part event_files_part = {.make_files = create_event_files};
REGISTER_TRACE_PART(event_files_part);
