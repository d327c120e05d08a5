/*
 * What trace-record and trace-cmd were asked for, and how tracefs is told. Options are kept as
 * wishes, in the order of the command line, and granted by vt_wish_prepare() when the whole line is
 * understood: a mistake at its end has changed nothing. Every file is noted before it changes
 * (tracefs.c). A wish belongs to a trace array: the one that is always there, or the instance that
 * the last -B named.
 */
#include <vt_trace.h>
#include <fnmatch.h>
#include <limits.h>

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

/* Find the last wish of this array that lies before `end` and has one of these letters; NULL if no wish has. */
static const struct wish *last_of(const struct vt_array *a, const struct wish *end, const char *letters)
{
	for (size_t i = (size_t)(end - wishes); i-- > 0;)
		if (wishes[i].array == a && strchr(letters, wishes[i].letter))
			return &wishes[i];
	return NULL;
}

/* Replace what the file holds; an error ends the program, which puts everything back. */
static void set(const struct vt_array *a, const char *file, const char *text)
{
	vt_tracefs_set(a->name, file, text, O_TRUNC, NULL);
}

/*
 * Switch events on or off: "all", "sched", "sched:sched_switch", "sched_switch", patterns.
 * set_event is appended to, as with O_TRUNC each -e would replace the one before.
 */
static void set_event(const struct wish *w)
{
	struct vt_bytes word = {};

	vt_bytes_printf(&word, "%s%s", w->letter == 'E' ? "!" : "", strcmp(w->text, "all") ? w->text : "*:*");
	vt_put(&word, "", 1);
	vt_tracefs_set(w->array->name, "set_event", word.data, O_APPEND, "no event");
	free(word.data);
}

/*
 * Functions between blanks or commas, one a time, so that the one that is wrong can be named. After --module only that
 * module's functions are meant.
 */
