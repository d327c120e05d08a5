/*
 * Names of values in `format`. TP_printk of an event may use an enum or sizeof(), and `format` shows that text to
 * programs that read raw records, which cannot know what the name means. So an event header says
 *
 *	TRACE_DEFINE_ENUM(HI_SOFTIRQ);
 *
 * outside of its events. Then `format` shows the number in place of the name in all events of that system, and the file
 * eval_map lists what is replaced. Linux has that since 4.1, and rewrites the texts at boot; here names are replaced
 * when a text is shown, so no second text is kept.
 */
#include <lib/list.h>
#include <lib/string.h>
#include <mm/page.h>

#include "event_file.h"

extern const struct trace_eval_map *const __start_ptrs_trace_eval_maps[], *const __stop_ptrs_trace_eval_maps[];

LIST_HEAD(trace_late_evals);

/* ---- Looking up */

static const struct trace_eval_map *find_in(const struct trace_eval_map *const *maps, unsigned n, const char *system,
					    const char *name, unsigned len)
{
	for (; n; n--, maps++)
		if (!strncmp((*maps)->name, name, len) && !(*maps)->name[len] && !strcmp((*maps)->system, system))
			return *maps;
	return NULL;
}

/* The value of a name of `len` characters in events of this system; NULL: no header has defined one. [e] */
static const struct trace_eval_map *find_eval(const char *system, const char *name, unsigned len)
{
	const struct trace_eval_map *map =
		find_in(__start_ptrs_trace_eval_maps, __stop_ptrs_trace_eval_maps - __start_ptrs_trace_eval_maps,
			system, name, len);
	const struct trace_late_evals *evals;

	if (map)
		return map;
	list_for_each_entry(evals, &trace_late_evals, list) {
		map = find_in(evals->maps, evals->n, system, name, len);
		if (map)
			return map;
	}
	return NULL;
}

/* ---- The line of `format` */

/* The length of a string literal at `at`, its quotes included. */
static unsigned literal_len(const char *at)
{
	const char *end = at + 1;

	while (*end && *end != '"')
		end += *end == '\\' && end[1] ? 2 : 1;
	return end - at + !!*end;
}

/* The length of a name at `at`; of "sizeof(...)" with what stands in the brackets. */
static unsigned name_len(const char *at)
{
	const char *end = at;

	while (isalnum(*end) || *end == '_')
		end++;
	if (end - at == 6 && !strncmp(at, "sizeof", 6) && *end == '(' && strchr(end, ')'))
		end = strchr(end, ')') + 1;
	return end - at;
}

/* Print the name's value, or the name when it has none. mem_map_pfn0 is a variable, whose value the boot finds out. */
static void show_name(struct seq_file *m, const char *system, const char *name, unsigned len)
{
	const struct trace_eval_map *map = find_eval(system, name, len);

	if (map)
		seq_printf(m, "%ld", map->value);
	else if (len == 12 && !strncmp(name, "mem_map_pfn0", len))
		seq_printf(m, "0x%lx", mem_map_pfn0);
	else
		seq_printf(m, "%.*s", (int)len, name);
}

/* Is the name at `at` that of a structure's member, as in REC->state? Such a name is never replaced. */
static bool is_member(const char *text, const char *at)
{
	return (at > text && at[-1] == '.') || (at > text + 1 && at[-1] == '>' && at[-2] == '-');
}

void trace_show_print_fmt(struct seq_file *m, const char *system, const char *fmt)
{
	unsigned len;

	for (const char *at = fmt; *at; at += len) {
		len = *at == '"' ? literal_len(at) : name_len(at);
		if (len && *at != '"' && !is_member(fmt, at)) {
			show_name(m, system, at, len);
		} else {
			len = len ?: 1;
			seq_printf(m, "%.*s", (int)len, at);
		}
	}
}

/* ---- The file */

static void show_maps(struct seq_file *m, const struct trace_eval_map *const *maps, unsigned n)
{
	for (; n; n--, maps++)
		seq_printf(m, "%s %ld (%s)\n", (*maps)->name, (*maps)->value, (*maps)->system);
}

static int eval_map_show(struct seq_file *m, void *owner)
{
	const struct trace_late_evals *evals;

	show_maps(m, __start_ptrs_trace_eval_maps, __stop_ptrs_trace_eval_maps - __start_ptrs_trace_eval_maps);
	mutex_lock(&event_mutex);
	list_for_each_entry(evals, &trace_late_evals, list)
		show_maps(m, evals->maps, evals->n);
	mutex_unlock(&event_mutex);
	return 0;
}
TRACEFS_TEXT_FILE(eval_map, "eval_map", 0440, TRACEFS_TOP, eval_map_show, NULL);
