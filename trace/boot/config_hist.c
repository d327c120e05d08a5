/*
 * event.GROUP.EVENT.hist of a bootconfig: a tree of keys that stands for a line of the event's file `trigger`, which
 * would be long. These keys
 *
 *	hist { keys = pid; var.lat = common_timestamp.usecs - $ts0; onmax { var = $lat; save = comm, prio } }
 *
 * are the line
 *
 *	hist:keys=pid:lat=common_timestamp.usecs-$ts0:onmax($lat).save(comm,prio)
 *
 * Only the form is looked at here. What the words mean is up to the room hist, which says what is wrong with the line.
 */
#include <kernel/bootconfig.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "command_line.h"

/* A line that is being made. `why`: what the keys lack, or NULL. */
struct line {
	char *text;
	size_t size, len;
	const char *why;
};

static __printf(2, 3) void add(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	l->len += vscnprintf(l->text + l->len, l->size - l->len, format, args);
	va_end(args);
	if (l->len == l->size - 1)
		l->why = "it is too long";
}

static void add_values(struct line *l, unsigned key)
{
	unsigned value, first = bootconfig_first_value(&boot_config, key);

	if (!first)
		l->why = "each of its keys but pause, continue, clear and snapshot needs a value";
	bootconfig_for_each_value(&boot_config, key, value)
		add(l, "%s%s", value == first ? "" : ",", bootconfig_text(&boot_config, value));
}

/* The keys of a histogram, in the order in which they are in the line: NAME=VALUES, and words alone. */
static const char *const parts[] = {"keys", "values", "sort", "size", "name"}, *const controls[] = {"pause", "continue",
												    "clear"};

/* A handler, and the key for what stands between its parentheses. */
static const struct handler {
	const char *name, *param;
} handlers[] = {{"onmatch", "event"}, {"onmax", "var"}, {"onchange", "var"}};

/* What a handler does. The last one takes no values. */
static const char *const actions[] = {"trace", "save", "snapshot"};

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Is there a key below `root` that is a number, or one that is not? */
static bool has_key(unsigned root, bool number)
{
	unsigned node;

	bootconfig_for_each_key(&boot_config, root, node)
		if (is_number(bootconfig_text(&boot_config, node)) == number)
			return true;
	return false;
}

unsigned trace_boot_next_part(unsigned root, unsigned part)
{
	unsigned node = part ? boot_config.nodes[part].next : bootconfig_first_key(&boot_config, root);

	if (part == root)
		return 0;
	for (; node; node = boot_config.nodes[node].next)
		if (is_number(bootconfig_text(&boot_config, node)))
			return node;
	return has_key(root, false) || !has_key(root, true) ? root : 0;
}

/* ---- Making the line */

/* ":onmax($lat).save(comm,prio)" */
static void add_handler(struct line *l, const struct handler *h, unsigned node)
{
	unsigned param = bootconfig_find(&boot_config, node, h->param), key = 0, i;

	for (i = 0; i < ARRAY_SIZE(actions) && !key; i++)
		key = bootconfig_find(&boot_config, node, actions[i]);
	if (!param || !key) {
		l->why = param ? "a handler needs trace, save or snapshot"
			       : "onmatch needs event; onmax and onchange need var";
		return;
	}
	add(l, ":%s(", h->name);
	add_values(l, param);
	add(l, ").%s(", actions[i - 1]);
	if (i < ARRAY_SIZE(actions))
		add_values(l, key);
	add(l, ")");
}

/* onmax { ... }, or onmax { 0 { ... } 1 { ... } }, or both. */
static void add_handlers(struct line *l, const struct handler *h, unsigned hist)
{
	unsigned all = bootconfig_find(&boot_config, hist, h->name), node = 0;

	while (all && (node = trace_boot_next_part(all, node)) != 0)
		add_handler(l, h, node);
}

/* ":lat=common_timestamp.usecs-$ts0". An expression in a line has no blanks, but in a bootconfig it is good to read. */
static void add_variables(struct line *l, unsigned hist)
{
	unsigned all = bootconfig_find(&boot_config, hist, "var"), var;

	if (!all)
		return;
	bootconfig_for_each_key(&boot_config, all, var) {
		size_t start = l->len;
		char *to;

		add(l, ":%s=", bootconfig_text(&boot_config, var));
		add_values(l, var);
		to = l->text + start;
		for (const char *from = to; *from; from++)
			if (!isspace(*from))
				*to++ = *from;
		*to = '\0';
		l->len = to - l->text;
	}
}

/* The parts have the order that Linux gives them: what an action uses is defined before it. */
const char *trace_boot_hist_line(unsigned hist, char *text, size_t size)
{
	struct line l = {.text = text, .size = size};
	unsigned filter = bootconfig_find(&boot_config, hist, "filter");

	add(&l, "hist");
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
		unsigned key = bootconfig_find(&boot_config, hist, parts[i]);

		if (!key)
			continue;
		add(&l, ":%s=", parts[i]);
		add_values(&l, key);
	}
	add_variables(&l, hist);
	for (unsigned i = 0; i < ARRAY_SIZE(controls); i++)
		if (bootconfig_find(&boot_config, hist, controls[i]))
			add(&l, ":%s", controls[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(handlers); i++)
		add_handlers(&l, &handlers[i], hist);
	if (filter) {
		add(&l, " if ");
		add_values(&l, filter);
	}
	return bootconfig_find(&boot_config, hist, "keys") ? l.why : "a histogram needs keys";
}

/* ---- Which keys there are */

static bool is_among(const char *word, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

/* Behind "NUMBER.", if that is what stands at `name`. */
static const char *skip_number(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && name[digits] == '.' ? name + digits + 1 : name;
}

/* [NUMBER.]PART, [NUMBER.]var.NAME, or [NUMBER.]HANDLER.[NUMBER.]WORD. */
bool trace_boot_hist_knows(const char *name)
{
	const char *rest;

	name = skip_number(name);
	rest = strchr(name, '.');
	if (!rest)
		return is_among(name, parts, ARRAY_SIZE(parts)) || is_among(name, controls, ARRAY_SIZE(controls)) ||
		       !strcmp(name, "filter");
	if (!strncmp(name, "var.", strlen("var.")))
		return !strchr(rest + 1, '.');
	for (const struct handler *h = handlers; h < handlers + ARRAY_SIZE(handlers); h++)
		if (strlen(h->name) == (size_t)(rest - name) && !strncmp(name, h->name, rest - name)) {
			rest = skip_number(rest + 1);
			return !strcmp(rest, h->param) || is_among(rest, actions, ARRAY_SIZE(actions));
		}
	return false;
}
