/* Files below events/: a text that is made, and maybe one that is taken. */
#pragma once

#include <fs/libfs.h>

#include "tracefs/refused.h"
#include "event_file.h"

/* i_private is what the file belongs to; which text it is, its operations say, as they lie in one of these. */
struct event_text {
	struct file_operations fop;
	int (*show)(struct seq_file *m, void *owner); /* event_mutex held, as for the next */
	int (*store)(void *owner, char *text);	      /* white space at the end is cut off. NULL: -EINVAL */
	const struct trace_hint *hint;		      /* what store takes */
};
int event_text_open(struct inode *inode, struct file *file);
ssize_t event_text_write(struct file *file, const char __user *buf, size_t n, loff_t *pos);
#define EVENT_TEXT(show_fn, store_fn, store_hint)     \
	{                                             \
		{.open = event_text_open,             \
		 .read = seq_read,                    \
		 .write = event_text_write,           \
		 .llseek = seq_lseek,                 \
		 .release = single_release},          \
			show_fn, store_fn, store_hint \
	}
/* The hints of what can be written (events/refused.c). */
extern const struct trace_hint event_enable_hint, system_enable_hint, all_enable_hint, event_filter_hint,
	system_filter_hint, event_trigger_hint;
/* Events and systems with names like these. `system` NULL: somebody knows the event's name only. */
void refusal_say_close_events(struct trace_refusal *r, const char *system, const char *event);

/* A file of a directory, and its entry there for `owner`: always true. */
struct event_file_name {
	const char *name;
	mode_t mode;
	const struct event_text *text;
};
bool event_file_entry(struct virtual_entry *e, const struct event_file_name *file, void *owner);

/* events/entries.c */
extern struct virtual_dir trace_entry_dir; /* events/ftrace, the same in every array */
/* Of the records that are no events'; NULL, and *name stays: no such type. */
const struct trace_event_field *trace_entry_fields(unsigned type, const char **name);
