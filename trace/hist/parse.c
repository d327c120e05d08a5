/*
 * A histogram's command, "keys=...:vals=...:sort=... if FILTER", taken apart and made into a struct hist. Linux's order
 * of the checks is kept, so that the same mistake gives the same message.
 */
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "hist.h"

/* ---- The parts */

/* The value behind "NAME=", when the part begins with it; NULL: it does not. */
static char *value_of(char *part, const char *name)
{
	size_t len = strlen(name);

	return strncmp(part, name, len) || part[len] != '=' ? NULL : part + len + 1;
}

/* The number of entries, rounded up to a power of two. 0 or -EINVAL. */
static int parse_size(struct hist_parse *p, const char *text)
{
	unsigned long size;
	unsigned bits = HIST_MAP_BITS_MIN;
	int err = kstrtoul(text, 0, &size) ?: (size > 1ul << HIST_MAP_BITS_MAX ? -EINVAL : 0);

	if (err || size <= 1ul << (HIST_MAP_BITS_MIN - 1)) {
		hist_note(p, "size= takes a number of entries, 65 to 131072", text);
		return err ?: -EINVAL;
	}
	while (1ul << bits < size)
		bits++;
	p->hist->bits = bits;
	return 0;
}

/* What is no keyword defines variables. */
static int parse_assignment(struct hist_parse *p, char *part)
{
	static const struct {
		const char *name;
		size_t at;
	} words[] = {
		{"keys", offsetof(struct hist_parse, keys)},   {"key", offsetof(struct hist_parse, keys)},
		{"values", offsetof(struct hist_parse, vals)}, {"vals", offsetof(struct hist_parse, vals)},
		{"val", offsetof(struct hist_parse, vals)},    {"sort", offsetof(struct hist_parse, sort)},
		{"clock", offsetof(struct hist_parse, clock)},
	};
	char *value;

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		value = value_of(part, words[i].name);
		if (!value)
			continue;
		*(char **)((char *)p + words[i].at) = value;
		return 0;
	}
	value = value_of(part, "size");
	if (value)
		return parse_size(p, value);
	if (value_of(part, "name")) {
		p->name = part;
		return 0;
	}
	if (p->nr_defined == HIST_DEFINED_MAX)
		return hist_error(p, HIST_ERR_TOO_MANY_VARS, part);
	p->defined[p->nr_defined++] = part;
	return 0;
}

static bool is_action(const char *part)
{
	return !strncmp(part, "onmatch(", 8) || !strncmp(part, "onmax(", 6) || !strncmp(part, "onchange(", 9);
}

/* A part between two colons. -EINVAL without a line in error_log: it is nothing that is known, as in Linux. */
static int parse_part(struct hist_parse *p, char *part)
{
	const char *value = strchr(part, '=');

	if (value && !value[1])
		return hist_error(p, HIST_ERR_EMPTY_ASSIGNMENT, part);
	if (value)
		return parse_assignment(p, part);
	if (!strcmp(part, "pause"))
		p->pause = true;
	else if (!strcmp(part, "cont") || !strcmp(part, "continue"))
		p->cont = true;
	else if (!strcmp(part, "clear"))
		p->clear = true;
	else if (!strcmp(part, "nohitcount") || !strcmp(part, "NOHC"))
		p->hist->no_hitcount = true;
	else if (is_action(part) && p->nr_actions < HIST_ACTIONS_MAX)
		p->actions[p->nr_actions++] = part;
	else
		return -EINVAL;
	return 0;
}

/* Cuts " if FILTER" off. -EINVAL: there is nothing before or behind the word. */
static int cut_filter(struct hist_parse *p, char *text)
{
	char *at = text;

	while ((at = strstr(at, "if")) != NULL) {
		if (at > text && isspace(at[-1]) && isspace(at[2])) {
			at[-1] = '\0';
			p->filter = strim(at + 2);
			return *p->filter ? 0 : -EINVAL;
		}
		if (at == text)
			return -EINVAL;
		at++;
	}
	return 0;
}

/* ---- Keys, values, variables */

/* Where a modifier means something. A value is a sum, so only another way of writing a number makes sense for it. */
#define FORMS_OF_KEYS                                                                                  \
	(BIT(FORM_PLAIN) | BIT(FORM_HEX) | BIT(FORM_SYM) | BIT(FORM_SYM_OFFSET) | BIT(FORM_EXECNAME) | \
	 BIT(FORM_SYSCALL) | BIT(FORM_LOG2) | BIT(FORM_BUCKETS) | BIT(FORM_USECS) | BIT(FORM_STACKTRACE))
#define FORMS_OF_VALS (BIT(FORM_PLAIN) | BIT(FORM_HEX) | BIT(FORM_USECS) | BIT(FORM_PERCENT) | BIT(FORM_GRAPH))
#define FORMS_OF_VARS                                                                                  \
	(BIT(FORM_PLAIN) | BIT(FORM_HEX) | BIT(FORM_SYM) | BIT(FORM_SYM_OFFSET) | BIT(FORM_EXECNAME) | \
	 BIT(FORM_SYSCALL) | BIT(FORM_USECS) | BIT(FORM_STACKTRACE))

