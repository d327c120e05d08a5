/*
 * events/ftrace: the formats of the records that do not belong to events, for programs that read raw records, such as
 * trace-cmd.
 *
 * core/entries.h lists those records. It is included twice here: first it becomes a table of fields for each record,
 * and then the table of all records. The files are the same in all arrays, but for those of triggers on `print`.
 */
#include <lib/string.h>

#include "text_file.h"

/* A directory events/ftrace/NAME. */
struct trace_entry_format {
	struct virtual_dir dir;
	const char *name;
	unsigned type;
	const struct trace_event_field *(*fields)(void);
	const char *print_fmt;
};

/* ---- From core/entries.h: tables of fields, then the table of types */

#define F_STRUCT(...)	   __VA_ARGS__
#define F_PRINTK(fmt, ...) __stringify(fmt) ", " __stringify(__VA_ARGS__)

#define ENTRY_FIELD(text, item, bytes, is_signed) {text, #item, offsetof(record, item), bytes, is_signed, FILTER_NONE},
#define __field(type, item)			  ENTRY_FIELD(#type, item, sizeof(type), is_signed_type(type))
#define __array(type, item, len)		  __stack_array(type, item, len)
#define __dynamic_array(type, item)		  ENTRY_FIELD(#type "[]", item, 0, is_signed_type(type))
#define __stack_array(type, item, len) \
	ENTRY_FIELD(#type "[" __stringify(len) "]", item, (len) * sizeof(type), is_signed_type(type))
#define __hidden_array(type, item)
#define FTRACE_ENTRY(name, struct_name, id, number, fields, print)               \
	static notrace const struct trace_event_field *entry_fields_##name(void) \
	{                                                                        \
		typedef struct struct_name record;                               \
		static const struct trace_event_field table[] = {fields{}};      \
		return table;                                                    \
	}
#define FTRACE_ENTRY_SAME   FTRACE_ENTRY
#define FTRACE_ENTRY_PACKED FTRACE_ENTRY
#include "core/entries.h"
#undef FTRACE_ENTRY
#undef F_STRUCT

static bool entry_file(struct virtual_dir *dir, unsigned n, struct virtual_entry *e);

#define FTRACE_ENTRY(entry, struct_name, id, number, tstruct, text) \
	{{entry_file, NULL}, #entry, id, entry_fields_##entry, text},
static struct trace_entry_format formats[] = {
#include "core/entries.h"
};

/* The fields of a record of this type, for the option `fields`; NULL when it is an event's type or unknown. */
const struct trace_event_field *trace_entry_fields(unsigned type, const char **name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i].type == type) {
			*name = formats[i].name;
			return formats[i].fields();
		}
	return NULL;
}

/* ---- Files */

static int entry_format_show(struct seq_file *m, void *owner)
{
	const struct trace_entry_format *format = owner;

	trace_show_format(m, format->name, format->type, format->fields(), "ftrace", format->print_fmt);
	return 0;
}

static int entry_id_show(struct seq_file *m, void *owner)
{
	seq_printf(m, "%u\n", ((const struct trace_entry_format *)owner)->type);
	return 0;
}

static bool entry_file(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	static const struct text_file files[] = {
		EVENT_TEXT("format", 0440, entry_format_show, NULL, NULL),
		EVENT_TEXT("id", 0440, entry_id_show, NULL, NULL),
	};

	return n < ARRAY_SIZE(files) &&
	       event_file_entry(e, &files[n], container_of(dir, struct trace_entry_format, dir));
}

/* Entry number n of events/ftrace/print: those of any record, and behind them those of triggers. */
static bool print_file(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	unsigned at = 0;

	while (formats[at].type != TRACE_PRINT)
		at++;
	if (entry_file(&formats[at].dir, n, e))
		return true;
	for (at = 0; entry_file(&formats[0].dir, at, e);)
		at++;
	return added_file_entry(container_of(dir, struct trace_event_file, dir), n - at, e);
}

/* Entry number n of events/ftrace: a directory for each kind of record. */
static bool entry_dir(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	struct trace_event_set *set = container_of(dir, struct trace_event_set, entries_dir);

	if (n >= ARRAY_SIZE(formats))
		return false;
	*e = (struct virtual_entry){.name = formats[n].name, .mode = 0750, .dir = &formats[n].dir};
	if (formats[n].type == TRACE_PRINT)
		e->dir = &set->print.dir;
	return true;
}

void trace_entry_dirs_init(struct trace_event_set *set)
{
	set->entries_dir.entry = entry_dir;
	set->print.dir.entry = print_file;
}
