/*
 * trace-cmd list: what there is to trace with, as tracefs lists it. Each letter is a file or a
 * folder of tracefs; patterns are extended regular expressions, and a letter without a pattern
 * lists everything. Without letters events, tracers and options are listed, each under a title.
 *
 * `trace-cmd list -e '^sched:'` reads available_events; the other letters read files of the same kind,
 * so this command shows nothing that `cat` could not.
 */
#include <vt_report.h>

/* A pattern that matches nothing is worth a warning, and no error. */
static void say_none(bool any, const char *file, const char *pattern)
{
	if (!any && pattern)
		vt_warn("nothing in %s matches '%s'", file, pattern);
}

/*
 * Print those pieces of a file of tracefs that match the pattern; `ends` are the characters that
 * separate the pieces: newlines, and blanks where the file is one line of words. No pattern: all.
 */
static void list_file(const char *file, const char *pattern, const char *ends)
{
	bool any = false;
	char *text = vt_tracefs_read_or_die(NULL, file), *line;
	const char *error;
	struct vt_regex *regex = pattern ? vt_regex_compile(pattern, true, false, &error) : NULL;

	if (pattern && !regex)
		vt_die(1, "%s: %s", pattern, error);
	for (char *rest = text; (line = strsep(&rest, ends));)
		if (*line && (!regex || vt_regex_matches(regex, line))) {
			printf("%s\n", line);
			any = true;
		}
	say_none(any, file, pattern);
	free(text);
}

/*
 * The formats of the events that match. A line of available_events, "sched:sched_switch", becomes the
 * folder events/sched/sched_switch.
 */
static void list_formats(const char *pattern)
{
	char *text = vt_tracefs_read_or_die(NULL, "available_events"), *line;
	const char *error;
	struct vt_regex *regex = vt_regex_compile(pattern ?: "", true, false, &error);
	bool any = false;

	if (!regex)
		vt_die(1, "%s: %s", pattern, error);
	for (char *rest = text; (line = strsep(&rest, "\n"));) {
		char *file, *format;

		if (!*line || !vt_regex_matches(regex, line))
			continue;
		any = true;
		printf("system: %.*s\n", (int)strcspn(line, ":"), line);
		line[strcspn(line, ":")] = '/';
		file = vt_malloc(strlen(line) + sizeof("events//format"));
		sprintf(file, "events/%s/format", line);
		format = vt_tracefs_read_or_die(NULL, file);
		printf("%s\n", format);
		free(format);
		free(file);
	}
	say_none(any, "available_events", pattern);
	free(text);
}

/* The names in a folder of tracefs; it is used for instances, which are directories. */
static void list_folder(const char *file)
{
	char *path = vt_tracefs_path(NULL, file), **names = vt_names(path);

	for (char **name = names; name && *name; name++)
		printf("%s\n", *name);
	vt_names_free(names);
	free(path);
}

/*
 * The word behind an option, if it is not an option itself: `-e` alone lists all events, `-e sched`
 * those that match. vt_option() knows only letters with and without arguments, so the word is taken
 * here; it moves the index over it.
 */
static const char *pattern_behind(struct vt_options *o, int argc, char **argv)
{
	if (o->index >= argc || argv[o->index][0] == '-')
		return NULL;
	return argv[o->index++];
}

/* List what one letter stands for. */
static void list_one(int c, const char *pattern, bool formats)
{
	switch (c) {
	case 'e':
		if (formats)
			list_formats(pattern);
		else
			list_file("available_events", pattern, "\n");
		break;
	case 'f':
		list_file("available_filter_functions", pattern, "\n");
		break;
	case 'o':
		list_file("trace_options", NULL, "\n");
		break;
	case 'B':
		list_folder("instances");
		break;
	case 'C':
		list_file("trace_clock", NULL, "\n");
		break;
	default:
		list_file("available_tracers", NULL, " \n");
	}
}

/*
 * Letters are noted first and listed in a fixed order afterwards. -F changes what -e prints and takes
 * the pattern for it.
 */
int vt_list_main(struct vt_options *o, int argc, char **argv)
{
	const char *patterns[128] = {NULL};
	bool wanted[128] = {false}, any = false;
	int c;

	o->options = "heftpoBCF";
	while ((c = vt_option(o, argc, argv)) != -1) {
		if (c == 'h')
			vt_help(o);
		wanted[c] = true;
		any |= c != 'F';
		if (c == 'e' || c == 'f' || c == 'F') {
			const char *pattern = o->at && *o->at ? NULL : pattern_behind(o, argc, argv);

			if (pattern)
				patterns[c == 'F' ? 'e' : c] = pattern;
		}
	}
	if (o->index < argc)
		vt_die(1, "list does not take '%s'", argv[o->index]);
	for (const char *letter = "etpofBC"; *letter; letter++) {
		if (any ? wanted[(int)*letter] : (wanted['F'] ? *letter == 'e' : strchr("eto", *letter) != NULL)) {
			if (!any && !wanted['F'])
				printf("%s%s:\n", *letter == 'e' ? "" : "\n",
				       *letter == 'e'	? "events"
				       : *letter == 't' ? "tracers"
							: "options");
			list_one(*letter, patterns[(int)*letter], wanted['F']);
		}
	}
	return vt_finish(0);
}
