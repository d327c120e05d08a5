/*
 * trace-cmd check-events: are the formats of all events understood? Each print format is tried on a record of zeros, as
 * `report` does with records of a file. It is evaluated to its end whatever the values are, so zeros show all of it.
 */
#include <vt_report.h>

/* The format of one event, from its file. Says what is not understood, and returns whether it all was. */
static bool check_event(const char *system, const char *name)
{
	static const unsigned char zeros[4096];
	static const struct vt_dat_file nothing;
	struct vt_event event;
	struct vt_bytes out = {};
	char file[256], *text;
	bool good;

	snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
	text = vt_tracefs_read_or_die(NULL, file);
	vt_event_parse(&event, system, text, strlen(text));
	vt_print_format(&out, &(struct vt_record){&nothing, &event, zeros, sizeof(zeros), 0, NULL});
	vt_put(&out, "", 1);
	good = !strcmp(event.name, name) && event.id && !strstr(out.data, "[?]");
	if (!good)
		vt_warn("%s:%s: its format is not understood: %.*s", system, name, (int)strcspn(event.print, "\n"),
			event.print);
	free(out.data);
	free(text);
	return good;
}

/* All events. -N (no plug-ins) changes nothing: plug-ins of `report` do not use formats. Returns the exit status. */
int vt_check_events_main(struct vt_options *o, int argc, char **argv)
{
	char *names = vt_tracefs_read_or_die(NULL, "available_events"), *system;
	bool good = true;
	int c;

	o->usage = "trace-cmd check-events [-N]";
	o->help = NULL;
	o->options = "hN";
	while ((c = vt_option(o, argc, argv)) != -1)
		if (c == 'h')
			vt_help(o);
	if (o->index < argc)
		vt_die(1, "check-events does not take '%s'", argv[o->index]);
	for (char *rest = names; (system = strsep(&rest, "\n"));) {
		char *event = system;

		strsep(&event, ":");
		if (event)
			good &= check_event(system, event);
	}
	free(names);
	return vt_finish(!good);
}
