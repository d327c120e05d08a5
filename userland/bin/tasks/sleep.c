/*
 * sleep SECONDS[.FRACTION][smhd]...: do nothing for a while.
 *
 * Several times are added up, as GNU does. `sleep infinity` ends by a signal only.
 */
#include <vt.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "sleep SECONDS[.FRACTION][smhd]...", .options = "", .bad_status = 1};
	int64_t total = 0, ns;
	struct timespec span;

	vt_operands(&o, argc, argv, 1, argc);
	for (; o.index < argc; o.index++) {
		while (!strcmp(argv[o.index], "infinity") || !strcmp(argv[o.index], "inf"))
			nanosleep(&(struct timespec){.tv_sec = INT32_MAX}, NULL);
		if (vt_seconds(argv[o.index], &ns) < 0)
			vt_die(1, "invalid time interval '%s'", argv[o.index]);
		total += ns;
	}
	span = (struct timespec){total / 1000000000, total % 1000000000};
	/* A signal that is caught or a stop does not end it early: what is left is slept. */
	while (nanosleep(&span, &span) < 0) {
		if (errno != EINTR)
			vt_die_errno(1, "nanosleep");
	}
	return 0;
}
