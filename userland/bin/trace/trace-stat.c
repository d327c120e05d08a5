/*
 * trace-stat [-a] [-B NAME]: how tracing is set up, and what the buffers hold, of the buffer that
 * is always there and of all instances. Only what is not as it is after booting is shown, or with
 * -a all of it: so a short output says that little was changed.
 */
#include <vt_trace.h>

static bool all;

/*
 * Take lines of comment away, in place, unless -a was given: they only say how it is after booting.
 * Commands such as vfs_read:traceoff may stand below them and stay.
 */
static char *without_comments(char *text)
{
	return all ? text : vt_tracefs_settings(text);
}

/*
 * Show a file's content behind a name, if it says something other than `usual`; more than one line
 * goes below the name. A file that is not there is left out: instances have fewer files.
 */
static void show(const char *instance, const char *file, const char *name, const char *usual)
{
	char *text = vt_tracefs_read(instance, file), *to;
	bool lines;

	if (!text) /* instances have fewer files */
		return;
	text = without_comments(text);
	to = text + strlen(text);
	while (to > text && to[-1] == '\n')
		*--to = '\0';
	if (all || (*text && strcmp(text, usual))) {
		lines = strchr(text, '\n');
		printf("%s:%s", name, lines ? "\n" : " ");
		for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
			printf("%s%s\n", lines ? "  " : "", line);
	}
	free(text);
}

/* The number behind "name: " in a CPU's statistics. */
static unsigned long number(const char *stats, const char *name)
{
	const char *at = strstr(stats, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* What each CPU's buffer has counted. An instance may be taken away while it is shown. */
static void show_cpus(const char *instance, int nr_cpus)
{
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		unsigned long entries, overrun, dropped, bytes;
		char file[48], *stats;

		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
		stats = vt_tracefs_read(instance, file);
		if (!stats && instance && errno == ENOENT) { /* taken away meanwhile */
			printf("gone\n");
			return;
		}
		if (!stats)
			vt_die_errno(1, file);
		entries = number(stats, "entries: ");
		overrun = number(stats, "\noverrun: ");
		bytes = number(stats, "\nbytes: ");
		dropped = number(stats, "\ndropped events: ") + number(stats, "\ncommit overrun: ");
		printf("CPU %d: %lu records in %lu bytes, %lu overwritten, %lu dropped\n", cpu, entries, bytes, overrun,
		       dropped);
		free(stats);
	}
}

/* One trace array: its files, then its CPUs. */
static void show_array(const char *instance, int nr_cpus)
{
	static const struct {
		const char *file, *name, *usual;
	} files[] = {
		{"current_tracer", "Tracer", ""},
		{"tracing_on", "Recording", ""},
		{"tracing_enabled", "tracing_enabled", "1"},
		{"set_event", "Events", ""},
		{"set_ftrace_filter", "Functions", ""},
		{"set_ftrace_notrace", "Functions left out", ""},
		{"set_graph_function", "Graph of", ""},
		{"set_graph_notrace", "Graph without", ""},
		{"max_graph_depth", "Graph's depth", "0"},
		{"set_ftrace_pid", "Functions of tasks", "no pid"},
		{"set_event_pid", "Events of tasks", "no pid"},
		{"tracing_cpumask", "CPUs (mask)", ""},
		{"buffer_size_kb", "Buffer of a CPU (KB)", ""},
		{"trace_clock", "Clock", ""},
		{"tracing_max_latency", "Maximal latency (us)", "0"},
		{"error_log", "Errors", ""},
	};

	if (instance)
		printf("\nInstance %s\n", instance);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		show(instance, files[i].file, files[i].name, files[i].usual);
	show_cpus(instance, nr_cpus);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "trace-stat [-a] [-B NAME]",
			       .options = "aB:",
			       .help = "  -a       also what is as after booting\n  -B NAME  of this instance only\n",
			       .bad_status = 1};
	const char *only = NULL;
	char **names, *path;
	int c, nr_cpus;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'a')
			all = true;
		else
			only = o.arg;
	}
	if (o.index < argc)
		vt_usage(&o);
	vt_tracefs_check();
	nr_cpus = vt_tracefs_cpus();
	/* Without -B this is tracefs itself, which vt_tracefs_check() has found. */
	path = vt_tracefs_path(only, "");
	if (access(path, F_OK) < 0)
		vt_die(1, "no instance '%s'", only);
	free(path);
	show_array(only, nr_cpus);
	path = vt_tracefs_path(NULL, "instances");
	names = only ? NULL : vt_names(path);
	for (char **name = names; name && *name; name++)
		show_array(*name, nr_cpus);
	vt_names_free(names);
	free(path);
	return vt_finish(0);
}
