/*
 * What programs say of their events: "u32 count; __rel_loc char[] text; struct sample s 20". The rules are Linux's:
 * between the words of a field stands one blank, types have a known size (long has none), and a structure's size
 * follows its name.
 *
 * Fields lie in the record one behind the other, without gaps, as the program writes them. A field of a word that says
 * where a string lies is checked in each record (user_event_is_valid), because filters and texts trust it.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/trace_event_probe.h>

#include "internal.h"

#define HEAD	  sizeof(struct trace_entry)
#define ARRAY_MAX 1024	 /* bytes of a char[], as in Linux */
#define END_MAX	  0xffff /* a field ends there at the latest: offsets and sizes have 16 bits */

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* At most one blank comes with each character. The last semicolon of a list of fields may be left out. */
char *user_event_canonical(const char *text)
{
	char *out = kmalloc(2 * strlen(text) + 1, GFP_KERNEL), *at = out;
	bool blank = false;

	if (!out)
		return NULL;
	for (; *text; text++) {
		if (isspace(*text)) {
			blank = at != out;
			continue;
		}
		if (blank)
			*at++ = ' ';
		*at++ = *text;
		blank = *text == ';';
	}
	if (at != out && at[-1] == ';')
		at--;
	*at = '\0';
	return out;
}

/* ---- Types */

static const struct {
	const char *name;
	u8 size;
} types[] = {
	{"s64", 8},
	{"u64", 8},
	{"s32", 4},
	{"u32", 4},
	{"int", 4},
	{"unsigned int", 4},
	{"s16", 2},
	{"u16", 2},
	{"s8", 1},
	{"short", 2},
	{"unsigned short", 2},
	{"u8", 1},
	{"unsigned char", 1},
	{"char", 1},
};

/* The number in "20]", the end of "char[20]", or 0. Text after the bracket is ignored, as far as it fits. */
static unsigned array_size(const char *text)
{
	char number[8];
	char *end;
	unsigned size;

	if (strscpy(number, text, sizeof(number)) <= 0)
		return 0;
	end = strchr(number, ']');
	if (!end)
		return 0;
	*end = '\0';
	return kstrtouint(number, 0, &size) || size > ARRAY_MAX ? 0 : size;
}

/* Is it a word that says where the data lies? */
static bool is_word(const char *type)
{
	return begins(type, "__data_loc ") || begins(type, "__rel_loc ");
}

/* 0: there is no such type, or its size must be given. */
static unsigned type_size(const char *type)
{
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, type))
			return types[i].size;
	if (begins(type, "char[") || begins(type, "unsigned char["))
		return array_size(strchr(type, '[') + 1);
	return is_word(type) ? sizeof(u32) : 0;
}

/* What is not known, as a structure, is printed like a number of 64 bits, as on Linux. */
static const char *field_format(const struct trace_event_field *f)
{
	if (strstr(f->type, "char["))
		return "%s";
	if (is_word(f->type) || begins(f->type, "struct "))
		return "%llu";
	if (f->size == 8)
		return f->is_signed ? "%lld" : "%llu";
	return f->is_signed ? "%d" : "%u";
}

/*
 * By the type's text, as Linux does for all events. But a text whose place the record says is one by its beginning, as
 * in user_event_is_valid(): Linux looks for the word anywhere, and a structure may be named so.
 */
static enum trace_filter_type type_filter(const char *type)
{
	bool is_text = strstr(type, "char");

	if (begins(type, "__data_loc "))
		return is_text ? FILTER_DYN_STRING : strstr(type, "cpumask_t") ? FILTER_CPUMASK : FILTER_OTHER;
	if (begins(type, "__rel_loc "))
		return is_text ? FILTER_RDYN_STRING : FILTER_OTHER;
	return is_text && strchr(type, '[') ? FILTER_STATIC_STRING : FILTER_OTHER;
}

/* ---- Fields */

/* Bytes of the type's words before its last one. */
static unsigned before_last_word(const char *type)
{
	static const char *const prefixes[] = {
		"unsigned ", "struct ", "__data_loc unsigned ", "__data_loc ", "__rel_loc unsigned ", "__rel_loc ",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins(type, prefixes[i]))
			return strlen(prefixes[i]);
	return 0;
}

