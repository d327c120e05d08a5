/* Arithmetic of times, against the same in 128 bits, at the ends of the range. */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../include/time/ktime.h"

typedef __int128 s128;

static const s64 edges[] = {0,
			    1,
			    2,
			    1000,
			    999999999,
			    1000000000,
			    KTIME_MAX / 3,
			    KTIME_MAX / 2,
			    KTIME_MAX / 2 + 1,
			    KTIME_MAX - 1000,
			    KTIME_MAX - 2,
			    KTIME_MAX - 1,
			    KTIME_MAX};
#define N (sizeof(edges) / sizeof(edges[0]))

static s64 saturated(s128 t)
{
	return t > KTIME_MAX ? KTIME_MAX : (s64)t;
}

static void sums(void **state)
{
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++)
			assert_int_equal(ktime_add_safe(edges[i], edges[j]), saturated((s128)edges[i] + edges[j]));
}

static void seconds(void **state)
{
	static const s64 nsec[] = {0, 1, 854775806, 854775807, 999999999};

	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < sizeof(nsec) / sizeof(nsec[0]); j++) {
			s64 sec = edges[i] / 1000000000, got = ktime_set(sec, nsec[j]);

			/* The last second is cut off as a whole, as on Linux. */
			assert_int_equal(got, sec == KTIME_SEC_MAX ? KTIME_MAX
								   : saturated((s128)sec * 1000000000 + nsec[j]));
			assert_int_equal(ktime_set(edges[i], nsec[j]),
					 edges[i] >= KTIME_SEC_MAX ? KTIME_MAX : edges[i] * 1000000000 + nsec[j]);
		}
}

/* After it the time lies behind `now` by at most one interval, on the grid of intervals, or is for ever. */
static void check_forward(s64 start, s64 now, s64 interval)
{
	s64 expires = start;
	u64 n = ktime_forward(&expires, now, interval);
	s128 exact = (s128)start + (s128)n * interval;

	if (now < start || interval <= 0) {
		assert_int_equal(n, 0);
		assert_int_equal(expires, start);
		return;
	}
	assert_true(n >= 1);
	assert_int_equal(expires, saturated(exact));
	assert_true(exact > now && exact - interval <= now);
	assert_true(expires > now || now == KTIME_MAX);
}

static void forward(void **state)
{
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++)
			for (size_t k = 0; k < N; k++)
				check_forward(edges[i], edges[j], edges[k]);
	check_forward(5, 7, -1);
	check_forward(1000, 5000, 3);
	check_forward(1000, 5002, 2001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(seconds),
		cmocka_unit_test(forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
