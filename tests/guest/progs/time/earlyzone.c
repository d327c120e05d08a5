/*
 * earlyzone: the machine's first time zone, which moves the clock, comes when the clock shows less than the zone's
 * offset since the machine was started. The clock is not moved to before the start then.
 */
#include <check.h>
#include <numbers.h>

static long seconds(int clock)
{
	struct timespec now;

	CHECK_CALL(clock_gettime(clock, &now));
	return now.tv_sec;
}

static void first_zone(void)
{
	struct timespec early = {seconds(CLOCK_MONOTONIC) + 100, 0};
	struct {
		int minutes_west, dst;
	} zone = {-60, 1}, got = {0, 0};

	CHECK_CALL(check_syscall(SYS_clock_settime, CLOCK_REALTIME, (long)&early, 0, 0, 0, 0));
	CHECK_CALL(check_syscall(SYS_settimeofday, 0, (long)&zone, 0, 0, 0, 0));
	CHECK_RANGE(seconds(CLOCK_REALTIME), early.tv_sec, early.tv_sec + 60);
	CHECK_CALL(check_syscall(SYS_gettimeofday, 0, (long)&got, 0, 0, 0, 0));
	CHECK_EQ(got.minutes_west, -60);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"first-zone", first_zone},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
