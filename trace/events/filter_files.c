/*
 * The files `filter` of events and of systems: a text becomes a program (filter_parse.c), the program is put in force,
 * and what is wrong with a text is kept for the reader. event_mutex is held throughout, and everything may sleep.
 *
 * A probe may be running the old program. So an old program is not freed when it is replaced, but collected in a list
 * (`retired`), and freed a grace period after the last replacement: a system's filter needs one grace period for all of
 * its events.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "tracefs/error_log.h"
#include "event_file.h"
#include "filter.h"

/* ---- Putting in force */

/* Probes run with preemption off, so after the grace period none of them runs one of these programs. */
static void free_retired(struct event_filter *retired)
{
	struct event_filter *next;

	if (retired)
		synchronize_rcu();
	for (; retired; retired = next) {
		next = retired->retired;
		filter_free(retired);
	}
}

/*
 * Puts `filter` in force (NULL: none), and `text` is what reading shows from now on (NULL: "none"). Both belong to the
 * file from here on. The filter that it had is put in front of `retired`. Release: a probe that sees the pointer sees
 * the whole program.
 */
static void install(struct trace_event_file *file, struct event_filter *filter, char *text,
		    struct event_filter **retired)
{
	struct event_filter *old = file->filter;

	smp_store_release(&file->filter, filter);
	trace_event_set_flag(file, EVENT_FILE_FILTERED, filter);
	kfree(file->filter_text);
	file->filter_text = text;
	if (old) {
		old->retired = *retired;
		*retired = old;
	}
}

/* ---- What is wrong */

/*
 * Writes the error to error_log and returns what the file shows, in which a caret points at the place. NULL: out of
 * memory.
 *
 *	next_comm == 5
 *	              ^
 *	parse_error: Expecting string field
 */
static char *explain(struct trace_array *tr, const char *text, const struct filter_problem *problem)
{
	unsigned column = min(problem->column, (unsigned)strlen(text));
	const char *what;

	if (problem->error == FILT_ERR_NONE) {
		tracing_log_err(tr, "event filter parse error", text, filter_error_texts[FILT_ERR_ERRNO], 0);
		return kasprintf(GFP_KERNEL, "%s\nError: (0)\n", text);
	}
	what = filter_error_texts[problem->error];
	tracing_log_err(tr, "event filter parse error", text, what, problem->column);
	return kasprintf(GFP_KERNEL, "%s\n%*s\nparse_error: %s\n", text, column + 1, "^", what);
}

/* "0" takes the filter away, as in Linux. */
static bool clears(const char *text)
{
	return !strcmp(text, "0");
}

/* For a trigger's condition: the program, or an ERR_PTR after error_log has been told why. */
struct event_filter *trace_event_parse_filter(const struct trace_event_file *file, const char *text)
{
	struct filter_problem problem;
	struct event_filter *filter = filter_parse(trace_event_fields(file->call), text, &problem);

	if (IS_ERR(filter) && filter != ERR_PTR(-ENOMEM))
		kfree(explain(file->tr, text, &problem));
	return filter;
}

/* ---- Of an event */

/*
 * [event_mutex] Replace an event's filter. A text that is wrong leaves none, and the file then shows it with the
 * error marked, as on Linux. 0 or -errno.
 */
int trace_event_set_filter(struct trace_event_file *file, const char *text)
{
	struct event_filter *filter = NULL, *retired = NULL;
	struct filter_problem problem;
	char *shown = NULL;
	int ret = 0;

	if (!clears(text)) {
		filter = filter_parse(trace_event_fields(file->call), text, &problem);
		ret = IS_ERR(filter) ? PTR_ERR(filter) : 0;
		if (ret == -ENOMEM)
			return ret;
		shown = ret ? explain(file->tr, text, &problem) : kstrdup(text, GFP_KERNEL);
		if (ret)
			filter = NULL;
		if (!shown) {
			filter_free(filter);
			return -ENOMEM;
		}
	}
	install(file, filter, shown, &retired);
	free_retired(retired);
	return ret;
}

/* The text as it was written, or with the error marked; "none" without a filter. */
void trace_event_show_filter(struct seq_file *m, const struct trace_event_file *file)
{
	seq_printf(m, "%s\n", file->filter_text ?: "none");
}

/* ---- Of a system */

/* What an event gets. No filter: it keeps what it has. */
struct new_filter {
	struct event_filter *filter;
	char *text;
};

/* A filter for each event of the system that has the fields. 0; -EINVAL: no event has them; -ENOMEM. */
static int parse_where_possible(struct trace_event_system *system, const char *text, struct new_filter *new)
{
	struct trace_event_file *file;
	struct filter_problem problem;
	int ret = -EINVAL;

	for_each_event(system->set, file) {
		struct new_filter *n = &new[file - system->set->files];
		struct event_filter *filter;

		if (strcmp(file->call->class->system, system->name))
			continue;
		filter = filter_parse(trace_event_fields(file->call), text, &problem);
		if (filter == ERR_PTR(-ENOMEM))
			return -ENOMEM;
		if (IS_ERR(filter))
			continue;
		n->filter = filter;
		n->text = kstrdup(text, GFP_KERNEL);
		if (!n->text)
			return -ENOMEM;
		ret = 0;
	}
	return ret;
}

/*
 * Each event of the system that has the fields gets the filter; the others keep what they have. All programs exist
 * before the first is in force, so that an error changes nothing. 0; -EINVAL: no event has the fields; -ENOMEM.
 */
static int set_where_possible(struct trace_event_system *system, const char *text, struct event_filter **retired)
{
	struct new_filter *new = kcalloc(system->set->nr_files, sizeof(*new), GFP_KERNEL);
	struct trace_event_file *file;
	int ret;

	if (!new)
		return -ENOMEM;
	ret = parse_where_possible(system, text, new);
	for_each_event(system->set, file) {
		struct new_filter *n = &new[file - system->set->files];

		if (!n->filter)
			continue;
		if (!ret) {
			install(file, n->filter, n->text, retired);
		} else {
			filter_free(n->filter);
			kfree(n->text);
		}
	}
	kfree(new);
	return ret;
}

/* All events of the system lose their filters, those included that were set one by one. */
static void clear_all(struct trace_event_system *system, struct event_filter **retired)
{
	struct trace_event_file *file;

	for_each_event(system->set, file)
		if (!strcmp(file->call->class->system, system->name))
			install(file, NULL, NULL, retired);
}

/* [event_mutex] The same filter for all events of a system that have its fields; the others keep theirs. */
int trace_system_set_filter(struct trace_event_system *system, const char *text)
{
	static const struct filter_problem no_event = {FILT_ERR_BAD_SUBSYS_FILTER, 0};
	struct event_filter *retired = NULL;
	char *shown = NULL;
	int ret = 0;

	if (clears(text))
		clear_all(system, &retired);
	else
		ret = set_where_possible(system, text, &retired);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		shown = explain(system->set->tr, text, &no_event);
	kfree(system->filter_text);
	system->filter_text = shown;
	free_retired(retired);
	return ret;
}

/* A system has no filter of its own, so the file shows only what was wrong with the last text, or how to use it. */
void trace_system_show_filter(struct seq_file *m, const struct trace_event_system *system)
{
	seq_printf(m, "%s\n",
		   system->filter_text
			   ?: "### global filter ###\n"
			      "# Use this to set filters for multiple events.\n"
			      "# Only events with the given fields will be affected.\n"
			      "# If no events are modified, an error message will be displayed here");
}
