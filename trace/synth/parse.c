/*
 * The definition of a synthetic event's fields: "u64 lat; pid_t pid; char comm[]". Linux's order of the checks is kept,
 * and its words. The text is that of the user, of which error_log shows all, so nothing is cut in it.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "internal.h"

const char synth_bad_command[] = "Command must be of the form: <name> field[;field] ...";
const char synth_bad_name[] = "Illegal name";

/* ---- Types */

static const struct {
	const char *name;
	u8 size;
	const char *format;
} types[] = {
	{"s64", 8, "%lld"}, {"u64", 8, "%llu"},
	{"s32", 4, "%d"},   {"u32", 4, "%u"},
	{"s16", 2, "%d"},   {"u16", 2, "%u"},
	{"s8", 1, "%d"},    {"u8", 1, "%u"},
	{"char", 1, "%d"},  {"unsigned char", 1, "%u"},
	{"int", 4, "%d"},   {"unsigned int", 4, "%u"},
	{"long", 8, "%ld"}, {"unsigned long", 8, "%lu"},
	{"bool", 1, "%d"},  {"pid_t", 4, "%d"},
	{"gfp_t", 4, "%x"},
};

const char *synth_field_format(const struct synth_field *f)
{
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, f->type))
			return types[i].format;
	return f->is_text && !f->is_dynamic ? "%.*s" : "%s";
}

/* "char[]", "char[16]": the size, 0 when it has none; -EINVAL. */
static int text_size(const char *brackets)
{
	char number[4] = "";
	const char *end = strchr(brackets, ']');
	unsigned size;
	size_t len = end ? end - brackets - 1 : sizeof(number);

	if (len >= sizeof(number) || end[1])
		return -EINVAL;
	if (!len)
		return 0;
	memcpy(number, brackets + 1, len);
	return kstrtouint(number, 0, &size) || !size || size > SYNTH_TEXT_MAX ? -EINVAL : (int)size;
}

/* What the type means. 0; -EINVAL: there is no such type. */
static int set_type(struct synth_field *f)
{
	const char *brackets = strstr(f->type, "char[");
	int size;

	f->is_signed = *f->type != 'u' && strcmp(f->type, "gfp_t");
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, f->type)) {
			f->size = types[i].size;
			return 0;
		}
	f->is_stack = !strcmp(f->type, "long[]") || !strcmp(f->type, "unsigned long[]");
	f->is_text = brackets;
	if (!f->is_stack && !f->is_text)
		return -EINVAL;
	size = f->is_text ? text_size(brackets + strlen("char")) : 0;
	f->is_dynamic = !size;
	f->size = size > 0 ? size : 0;
	return min(size, 0);
}

/* ---- Words */

struct word {
	const char *at;
	unsigned len;
};

/* The next word before `end`, or one of length 0; *at moves behind it. */
static struct word next_word(const char **at, const char *end)
{
	struct word w;

	while (*at < end && isspace(**at))
		++*at;
	w.at = *at;
	while (*at < end && !isspace(**at))
		++*at;
	w.len = *at - w.at;
	return w;
}

static bool is_word(const struct word *w, const char *text)
{
	return strlen(text) == w->len && !strncmp(w->at, text, w->len);
}

/* ---- Fields */

/* "[unsigned] TYPE NAME[BRACKETS]" */
static int make_field(struct synth_field *f, bool is_unsigned, struct word type, struct word name)
{
	const char *brackets = memchr(name.at, '[', name.len);
	unsigned len = brackets ? brackets - name.at : name.len;

	f->name = kstrndup(name.at, len, GFP_KERNEL);
	f->type = kasprintf(GFP_KERNEL, "%s%.*s%.*s", is_unsigned ? "unsigned " : "", (int)type.len, type.at,
			    (int)(name.len - len), name.at + len);
	return f->name && f->type ? 0 : -ENOMEM;
}

/* One field from *at on, which is not the end. `f` is zeroed, and belongs to the caller on an error too. */
static int parse_field(struct dyn_command *c, const char **at, const char *end, struct synth_field *f)
{
	struct word first = next_word(at, end), type = first, name;
	bool is_unsigned = is_word(&first, "unsigned");
	int err;

	if (is_unsigned)
		type = next_word(at, end);
	name = next_word(at, end);
	if (is_unsigned && !name.len)
		return dyn_refuse_raw(c, first.at, "Incomplete type");
	if (!name.len)
		return dyn_refuse_raw(c, type.at, "Invalid field");
	err = make_field(f, is_unsigned, type, name);
	if (err)
		return err;
	if (!dyn_name_is_good(f->name, false))
		return dyn_refuse_raw(c, name.at, synth_bad_name);
	if (!set_type(f)) {
		f->shown = kasprintf(GFP_KERNEL, "%s%s", f->is_dynamic ? "__data_loc " : "", f->type);
		return f->shown ? 0 : -ENOMEM;
	}
	return memchr(name.at, '[', name.len) ? dyn_refuse_raw(c, name.at, "Invalid array specification")
					      : dyn_refuse_raw(c, type.at, "Invalid type");
}

/* Several fields may stand between two semicolons, as in the first form of these definitions. */
static int parse_part(struct dyn_command *c, const char *at, const char *end, struct synth_field *fields, unsigned *nr)
{
	for (;;) {
		int err;

		while (at < end && isspace(*at))
			at++;
		if (at == end)
			return 0;
		if (*nr == SYNTH_FIELDS_MAX)
			return dyn_refuse_raw(c, NULL, "Too many fields");
		err = parse_field(c, &at, end, &fields[(*nr)++]);
		if (err)
			return err;
	}
}

int synth_parse_fields(struct dyn_command *c, const char *text, struct synth_field *fields, unsigned *nr)
{
	int err = 0;

	while (*text && !err) {
		const char *end = text + strcspn(text, ";");

		err = parse_part(c, text, end, fields, nr);
		text = end + (*end == ';');
	}
	return err ? err : *nr ? 0 : dyn_refuse_raw(c, NULL, synth_bad_command);
}

void synth_free_fields(struct synth_field *fields, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		kfree(fields[i].type);
		kfree(fields[i].shown);
		kfree(fields[i].name);
	}
}
