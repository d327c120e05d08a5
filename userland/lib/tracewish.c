/*
 * What trace-record and trace-cmd were asked for, and how tracefs is told. Options are kept as
 * wishes, in the order of the command line, and granted by vt_wish_prepare() when the whole line is
 * understood: a mistake at its end has changed nothing. Every file is noted before it changes
 * (tracefs.c). A wish belongs to a trace array: the one that is always there, or the instance that
 * the last -B named.
 */
#include <vt_trace.h>

/*
 * In the order of the command line; applied once the whole of it is understood. Texts point into argv
 * and are not copied.
 */
static struct wish {
	const struct vt_array *array;
	int letter;
	const char *text;
} * wishes;
static size_t nr_wishes;

/* Replace what the file holds; an error ends the program, which puts everything back. */
static void set(const struct vt_array *a, const char *file, const char *text)
{
	vt_tracefs_set(a->name, file, text, O_TRUNC, NULL);
}

/*
 * Add events to those that are on: "all", "sched", "sched:sched_switch", "sched_switch", patterns.
 * set_event is appended to, as with O_TRUNC each -e would replace the one before.
 */
static void add_event(const struct vt_array *a, const char *text)
{
	vt_tracefs_set(a->name, "set_event", strcmp(text, "all") ? text : "*:*", O_APPEND, "no event");
}

/* Functions between blanks or commas, one a time, so that the one that is wrong can be named. */
static void add_functions(const struct vt_array *a, const char *file, const char *text)
{
	char *words = vt_strdup(text), *rest = words, *word;

	while ((word = strsep(&rest, " \t\n,")))
		if (*word)
			vt_tracefs_set(a->name, file, word, O_APPEND, "no function");
	free(words);
}

/* "stacktrace" or "nostacktrace". */
static void set_trace_option(const struct vt_array *a, const char *text)
{
	char file[80], *path;
	bool off = !strncmp(text, "no", 2);

	for (int skip = 0; skip <= 2 * off; skip += 2) { /* "nonblock" may be an option's own name */
		snprintf(file, sizeof(file), "options/%s", text + skip);
		path = vt_tracefs_path(a->name, file);
		if (!strchr(text, '/') && access(path, W_OK) == 0) {
			set(a, file, skip ? "0" : "1");
			free(path);
			return;
		}
		free(path);
	}
	vt_die(1, "no option '%s'", text);
}

/* The filter of one event. Returns whether the kernel took it. */
static bool filter_event(const struct vt_array *a, const char *system, const char *event, const char *text)
{
	char *file = vt_malloc(strlen(system) + strlen(event) + sizeof("events///filter"));
	bool taken;

	sprintf(file, "events/%s/%s/filter", system, event);
	taken = vt_tracefs_try(a->name, file, text, O_TRUNC);
	free(file);
	return taken;
}

/* The filter of all events of a system that have its fields, or of the one named. Returns how many took it.
 */
static int filter_system(const struct vt_array *a, const char *system, const char *event, const char *text)
{
	char *folder = vt_tracefs_path(a->name, "events"), *dir = vt_join(folder, system), **names = vt_names(dir);
	int taken = 0;

	for (char **name = names; name && *name; name++) {
		char *path = vt_join(dir, *name);

		if (access(path, X_OK) == 0 && strcmp(*name, "enable") && strcmp(*name, "filter") &&
		    (!event || !strcmp(event, *name)))
			taken += filter_event(a, system, *name, text);
		free(path);
	}
	vt_names_free(names);
	free(dir);
	free(folder);
	return taken;
}

/* -f: of the event or the events that the -e before it has named, "sched:sched_switch", "sched_switch" or
 * "sched". */
static void set_filter(const struct wish *w)
{
	const struct wish *before = w > wishes && w[-1].array == w->array && w[-1].letter == 'e' ? w - 1 : NULL;
	char *folder = vt_tracefs_path(w->array->name, "events"), **names = vt_names(folder), *event;
	int taken = 0;

	if (!before)
		vt_die(1, "-f '%s': the -e of an event is wanted before it", w->text);
	event = strchr(before->text, ':');
	for (char **name = names; name && *name; name++) {
		if (event ? !strncmp(before->text, *name, (size_t)(event - before->text)) &&
				    !(*name)[event - before->text]
			  : !strcmp(before->text, *name))
			taken += filter_system(w->array, *name, event ? event + 1 : NULL, w->text);
		else if (!event)
			taken += filter_system(w->array, *name, before->text, w->text);
	}
	if (!taken)
		vt_die(1, "-e %s does not take the filter '%s'", before->text, w->text);
	vt_names_free(names);
	free(folder);
}

