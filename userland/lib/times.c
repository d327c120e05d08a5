/*
 * Spans of time, and how `time` prints them: for the shell's reserved word and the program.
 *
 * `real` is the time on the wall; `user` and `sys` are processor time, which on several CPUs may be
 * more.
 */
#include <vt.h>
#include <sys/time.h>
#include <time.h>

int64_t vt_microseconds(const struct timeval *t)
{
	return (int64_t)t->tv_sec * 1000000 + t->tv_usec;
}

/*
 * The two may lie in different seconds with end's nanoseconds below start's: the signed sum is
 * right all the same.
 */
int64_t vt_elapsed(const struct timespec *start, const struct timespec *end)
{
	return (int64_t)(end->tv_sec - start->tv_sec) * 1000000 + (end->tv_nsec - start->tv_nsec) / 1000;
}

/* Fractions are cut off, not rounded, as bash does it: 1.9996 s are 0m1.999s. */
static void print_time(bool posix, const char *what, int64_t us)
{
	if (posix)
		fprintf(stderr, "%s %ld.%02ld\n", what, (long)(us / 1000000), (long)(us / 10000 % 100));
	else
		fprintf(stderr, "%s\t%ldm%ld.%03lds\n", what, (long)(us / 60000000), (long)(us / 1000000 % 60),
			(long)(us / 1000 % 1000));
}

void vt_print_times(bool posix, int64_t real, int64_t user, int64_t sys)
{
	print_time(posix, "real", real);
	print_time(posix, "user", user);
	print_time(posix, "sys", sys);
}
