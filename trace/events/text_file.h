/* Files below events/: their kind of text file, and their entries in virtual directories. */
#pragma once

#include <fs/libfs.h>

#include "tracefs/refused.h"
#include "event_file.h"

/* Texts of up to FILTER_TEXT_MAX bytes; event_mutex is held around show and store. */
extern const struct text_kind event_text;
extern const struct text_kind one_event_text; /* of one event, which may go while the file is open */
#define EVENT_TEXT_OF(text, filename, filemode, show_fn, store_fn, store_hint)                           \
	{                                                                                                \
		.path = filename, .mode = filemode, .show = show_fn, .store = store_fn, .kind = &(text), \
		.hint = store_hint                                                                       \
	}
#define EVENT_TEXT(filename, filemode, show_fn, store_fn, store_hint) \
	EVENT_TEXT_OF(event_text, filename, filemode, show_fn, store_fn, store_hint)
/*
 * A file that each event has, besides the common ones, made by another room with EVENT_TEXT_OF(one_event_text, ...).
 * Its owner is the struct trace_event_file.
 */
#define REGISTER_EVENT_FILE(f) REGISTER_IN(event_files, f)
DECLARE_TABLE(event_files, const struct text_file);
/* The hints of what can be written (events/refused.c). */
extern const struct trace_hint event_enable_hint, system_enable_hint, all_enable_hint, event_filter_hint,
	system_filter_hint, event_trigger_hint;
/* Does the array have this event? `system` NULL: in any system. Thread context; takes event_mutex, as the next. */
bool refusal_knows_event(const struct trace_refusal *r, const char *system, const char *event);
/* Says which events and systems have names like these. `system` NULL: only the event's name was given. */
void refusal_say_close_events(struct trace_refusal *r, const char *system, const char *event);

/* What a file below events/ is about: everything, a system, an event. Its owner is the set, the system, the event. */
enum trace_event_level { TRACE_EVENT_LEVEL_ALL, TRACE_EVENT_LEVEL_SYSTEM, TRACE_EVENT_LEVEL_ONE };
/* The file of this name, or NULL. Any context. events/files.c */
const struct text_file *trace_event_text_file(enum trace_event_level level, const char *name);

/* A file as an entry of a directory, for `owner`, which its show and store get. True, so that it can be returned. */
bool event_file_entry(struct virtual_entry *e, const struct text_file *text, void *owner);

/* Number n of an event's files about its triggers: `trigger`, and what other rooms have added. False: there is none. */
bool trigger_file_entry(struct trace_event_file *file, unsigned n, struct virtual_entry *e);

/* events/entries.c */
void trace_entry_dirs_init(struct trace_event_set *set); /* events/ftrace of a new array */
/* Fields and *name of a record that does not belong to an event. NULL, with *name as it was: there is no such type. */
const struct trace_event_field *trace_entry_fields(unsigned type, const char **name);