/* The text as a field whose form is one of `forms`. */
static struct hist_field *parse_formed(struct hist_parse *p, char *text, unsigned long forms)
{
	struct hist_field *f = hist_parse_value(p, text);

	if (IS_ERR(f) || (forms & BIT(f->form)))
		return f;
	hist_field_free(f);
	return ERR_PTR(hist_error(p, HIST_ERR_BAD_FIELD_MODIFIER, text));
}

static int parse_val(struct hist_parse *p, char *text)
{
	struct hist_field *f = parse_formed(p, text, FORMS_OF_VALS);

	if (IS_ERR(f))
		return PTR_ERR(f);
	if (f->is_text || f->is_stack) {
		hist_field_free(f);
		return hist_error(p, HIST_ERR_INVALID_STR_OPERAND, text);
	}
	p->hist->vals[p->hist->nr_vals++] = f;
	return 0;
}

/* The hitcount is always the first value, whether it is named or not. */
static int parse_vals(struct hist_parse *p)
{
	struct hist *h = p->hist;
	char *text;
	int err;

	h->vals[0] = hist_field_new(HIST_COUNT, "hitcount", strlen("hitcount"), "u64", sizeof(u64));
	if (!h->vals[0])
		return -ENOMEM;
	h->nr_vals = 1;
	while ((text = strsep(&p->vals, ",")) != NULL) {
		if (!strcmp(text, "hitcount"))
			continue;
		if (h->nr_vals == HIST_VALS_MAX)
			return hist_note(p, "there are two values at most, besides the hitcount", text);
		err = parse_val(p, text);
		if (err)
			return err;
	}
	if (h->nr_vals > 1 || !h->no_hitcount)
		return 0;
	hist_error(p, HIST_ERR_NEED_NOHC_VAL, NULL);
	return -ENOENT;
}

/* "a=1,b=2" from each part: the names and texts of all variables are there before the first text is read. */
static int parse_definitions(struct hist_parse *p)
{
	for (unsigned i = 0; i < p->nr_defined; i++) {
		char *rest = p->defined[i], *value;

		while ((value = strsep(&rest, ",")) != NULL) {
			const char *name = strsep(&value, "=");

			if (!value)
				return hist_error(p, HIST_ERR_MALFORMED_ASSIGNMENT, name);
			if (p->nr_defs == HIST_DEFINED_MAX)
				return hist_error(p, HIST_ERR_TOO_MANY_VARS, name);
			p->def_names[p->nr_defs] = (char *)name;
			p->def_values[p->nr_defs++] = value;
		}
	}
	return 0;
}

/* A pid's execname, kept in a variable, is the name: a string. */
static void make_execname(struct hist_field *f)
{
	f->op = HIST_COMM;
	f->is_text = true;
	f->type = "char[]";
	f->size = HIST_TEXT;
	f->is_signed = false;
}

static int parse_var(struct hist_parse *p, const char *name, char *text)
{
	struct hist_field *f;
	unsigned n;

	if (hist_find_var(p->hist, name, &n))
		return hist_error(p, HIST_ERR_DUPLICATE_VAR, name);
	f = parse_formed(p, text, FORMS_OF_VARS);
	if (IS_ERR(f))
		return PTR_ERR(f);
	if (f->form == FORM_EXECNAME)
		make_execname(f);
	return min(hist_add_var(p, name, f, VAR_DEFINED), 0);
}

static unsigned size_of_key(const struct hist_field *f)
{
	return f->is_stack ? HIST_STACK_DEPTH * sizeof(long) : f->size;
}

/* Each key begins at a whole word of the map's key. */
static int parse_key(struct hist_parse *p, char *text)
{
	struct hist *h = p->hist;
	struct hist_field *f = parse_formed(p, text, FORMS_OF_KEYS);

	if (IS_ERR(f))
		return PTR_ERR(f);
	if (hist_has_ref(f) || f->op == HIST_COUNT) {
		enum hist_err err = hist_has_ref(f) ? HIST_ERR_INVALID_REF_KEY : HIST_ERR_FIELD_NOT_FOUND;

		hist_field_free(f);
		return hist_error(p, err, text);
	}
	f->offset = h->key_size;
	f->size = ALIGN(size_of_key(f), sizeof(u64));
	h->key_size += f->size;
	h->has_comm |= f->form == FORM_EXECNAME;
	h->keys[h->nr_keys++] = f;
	return h->key_size > HIST_KEY_MAX ? -EINVAL : 0;
}

/* ---- Sorting */

