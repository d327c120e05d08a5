/* Types of fetch arguments: the table of them, values as text, and what `format` says of a record (fetch.h). */
#include <fs/seq_file.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "fetch.h"

#define STRING_TYPE "__data_loc char[]"
static const struct fetch_type types[] = {
	{"x64", 8, false, false, false, "u64", "0x%Lx"}, /* first: where a word names no type */
	{"u64", 8, false, false, false, "u64", "%Lu"},
	{"s64", 8, true, false, false, "s64", "%Ld"},
	{"u32", 4, false, false, false, "u32", "%u"},
	{"s32", 4, true, false, false, "s32", "%d"},
	{"x32", 4, false, false, false, "u32", "0x%x"},
	{"u16", 2, false, false, false, "u16", "%u"},
	{"s16", 2, true, false, false, "s16", "%d"},
	{"x16", 2, false, false, false, "u16", "0x%x"},
	{"u8", 1, false, false, false, "u8", "%u"},
	{"s8", 1, true, false, false, "s8", "%d"},
	{"x8", 1, false, false, false, "u8", "0x%x"},
	{"char", 1, true, false, false, "s8", "'%c'"},
	{"symbol", 8, false, false, false, "u64", "%pS"},
	{"string", 4, true, true, false, STRING_TYPE, "\\\"%s\\\""},
	{"ustring", 4, true, true, true, STRING_TYPE, "\\\"%s\\\""},
	{"symstr", 4, true, true, false, STRING_TYPE, "\\\"%s\\\""},
};

const struct fetch_type *fetch_type_default(void)
{
	return &types[0];
}

const struct fetch_type *fetch_type_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

/* ---- Values */

static void print_string(struct seq_file *s, const void *record, u32 where)
{
	if (where >> 16)
		seq_printf(s, "\"%s\"", (const char *)record + (where & 0xffff));
	else
		seq_puts(s, "(fault)");
}

/* The record packs its fields, so none need be aligned. */
static void print_value(struct seq_file *s, const struct fetch_type *type, const void *record, const void *at)
{
	u64 value = 0;

	memcpy(&value, at, type->size);
	if (type->is_string)
		return print_string(s, record, value);
	if (!strcmp(type->name, "symbol")) {
		seq_printf(s, "%pS", (void *)value);
		return;
	}
	if (!strcmp(type->name, "char")) {
		seq_printf(s, "'%c'", (char)value);
		return;
	}
	if (type->is_signed) {
		unsigned shift = 64 - type->size * 8;

		seq_printf(s, "%lld", (long long)(value << shift) >> shift);
	} else {
		seq_printf(s, *type->name == 'x' ? "0x%llx" : "%llu", (unsigned long long)value);
	}
}

/* Values come from the record alone, so a line can be made when the traced memory has long changed. */
void fetch_print(struct seq_file *s, const struct fetch_args *args, const void *record)
{
	for (unsigned i = 0; i < args->nr; i++) {
		const struct fetch_arg *arg = args->args[i];
		const char *at = (const char *)record + arg->offset;

		seq_printf(s, " %s=", arg->name);
		if (!arg->count) {
			print_value(s, arg->type, record, at);
			continue;
		}
		for (unsigned n = 0; n < arg->count; n++) {
			seq_putc(s, n ? ',' : '{');
			print_value(s, arg->type, record, at + n * arg->type->size);
		}
		seq_putc(s, '}');
	}
}

/* ---- Definitions */

void fetch_show(struct seq_file *m, const struct fetch_args *args)
{
	for (unsigned i = 0; i < args->nr; i++)
		seq_printf(m, " %s=%s", args->args[i]->name, args->args[i]->word);
}

static bool same_type(const struct fetch_arg *a, const struct fetch_arg *b)
{
	return a->type == b->type && a->count == b->count && !strcmp(a->name, b->name);
}

unsigned fetch_differ(const struct fetch_args *a, const struct fetch_args *b)
{
	unsigned i = 0;

	while (i < a->nr && i < b->nr && same_type(a->args[i], b->args[i]))
		i++;
	return i;
}

bool fetch_same_words(const struct fetch_args *a, const struct fetch_args *b)
{
	if (a->nr != b->nr)
		return false;
	for (unsigned i = 0; i < a->nr; i++)
		if (strcmp(a->args[i]->name, b->args[i]->name) || strcmp(a->args[i]->word, b->args[i]->word))
			return false;
	return true;
}

/* ---- format */

struct text {
	char *to;
	size_t size, len; /* len may pass size: how long the whole is */
};