bool user_event_is_clean(const char *text, const char * not )
{
	const char *at = text;

	while (isprint(*at) && !strchr(not, *at))
		at++;
	return !*at && at != text;
}

/* "TYPE NAME [SIZE]", which is cut into pieces; *offset moves behind the field. 0 or -EINVAL. */
static int parse_field(struct trace_event_field *f, char *type, unsigned *offset)
{
	char *name = strchr(type + before_last_word(type), ' '), *number;
	unsigned size;

	if (!name)
		return -EINVAL;
	*name++ = '\0';
	number = strchr(name, ' ');
	if (number)
		*number++ = '\0';
	if (number && (!begins(type, "struct ") || kstrtouint(number, 10, &size)))
		return -EINVAL;
	if (!number)
		size = type_size(type);
	if (!size || size > END_MAX - *offset || !user_event_is_clean(type, "") || !user_event_is_clean(name, " "))
		return -EINVAL;
	*f = (struct trace_event_field){
		.type = type,
		.name = name,
		.offset = *offset,
		.size = size,
		.is_signed = *type != 'u',
		.filter_type = type_filter(type),
	};
	*offset += size;
	return 0;
}

/* The texts that the fields make: for dynamic_events, and for the file `format`. */
static int make_texts(struct user_event *e, size_t room)
{
	size_t n = 0, m;

	e->definition = kzalloc(room, GFP_KERNEL);
	e->print_fmt = kzalloc(room, GFP_KERNEL);
	if (!e->definition || !e->print_fmt)
		return -ENOMEM;
	m = scnprintf(e->print_fmt, room, "\"");
	for (const struct trace_event_field *f = e->table; f->name; f++) {
		const char *blank = f == e->table ? "" : " ";

		n += scnprintf(e->definition + n, room - n, "%s%s%s %s", *blank ? ";" : "", blank, f->type, f->name);
		if (begins(f->type, "struct "))
			n += scnprintf(e->definition + n, room - n, " %u", f->size);
		m += scnprintf(e->print_fmt + m, room - m, "%s%s=%s", blank, f->name, field_format(f));
	}
	m += scnprintf(e->print_fmt + m, room - m, "\"");
	for (const struct trace_event_field *f = e->table; f->name; f++) {
		const char *how = f->filter_type == FILTER_DYN_STRING	 ? ", __get_str(%s)"
				  : f->filter_type == FILTER_RDYN_STRING ? ", __get_rel_str(%s)"
									 : ", REC->%s";

		m += scnprintf(e->print_fmt + m, room - m, how, f->name);
	}
	return 0;
}

/* Between semicolons there may be nothing. What is left after an error belongs to the event. */
int user_event_parse_fields(struct user_event *e, const char *text)
{
	unsigned nr = 1, offset = HEAD, i = 0;
	char *rest;

	for (const char *at = text; *at; at++)
		nr += *at == ';';
	e->words = rest = kasprintf(GFP_KERNEL, "%s", text);
	e->table = kcalloc(nr + 1, sizeof(e->table[0]), GFP_KERNEL);
	if (!e->words || !e->table)
		return -ENOMEM;
	while (rest) {
		char *field = strsep(&rest, ";");

		while (isspace(*field))
			field++;
		if (*field && parse_field(&e->table[i++], field, &offset))
			return -EINVAL;
	}
	e->min_size = offset - HEAD;
	return make_texts(e, 2 * strlen(text) + 40 * (size_t)nr);
}

/* ---- Records */

/*
 * A string must end with its zero. One of no length has none: the byte before it must be zero then, as in Linux, and
 * nobody reads it.
 */
bool user_event_is_valid(const struct user_event *e, const char *payload, size_t n)
{
	for (const struct trace_event_field *f = e->table; f->name; f++) {
		u32 where;
		size_t end;

		if (!is_word(f->type))
			continue;
		memcpy(&where, payload + f->offset - HEAD, sizeof(where));
		end = (where & 0xffff) + (where >> 16);
		if (begins(f->type, "__rel_loc "))
			end += f->offset + sizeof(where);
		if (end > HEAD + n)
			return false;
		if (f->filter_type != FILTER_OTHER && f->filter_type != FILTER_CPUMASK &&
		    (end <= HEAD || payload[end - HEAD - 1]))
			return false;
	}
	return true;
}
