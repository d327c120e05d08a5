/*
 * usleep: do nothing for so many microseconds. The ftrace tutorials measure with it.
 *
 * The sleep is a timer's, so it lasts at least that long; how much longer is what `latency` measures.
 */
#include <vt.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "usleep MICROSECONDS", .options = "", .bad_status = 1};
	struct timespec span;
	long us;

	vt_operands(&o, argc, argv, 1, 1);
	us = vt_number_or_die(1, argv[o.index], 0, INT64_MAX);
	span = (struct timespec){us / 1000000, us % 1000000 * 1000};
	while (nanosleep(&span, &span) < 0) {
		if (errno != EINTR)
			vt_die_errno(1, "nanosleep");
	}
	return 0;
}