static void __printf(2, 3) text_add(struct text *t, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	t->len += vsnprintf(t->to ? t->to + min(t->len, t->size) : NULL, t->size - min(t->len, t->size), fmt, list);
	va_end(list);
}

static void add_formats(struct text *t, const struct fetch_arg *arg)
{
	text_add(t, " %s=", arg->name);
	if (!arg->count)
		text_add(t, "%s", arg->type->fmt);
	for (unsigned n = 0; n < arg->count; n++)
		text_add(t, "%s%s%s", n ? "," : "{", arg->type->fmt, n + 1 == arg->count ? "}" : "");
}

static void add_values(struct text *t, const struct fetch_arg *arg)
{
	for (unsigned n = 0; n < arg->count; n++)
		text_add(t, arg->type->is_string ? ", __get_str(%s[%u])" : ", REC->%s[%u]", arg->name, n);
	if (!arg->count)
		text_add(t, arg->type->is_string ? ", __get_str(%s)" : ", REC->%s", arg->name);
}

static void add_print_fmt(struct text *t, const struct fetch_args *args, const char *head_fmt, const char *head_args)
{
	text_add(t, "\"%s", head_fmt);
	for (unsigned i = 0; i < args->nr; i++)
		add_formats(t, args->args[i]);
	text_add(t, "\"%s", head_args);
	for (unsigned i = 0; i < args->nr; i++)
		add_values(t, args->args[i]);
}

char *fetch_print_fmt(const struct fetch_args *args, const char *head_fmt, const char *head_args)
{
	struct text t = {};

	add_print_fmt(&t, args, head_fmt, head_args);
	t.size = t.len + 1;
	t.len = 0;
	t.to = kvzalloc(t.size, GFP_KERNEL);
	if (t.to)
		add_print_fmt(&t, args, head_fmt, head_args);
	return t.to;
}

/* A field and its texts. Of an array of strings the length stands with the name, as in Linux. */
static bool make_field(struct trace_event_field *f, const struct fetch_arg *arg)
{
	const struct fetch_type *type = arg->type;
	bool strings = type->is_string;

	f->type = arg->count && !strings ? kasprintf(GFP_KERNEL, "%s[%u]", type->c_type, arg->count)
					 : kstrdup(type->c_type, GFP_KERNEL);
	f->name = arg->count && strings ? kasprintf(GFP_KERNEL, "%s[%u]", arg->name, arg->count)
					: kstrdup(arg->name, GFP_KERNEL);
	f->offset = arg->offset;
	f->size = type->size * (arg->count ?: 1);
	f->is_signed = type->is_signed;
	f->filter_type = arg->count ? FILTER_NONE : strings ? FILTER_DYN_STRING : FILTER_OTHER;
	return f->type && f->name;
}

/* All texts are copies, those of `head` too, so that fetch_fields_free() need not know which are whose. */
struct trace_event_field *fetch_fields(const struct fetch_args *args, const struct trace_event_field *head)
{
	unsigned n = 0;
	struct trace_event_field *fields;
	bool ok = true;

	while (head[n].name)
		n++;
	fields = kvzalloc((n + args->nr + 1) * sizeof(*fields), GFP_KERNEL);
	if (!fields)
		return NULL;
	for (unsigned i = 0; i < n; i++) {
		fields[i] = head[i];
		fields[i].type = kstrdup(head[i].type, GFP_KERNEL);
		fields[i].name = kstrdup(head[i].name, GFP_KERNEL);
		ok &= fields[i].type && fields[i].name;
	}
	for (unsigned i = 0; i < args->nr; i++)
		ok &= make_field(&fields[n + i], args->args[i]);
	if (ok)
		return fields;
	/* One without a name would end the table in its middle. */
	for (unsigned i = 0; i < n + args->nr; i++) {
		kfree(fields[i].type);
		kfree(fields[i].name);
	}
	kvfree(fields);
	return NULL;
}

void fetch_fields_free(struct trace_event_field *fields)
{
	if (!fields)
		return;
	for (struct trace_event_field *f = fields; f->name; f++) {
		kfree(f->type);
		kfree(f->name);
	}
	kvfree(fields);
}

void fetch_free(struct fetch_args *args)
{
	for (unsigned i = 0; i < args->nr; i++) {
		struct fetch_arg *arg = args->args[i];

		kfree(arg->name);
		kfree(arg->word);
		kfree(arg->symbol);
		if (arg->op == FETCH_TEXT)
			kfree(arg->text);
		kfree(arg);
	}
	args->nr = 0;
}