/* Do what one option asks for. Letters are trace-record's. */
static void grant(const struct wish *w)
{
	switch (w->letter) {
	case 'f':
		set_filter(w);
		break;
	case 'M':
		vt_tracefs_set(w->array->name, "tracing_cpumask", w->text, O_TRUNC, "no mask of CPUs");
		break;
	case 'D':
		set(w->array, "max_graph_depth", w->text);
		break;
	case 'e':
		add_event(w->array, w->text);
		break;
	case 'l':
		add_functions(w->array, "set_ftrace_filter", w->text);
		break;
	case 'n':
		add_functions(w->array, "set_ftrace_notrace", w->text);
		break;
	case 'g':
		add_functions(w->array, "set_graph_function", w->text);
		break;
	case 'O':
		set_trace_option(w->array, w->text);
		break;
	case 'C':
		vt_tracefs_set(w->array->name, "trace_clock", w->text, O_TRUNC, "no clock");
		break;
	case 'b':
		set(w->array, "buffer_size_kb", w->text);
		break;
	}
}

void vt_wish_add(struct vt_array *a, int letter, const char *text)
{
	wishes = vt_realloc(wishes, (nr_wishes + 1) * sizeof(*wishes));
	wishes[nr_wishes++] = (struct wish){a, letter, text};
	a->used = true;
}

size_t vt_wish_count(void)
{
	return nr_wishes;
}

/* Was this letter given for this array? */
static bool has_wish(const struct vt_array *a, int letter)
{
	for (size_t i = 0; i < nr_wishes; i++)
		if (wishes[i].array == a && wishes[i].letter == letter)
			return true;
	return false;
}

/*
 * A list that is asked for replaces the one that was there. Events are always emptied: those that
 * are on were not asked for by this command.
 */
static void empty_lists(const struct vt_array *a)
{
	static const struct {
		int letter;
		const char *file;
	} lists[] = {{'l', "set_ftrace_filter"}, {'n', "set_ftrace_notrace"}, {'g', "set_graph_function"}};

	set(a, "set_event", "");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (has_wish(a, lists[i].letter))
			set(a, lists[i].file, "");
}

/* Trace this process, in events and in functions; `how` says whether beside others. */
static void choose_task(const struct vt_array *a, const char *pid, int how)
{
	vt_tracefs_set(a->name, "set_event_pid", pid, how, "no process");
	vt_tracefs_set(a->name, "set_ftrace_pid", pid, how, "no process");
}

/*
 * Trace only the command (`only`: its pid), or those that the option t names, with their children
 * or without. With neither every task is traced.
 */
static void choose_tasks(const struct vt_array *a, long only, bool children)
{
	const char *fork = children ? "1" : "0";
	int how = O_TRUNC;
	char text[24];

	snprintf(text, sizeof(text), "%ld", only);
	if (only)
		choose_task(a, text, O_TRUNC);
	for (size_t i = 0; i < nr_wishes && !only; i++) {
		if (wishes[i].array == a && wishes[i].letter == 't') {
			choose_task(a, wishes[i].text, how);
			how = O_APPEND;
		}
	}
	if (only || how == O_APPEND) {
		set(a, "options/event-fork", fork);
		set(a, "options/function-fork", fork);
	}
}

/*
 * Select the tracer. The kernel also takes names that it does not list, such as "ftrace". When it
 * refuses one, the list tells whether there is no such tracer: one that exists may be refused with
 * the same error, as those of latencies want a clock of nanoseconds.
 */
static void set_tracer(const struct vt_array *a)
{
	char *known, *rest, *word;
	bool found = false;

	if (vt_tracefs_try(a->name, "current_tracer", a->tracer, O_TRUNC))
		return;
	rest = known = vt_tracefs_read_or_die(a->name, "available_tracers");
	while ((word = strsep(&rest, " \n")))
		found |= !strcmp(word, a->tracer);
	free(known);
	if (!found)
		vt_die(1, "no tracer '%s'", a->tracer);
	set(a, "current_tracer", a->tracer);
}

/*
 * Do not trace this program's functions: to take a page away takes as many calls as fill another,
 * so there would be no end of it. Its events are few, and sched_switch of everybody is wanted.
 */
static void leave_us_out(const struct vt_array *a)
{
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)getpid());
	vt_tracefs_set(a->name, "set_ftrace_notrace_pid", text, O_APPEND, NULL);
}

/*
 * The order matters: recording off and no tracer while lists change; the tracer last, so that
 * nothing is recorded with half of the settings. With VT_WISH_ADD everything that is there stays.
 */
void vt_wish_prepare(const struct vt_array *a, long only, int how)
{
	if (!(how & VT_WISH_ADD)) {
		set(a, "tracing_on", "0");
		set(a, "current_tracer", "nop");
		/* Off since a tutorial of Linux 2.6, it would keep everything out. */
		set(a, "tracing_enabled", "1");
		empty_lists(a);
	}
	for (size_t i = 0; i < nr_wishes; i++)
		if (wishes[i].array == a)
			grant(&wishes[i]);
	choose_tasks(a, only, how & VT_WISH_CHILDREN);
	if (!(how & VT_WISH_ADD) && vt_tracefs_write(a->name, "trace", "", O_TRUNC) < 0)
		vt_die_errno(1, "trace");
	if (a->tracer && how & VT_WISH_RECORDER)
		leave_us_out(a);
	if (a->tracer)
		set_tracer(a);
}