static void add_functions(const struct wish *w, const char *file, const char *text)
{
	char *words = vt_strdup(text), *rest = words, *word;
	const struct wish *module = last_of(w->array, w + 1, "k");

	while ((word = strsep(&rest, " \t\n,"))) {
		struct vt_bytes function = {};

		if (!*word)
			continue;
		vt_bytes_printf(&function, module ? "%s:mod:%s" : "%s", word, module ? module->text : "");
		vt_put(&function, "", 1);
		vt_tracefs_set(w->array->name, file, function.data, O_APPEND, "no function");
		free(function.data);
	}
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

/* Does "sched:sched_switch", "sched", "sched_switch" or a pattern of one of these mean this event? */
static bool means_event(const char *text, const char *system, const char *event)
{
	char *part = vt_strdup(text), *name = part;
	bool found;

	strsep(&name, ":");
	if (name)
		found = !fnmatch(part, system, 0) && (!*name || !fnmatch(name, event, 0));
	else
		found = !strcmp(part, "all") || !fnmatch(part, system, 0) || !fnmatch(part, event, 0);
	free(part);
	return found;
}

/* Add to a file of one event, `filter` or `trigger`, what the option says. Returns whether the kernel took it. */
static bool tell_event(const struct wish *w, const char *system, const char *event, const char *text)
{
	const char *name = w->letter == 'f' ? "filter" : "trigger";
	char *file = vt_malloc(strlen(system) + strlen(event) + sizeof("events///trigger"));
	bool taken;

	sprintf(file, "events/%s/%s/%s", system, event, name);
	taken = w->letter == 'f' ? vt_tracefs_try(w->array->name, file, text, O_TRUNC)
				 : vt_tracefs_add(w->array->name, file, text);
	free(file);
	return taken;
}

/*
 * Find the events that `event` (an option -e) means, and tell each what the option `w` says; NULL: only count them.
 * Returns how many took it. Events of a system that do not have a filter's fields do not.
 */
static int tell_events(const struct wish *event, const struct wish *w, const char *text)
{
	char *names = vt_tracefs_read_or_die(NULL, "available_events"), *system;
	int taken = 0;

	for (char *rest = names; (system = strsep(&rest, "\n"));) {
		char *name = system;

		strsep(&name, ":");
		if (name && means_event(event->text, system, name))
			taken += !w || tell_event(w, system, name, text);
	}
	free(names);
	return taken;
}

/* -f and -R: for the events of the -e before them. Of several filters all must hold. */
static void set_filter(const struct wish *w)
{
	const struct wish *event = last_of(w->array, w, "eE");
	struct vt_bytes text = {};

	for (const struct wish *other = event + 1; other < w && w->letter == 'f'; other++)
		if (other->array == w->array && other->letter == 'f')
			vt_bytes_printf(&text, "(%s)&&", other->text);
	vt_bytes_printf(&text, text.n ? "(%s)" : "%s", w->text);
	vt_put(&text, "", 1);
	if (!tell_events(event, w, text.data))
		vt_die(1, "-e %s does not take the %s '%s'", event->text, w->letter == 'f' ? "filter" : "trigger",
		       text.data);
	free(text.data);
}

/* --module: all of its functions, unless -l or -n after it say which (add_functions). */
static void set_module(const struct wish *w)
{
	for (const struct wish *next = w + 1; next < wishes + nr_wishes && next->letter != 'k'; next++)
		if (next->array == w->array && (next->letter == 'l' || next->letter == 'n'))
			return;
	add_functions(w, "set_ftrace_filter", "*");
}

/* Do what one option asks for. Letters are trace-record's. */
static void grant(const struct wish *w)
{
	switch (w->letter) {
	case 'f':
	case 'R':
		set_filter(w);
		break;
	case 'M':
		vt_tracefs_set(w->array->name, "tracing_cpumask", w->text, O_TRUNC, "no mask of CPUs");
		break;
	case 'D':
		set(w->array, "max_graph_depth", w->text);
		break;
	case 'e':
	case 'E':
		set_event(w);
		break;
	case 'k':
		set_module(w);
		break;
	case 'l':
		add_functions(w, "set_ftrace_filter", w->text);
		break;
	case 'n':
		add_functions(w, "set_ftrace_notrace", w->text);
		break;
	case 'g':
		add_functions(w, "set_graph_function", w->text);
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

/* An -e after -v becomes E. What is wrong with the order of options or with a number is found here. */
void vt_wish_add(struct vt_array *a, int letter, const char *text)
{
	const struct wish *end = wishes + nr_wishes, *event = last_of(a, end, "eE");

	if (strchr("fR", letter) && !event)
		vt_die(1, "-%c '%s': the -e of an event is wanted before it", letter, text);
	if (letter == 'f' && event->letter == 'E')
		vt_die(1, "-f '%s': -v switches '%s' off, and it records nothing to filter", text, event->text);
	if (letter == 'g' && last_of(a, end, "k"))
		vt_die(1, "-g '%s': a module (%s) is only for -l and -n", text, last_of(a, end, "k")->text);
	if (strchr("bD", letter))
		vt_number_or_die(1, text, letter == 'b', INT_MAX);
	if (letter == 'e' && last_of(a, end, "v"))
		letter = 'E';
	wishes = vt_realloc(wishes, (nr_wishes + 1) * sizeof(*wishes));
	wishes[nr_wishes++] = (struct wish){a, letter, text};
	a->used = true;
}

size_t vt_wish_count(void)
{
	return nr_wishes;
}

/*
 * A list that is asked for replaces the one that was there. Events are always emptied: those that
 * are on were not asked for by this command.
 */
static void empty_lists(const struct vt_array *a)
{
	static const struct {
		const char *letters, *file;
	} lists[] = {{"lk", "set_ftrace_filter"}, {"n", "set_ftrace_notrace"}, {"g", "set_graph_function"}};

	set(a, "set_event", "");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (last_of(a, wishes + nr_wishes, lists[i].letters))
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

/* Is this a tracer's name? The kernel also takes "ftrace", the name of `function` in Linux 2.6.27. */
static bool is_tracer(const struct vt_array *a)
{
	char *known = vt_tracefs_read_or_die(a->name, "available_tracers"), *rest = known, *word;
	bool found = !strcmp(a->tracer, "ftrace");

	while ((word = strsep(&rest, " \n")))
		found |= !strcmp(word, a->tracer);
	free(known);
	return found;
}

/* Wrong names end the program before anything changes, because a tracer that is put back has lost its trace. */
static void check_names(const struct vt_array *a)
{
	if (a->tracer && !is_tracer(a))
		vt_die(1, "no tracer '%s'", a->tracer);
	for (size_t i = 0; i < nr_wishes; i++)
		if (wishes[i].array == a && strchr("eE", wishes[i].letter) && !tell_events(&wishes[i], NULL, NULL))
			vt_die(1, "no event '%s'", wishes[i].text);
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
	const bool no_functions = how & VT_WISH_NO_FUNCTIONS;

	check_names(a);
	if (!(how & VT_WISH_ADD)) {
		set(a, "tracing_on", "0");
		set(a, "current_tracer", "nop");
		/* Off since a tutorial of Linux 2.6, it would keep everything out. */
		set(a, "tracing_enabled", "1");
		empty_lists(a);
	}
	if (no_functions || !(how & VT_WISH_ADD))
		set(a, "options/function-trace", no_functions ? "0" : "1");
	for (size_t i = 0; i < nr_wishes; i++)
		if (wishes[i].array == a)
			grant(&wishes[i]);
	choose_tasks(a, only, how & VT_WISH_CHILDREN);
	if (!(how & VT_WISH_ADD) && vt_tracefs_write(a->name, "trace", "", O_TRUNC) < 0)
		vt_die_errno(1, "trace");
	if (a->tracer && how & VT_WISH_RECORDER)
		leave_us_out(a);
	if (a->tracer)
		set(a, "current_tracer", a->tracer);
}
