/*
 * nice [-n ADJUSTMENT] [COMMAND [ARG...]]: run a command with another nice value, or show the
 * present one. `nice -10` and `nice --10` are the old form of -n 10 and -n -10.
 */
#include <vt.h>
#include <sys/resource.h>

/* Is the first word the old form? */
static bool old_form(int argc, char **argv)
{
	long n;

	return argc > 1 && argv[1][0] == '-' && vt_number(argv[1] + 1, -40, 40, &n) == 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "nice [-n ADJUSTMENT] [COMMAND [ARG...]]",
			       .options = "n:",
			       .in_order = true,
			       .bad_status = 125};
	int adjustment = 10, now;

	if (old_form(argc, argv)) {
		adjustment = (int)vt_number_or_die(125, argv[1] + 1, -40, 40);
		o.index = 2;
	}
	while (vt_option(&o, argc, argv) != -1)
		adjustment = (int)vt_number_or_die(125, o.arg, -40, 40);
	errno = 0;
	now = getpriority(PRIO_PROCESS, 0);
	/* -1 is a fair nice value: only errno tells a failure. */
	if (errno)
		vt_die_errno(125, "getpriority");
	if (o.index >= argc) {
		printf("%d\n", now);
		return vt_finish(0);
	}
	/* Without the right to, the command runs as it is: so does the real one. */
	if (setpriority(PRIO_PROCESS, 0, now + adjustment) < 0)
		vt_warn_errno("cannot set niceness");
	vt_exec(argv + o.index);
}
