/*
 * trace-cmd stack: the stack tracer, which keeps the largest use of a task's stack (docs/stack-tracer.md).
 * Without an option its finding is shown; --start and --stop are its switch, and --reset forgets what was found.
 */
#include <vt_report.h>

#define SWITCH "/proc/sys/kernel/stack_tracer_enabled"

/* Write the switch: "1" or "0". */
static void switch_stack_tracer(const char *text)
{
	int fd = open(SWITCH, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || vt_write_all(fd, text, strlen(text)) < 0)
		vt_die_errno(1, SWITCH);
	close(fd);
}

/* Print whether it is on, and what it has found. Lines of comment explain files of tracefs, and are left out. */
static void show_stack(void)
{
	char *state = vt_read_file(SWITCH, NULL), *text = vt_tracefs_read_or_die(NULL, "stack_trace");

	if (!state)
		vt_die_errno(1, SWITCH);
	printf("(stack tracer %srunning)\n%s", atoi(state) ? "" : "not ", vt_tracefs_settings(text));
	free(state);
	free(text);
}

/* The last of several options counts, as in Debian's. */
int vt_stack_main(struct vt_options *o, int argc, char **argv)
{
	static const struct vt_long_option longs[] = {{"start", '1'}, {"stop", '0'}, {"reset", 'r'}, {NULL, 0}};
	int c, wanted = 0;

	o->usage = "trace-cmd stack [--start|--stop|--reset]";
	o->help = NULL;
	o->longs = longs;
	o->options = "h10r";
	while ((c = vt_option(o, argc, argv)) != -1) {
		if (c == 'h')
			vt_help(o);
		wanted = c;
	}
	if (o->index < argc)
		vt_die(1, "stack does not take '%s'", argv[o->index]);
	if (wanted == 'r' && vt_tracefs_write(NULL, "stack_max_size", "0", O_TRUNC) < 0)
		vt_die_errno(1, "stack_max_size");
	if (wanted == '0' || wanted == '1')
		switch_stack_tracer(wanted == '1' ? "1" : "0");
	if (!wanted)
		show_stack();
	return vt_finish(0);
}