/* The number of the field in struct hist_sort's order, or -1. */
static int find_sorted(const struct hist *h, const char *name)
{
	for (int i = 0; i < h->nr_vals; i++)
		if (!strcmp(h->vals[i]->name, name))
			return i;
	for (int i = 0; i < h->nr_keys; i++)
		if (!strcmp(h->keys[i]->name, name))
			return h->nr_vals + i;
	return -1;
}

/* "FIELD[.ascending|.descending]" */
static int parse_sorted(struct hist_parse *p, char *text, const char *begin)
{
	struct hist_sort *sort = &p->hist->sort[p->hist->nr_sort];
	const char *name = strsep(&text, ".");
	int n;

	if (!*name)
		return hist_error(p, HIST_ERR_EMPTY_SORT_FIELD, begin);
	n = find_sorted(p->hist, name);
	if (n < 0)
		return hist_error(p, HIST_ERR_INVALID_SORT_FIELD, name);
	sort->field = n;
	sort->descending = text && !strcmp(text, "descending");
	if (text && !sort->descending && strcmp(text, "ascending"))
		return hist_error(p, HIST_ERR_INVALID_SORT_MODIFIER, text);
	p->hist->nr_sort++;
	return 0;
}

/* Without sort= it is by hitcount. */
static int parse_sort(struct hist_parse *p)
{
	const char *begin = p->sort ? p->sort - strlen("sort=") : NULL;
	char *text;
	int err;

	p->hist->nr_sort = 0;
	while ((text = strsep(&p->sort, ",")) != NULL) {
		/* An empty text is told of before there are too many. */
		if (*text && p->hist->nr_sort == HIST_SORT_MAX - 1 && p->sort)
			return hist_error(p, HIST_ERR_TOO_MANY_SORT_FIELDS, begin);
		err = parse_sorted(p, text, begin);
		if (err)
			return err;
	}
	if (!p->hist->nr_sort)
		p->hist->nr_sort = 1; /* by hitcount */
	return 0;
}

/* ---- All of it */

static int parse_fields(struct hist_parse *p)
{
	char *text;
	int err = parse_definitions(p) ?: parse_vals(p);

	for (unsigned i = 0; i < p->nr_defs && !err; i++)
		err = parse_var(p, p->def_names[i], p->def_values[i]);
	while (!err && (text = strsep(&p->keys, ",")) != NULL)
		err = p->hist->nr_keys == HIST_KEYS_MAX ? hist_note(p, "there are three keys at most", text)
							: parse_key(p, text);
	return err ?: parse_sort(p);
}

static int parse_parts(struct hist_parse *p)
{
	char *rest = p->work + strlen("hist:"), *part;
	int err = cut_filter(p, rest);

	if (err)
		return err;
	rest = strim(rest);
	while ((part = strsep(&rest, ":")) != NULL) {
		err = parse_part(p, part);
		if (err)
			return err;
	}
	return p->keys ? 0 : -EINVAL;
}

static int copy_texts(struct hist_parse *p)
{
	if (p->name)
		p->hist->name = kstrdup(p->name, GFP_KERNEL);
	p->hist->clock = kstrdup(p->clock ? strim(p->clock) : "global", GFP_KERNEL);
	return p->hist->clock && (p->hist->name || !p->name) ? 0 : -ENOMEM;
}

int hist_parse(struct hist_parse *p, const char *text)
{
	p->hist = kzalloc(sizeof(*p->hist), GFP_KERNEL);
	p->command = kasprintf(GFP_KERNEL, "hist:%s", text);
	p->work = p->command ? kstrdup(p->command, GFP_KERNEL) : NULL;
	if (!p->hist || !p->command || !p->work)
		return -ENOMEM;
	p->hist->file = p->file;
	p->hist->automatic = p->automatic;
	p->hist->bits = HIST_MAP_BITS_DEFAULT;
	INIT_LIST_HEAD(&p->hist->list);
	hist_errors_begin();
	return parse_parts(p) ?: copy_texts(p) ?: hist_parse_actions(p) ?: parse_fields(p);
}

/* p->hist is freed, unless somebody has taken it over (NULL). */
void hist_parse_end(struct hist_parse *p)
{
	if (p->hist)
		hist_free(p->hist);
	kfree(p->command);
	kfree(p->work);
}

/* Nobody knows it any more: no trigger, no hit, no reference. */
void hist_free(struct hist *h)
{
	hist_drop_refs(h);
	for (unsigned i = 0; i < h->nr_keys; i++)
		hist_field_free(h->keys[i]);
	for (unsigned i = 0; i < h->nr_vals; i++)
		hist_field_free(h->vals[i]);
	for (unsigned i = 0; i < h->nr_vars; i++) {
		hist_field_free(h->vars[i].value);
		kfree(h->vars[i].name);
	}
	for (unsigned i = 0; i < h->nr_actions; i++)
		hist_free_action(h->actions[i]);
	hist_map_free(h->map);
	kfree(h->name);
	kfree(h->clock);
	kfree(h);
}
