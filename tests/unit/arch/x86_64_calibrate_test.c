/*
 * Frequencies measured against another counter: bounds, the likeliest value in them, and counters that contradict.
 * Both counters are variables that go on with each look.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

/* A time stamp counter of 1 GHz that goes on by 10 with each look at it. */
static unsigned long long tsc;
#define rdtsc_ordered() (tsc += 10)

#include "../../../drivers/timer/calibrate.c"

/* 1 MHz, of 32 bits: its changes can be seen to 10 ns. */
static u32 microseconds(void)
{
	return tsc / 1000;
}

static u32 standing(void)
{
	return 7;
}

static void test_likeliest(void **state)
{
	assert_int_equal(hz_plausible((struct hz_range){1999999000, 2000000100}), 2000000000);
	assert_int_equal(hz_plausible((struct hz_range){1999999000, 2000000000}), 2000000000);
	assert_int_equal(hz_plausible((struct hz_range){2000000000, 2000001000}), 2000000000);
	assert_int_equal(hz_plausible((struct hz_range){1999999000, 1999999998}), 1999999499);
	assert_int_equal(hz_plausible((struct hz_range){2000000001, 2000000003}), 2000000002);
}

static void test_one_counter_by_the_other(void **state)
{
	struct calibration_counter c = {"test", microseconds, ~0u, FS_PER_SEC / 1000000};
	struct hz_range range;

	assert_int_equal(calibrate_tsc(&c, &range), 0);
	assert_true(range.low <= 1000000000 && range.high >= 1000000000);
	assert_true(range.high - range.low < 1000000);
	assert_int_equal(hz_plausible(range), 1000000000);
	assert_int_equal(calibrate_counter(&c, 1000000000, &range), 0);
	assert_true(range.low <= 1000000 && range.high >= 1000000);
	assert_true(range.high - range.low < 1000);
	c.read = standing;
	assert_int_equal(calibrate_tsc(&c, &range), -EIO);
}

/* What the n-th measurement says. */
static struct hz_range said[8];
static unsigned asked;

static struct hz_range answer(const struct span *s, u64 unit)
{
	return said[asked++];
}

/* A narrow counter must say the same twice running, within five measurements. */
static void test_narrow_counters(void **state)
{
	struct calibration_counter c = {"test", microseconds, 0xffff, 0};
	struct hz_range range;

	for (unsigned same = 1; same < 7; same++) {
		for (unsigned n = 0; n < ARRAY_SIZE(said); n++)
			said[n] = (struct hz_range){100 * n + 100, 100 * n + 110};
		said[same].low = said[same - 1].low + 5;
		said[same].high = said[same - 1].high + 5;
		asked = 0;
		assert_int_equal(measure_range(&c, &range, answer, 0), same < 5 ? 0 : -EIO);
		assert_int_equal(asked, same < 5 ? same + 1 : 5);
		if (same < 5) {
			assert_int_equal(range.low, said[same].low);
			assert_int_equal(range.high, said[same - 1].high);
		}
	}
	c.mask = ~0u;
	asked = 0;
	assert_int_equal(measure_range(&c, &range, answer, 0), 0);
	assert_int_equal(asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_likeliest),
		cmocka_unit_test(test_one_counter_by_the_other),
		cmocka_unit_test(test_narrow_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
