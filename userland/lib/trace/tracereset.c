/*
 * trace-cmd reset: one trace array as it was after booting. Its triggers go one by one, because a file `trigger` has no
 * word for all of them.
 */
#include <vt_trace.h>

/*
 * Take away the triggers of one event: each line of its file, without the state of a histogram ("[active]"). Returns
 * how many the kernel kept, which it does while another histogram uses its variables.
 */
static int reset_triggers_of(const char *instance, const char *file)
{
	char *text = vt_tracefs_read(instance, file), *line;
	int kept = 0;

	for (char *rest = text; (line = strsep(&rest, "\n"));) {
		char *away, *state = strrchr(line, '[');

		if (!*line || *line == '#')
			continue;
		if (state && !strncmp(line, "hist:", 5) && line[strlen(line) - 1] == ']')
			*state = '\0';
		away = vt_malloc(strlen(line) + 2);
		sprintf(away, "!%s", line);
		kept += vt_tracefs_write(instance, file, away, O_APPEND) < 0;
		free(away);
	}
	free(text);
	return kept;
}

/* The triggers of all events, in several rounds as long as some wait for others to go. */
static void reset_triggers(const char *instance)
{
	int kept = 1;

	for (int round = 0; round < 4 && kept; round++) {
		char *names = vt_tracefs_read_or_die(NULL, "available_events"), *system;

		kept = 0;
		for (char *rest = names; (system = strsep(&rest, "\n"));) {
			char file[256], *event = system;

			strsep(&event, ":");
			snprintf(file, sizeof(file), "events/%s/%s/trigger", system, event ?: "");
			kept += event ? reset_triggers_of(instance, file) : 0;
		}
		free(names);
	}
	if (kept)
		vt_die(1, "%d triggers cannot be taken away", kept);
}

/*
 * Bring one array back to what it was after booting, but for trace options. Triggers go first, as one may switch
 * something on. The order of the table matters: recording off and no tracer first, then filters, the buffer last.
 * Files that an instance does not have (ENOENT) are passed over.
 */
void vt_tracefs_reset(const char *instance, const char *mask)
{
	static const struct {
		const char *file, *text;
	} files[] = {
		{"tracing_on", "0"},	       {"current_tracer", "nop"},  {"tracing_enabled", "1"},
		{"events/enable", "0"},	       {"set_event", ""},	   {"set_event_pid", ""},
		{"set_event_notrace_pid", ""}, {"set_ftrace_pid", ""},	   {"set_ftrace_notrace_pid", ""},
		{"set_ftrace_filter", ""},     {"set_ftrace_notrace", ""}, {"set_graph_function", ""},
		{"set_graph_notrace", ""},     {"max_graph_depth", "0"},   {"tracing_max_latency", "0"},
		{"trace_clock", "local"},      {"error_log", ""},	   {"trace", ""},
	};
	char *folder, **systems;

	reset_triggers(instance);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (vt_tracefs_write(instance, files[i].file, files[i].text, O_TRUNC) < 0 && errno != ENOENT)
			vt_die_errno(1, files[i].file);
	folder = vt_tracefs_path(instance, "events");
	systems = vt_names(folder);
	for (char **name = systems; name && *name; name++) {
		char *file = vt_malloc(strlen(*name) + sizeof("events//filter"));

		sprintf(file, "events/%s/filter", *name);
		if (vt_tracefs_write(instance, file, "0", O_TRUNC) < 0 && errno != ENOENT && errno != ENOTDIR)
			vt_die_errno(1, file);
		free(file);
	}
	vt_names_free(systems);
	free(folder);
	if (vt_tracefs_write(instance, "tracing_cpumask", mask, O_TRUNC) < 0 ||
	    vt_tracefs_write(instance, "tracing_on", "1", O_TRUNC) < 0)
		vt_die_errno(1, "tracing_on");
}
