/* Files below events/: their kind of text file, and their entries in virtual directories. */
#pragma once

#include <fs/libfs.h>

#include "tracefs/refused.h"
#include "event_file.h"

/* Texts of up to FILTER_TEXT_MAX bytes; event_mutex is held around show and store. */
extern const struct text_kind event_text;
/*
 * For another kind of such texts. refused: a file that is only read has no hint, and nothing more to say than its
 * errno. is_there: 0, or -ENODEV: the event, or the last one of the system, has gone while the file was open. Another
 * one may have its place by now, which is not what was opened. event_mutex held.
 */
ssize_t event_text_refused(const struct file *file, const char *text, const char *why, ssize_t ret);
int event_is_there(const struct file *file);
#define EVENT_TEXT_OF(text, filename, filemode, show_fn, store_fn, store_hint)                           \
	{                                                                                                \
		.path = filename, .mode = filemode, .show = show_fn, .store = store_fn, .kind = &(text), \
		.hint = store_hint                                                                       \
	}
#define EVENT_TEXT(filename, filemode, show_fn, store_fn, store_hint) \
	EVENT_TEXT_OF(event_text, filename, filemode, show_fn, store_fn, store_hint)
/*
 * A file that each event has, besides the common ones, made by another room with EVENT_TEXT.
 * Its owner is the struct trace_event_file.
 */
#define REGISTER_EVENT_FILE(f) REGISTER_IN(event_files, f)
DECLARE_TABLE(event_files, const struct text_file);
/* Subjects of hints (struct trace_hint) for what can be written. The owner is an event, a system, or the whole set. */
#define EVENT_ENABLE  "event enable"
#define SYSTEM_ENABLE "system enable"
#define ALL_ENABLE    "all enable"
#define EVENT_FILTER  "event filter"
#define SYSTEM_FILTER "system filter"
#define EVENT_TRIGGER "event trigger"

/* What a file below events/ is about: everything, a system, an event. Its owner is the set, the system, the event. */
enum trace_event_level { TRACE_EVENT_LEVEL_ALL, TRACE_EVENT_LEVEL_SYSTEM, TRACE_EVENT_LEVEL_ONE };
/* The file of this name, or NULL. Any context. events/files.c */
const struct text_file *trace_event_text_file(enum trace_event_level level, const char *name);

/* A file as an entry of a directory, for `owner`, which its show and store get. True, so that it can be returned. */
bool event_file_entry(struct virtual_entry *e, const struct text_file *text, void *owner);

/* Number n of an event's files that other rooms have added: about its triggers. False: there are fewer. */
bool added_file_entry(struct trace_event_file *file, unsigned n, struct virtual_entry *e);

/* events/entries.c */
void trace_entry_dirs_init(struct trace_event_set *set); /* events/ftrace of a new array */
/* Fields and *name of a record that does not belong to an event. NULL, with *name as it was: there is no such type. */
const struct trace_event_field *trace_entry_fields(unsigned type, const char **name);
