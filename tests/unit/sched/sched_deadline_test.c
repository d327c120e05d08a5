/*
 * The constant-bandwidth server's arithmetic (kernel/sched/deadline/deadline_math.h) against the same in 128 bits, at
 * the edges where 64 would not do. Times are random numbers of any length up to 63 bits, always the same ones.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../kernel/sched/deadline/deadline_math.h"

typedef unsigned __int128 u128;

static u64 random_state = 88172645463325252ULL;

/* Of any length from 1 to 63 bits, so that small and large meet. */
static u64 random_time(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 1 >> (random_state % 62)) + 1;
}

static struct dl_params random_params(void)
{
	u64 a = random_time(), b = random_time(), c = random_time(), t;

	if (a > b)
		t = a, a = b, b = t;
	if (b > c)
		t = b, b = c, c = t;
	if (a > b)
		t = a, a = b, b = t;
	return (struct dl_params){.runtime = a, .deadline = b, .period = c};
}

/*
 * The share of a CPU, runtime / period, in 20 bits: exact where 64 bits hold the product, and off by at most one where
 * they do not. Too small a ratio would admit more tasks than there is time for.
 */
static void ratios(void **state)
{
	assert_int_equal(to_ratio(10, 10), BW_UNIT);
	assert_int_equal(to_ratio(1000000, 950000), 996147);
	assert_int_equal(to_ratio(0, 0), 0);
	assert_int_equal(to_ratio(U64_MAX >> 1, 1), 0);
	assert_int_equal(to_ratio(U64_MAX >> 1, U64_MAX >> 1), BW_UNIT);
	/* Two halves of the limit fit where the limit does. */
	assert_true(2 * to_ratio(1000000, 475000) <= to_ratio(1000000, 950000));
	for (int i = 0; i < 1000000; i++) {
		struct dl_params dl = random_params();
		u64 exact = (u64)(((u128)dl.runtime << BW_SHIFT) / dl.period), got = to_ratio(dl.period, dl.runtime);

		assert_true(got <= BW_UNIT && got + 1 >= exact && got <= exact + 1);
		if (dl.runtime < 1ULL << (64 - BW_SHIFT))
			assert_int_equal(got, exact);
	}
}

/*
 * The edges of what sched_setattr(2) takes: the smallest budget, runtime <= deadline <= period, and the limits of the
 * period.
 */
static void validity(void **state)
{
	u64 low = 100000, high = 4194304000;
	struct dl_params good = {1024, 100000, 100000}, dl;

	assert_true(dl_params_valid(&good, low, high));
	dl = good, dl.runtime--;
	assert_false(dl_params_valid(&dl, low, high));
	dl = good, dl.runtime = dl.deadline + 1;
	assert_false(dl_params_valid(&dl, low, high));
	dl = good, dl.deadline = dl.period + 1;
	assert_false(dl_params_valid(&dl, low, high));
	dl = good, dl.period = dl.deadline = low - 1;
	assert_false(dl_params_valid(&dl, low, high));
	dl = good, dl.period = high;
	assert_true(dl_params_valid(&dl, low, high));
	dl.period++;
	assert_false(dl_params_valid(&dl, low, high));
	dl = (struct dl_params){1ULL << 63, 1ULL << 63, 1ULL << 63};
	assert_false(dl_params_valid(&dl, 0, U64_MAX));
}

/* a / b > c / d without products: whole parts, then the reciprocals of what is left (Euclid). */
static bool fraction_above(u64 a, u64 b, u64 c, u64 d)
{
	for (bool swapped = false;; swapped = !swapped) {
		u64 t;

		if (!b || !d)
			return swapped ? !d && b : !b && d; /* one of the two is infinite */
		if (a / b != c / d)
			return swapped ? a / b < c / d : a / b > c / d;
		a %= b;
		c %= d;
		t = a, a = b, b = t;
		t = c, c = d, d = t;
	}
}

/* The budget that the cut leaves does not exceed the bandwidth. */
static void wake_up_rule(void **state)
{
	struct dl_params tenth = {10, 100, 100};

	assert_false(dl_overflow(&tenth, 100, 10));
	assert_true(dl_overflow(&tenth, 99, 10));
	assert_true(dl_overflow(&tenth, 0, 1));
	assert_false(dl_overflow(&tenth, U64_MAX, U64_MAX / 10));
	for (int i = 0; i < 1000000; i++) {
		struct dl_params dl = random_params();
		u64 laxity = random_time() % dl.deadline, left = random_time() % dl.runtime + 1, cut;

		assert_int_equal(dl_overflow(&dl, laxity, left), fraction_above(left, laxity, dl.runtime, dl.deadline));
		cut = dl_revised_runtime(&dl, laxity);
		if (dl.deadline < 1ULL << (64 - BW_SHIFT))
			assert_false(dl_overflow(&dl, laxity, cut));
		assert_true(cut <= dl.deadline);
	}
}

/* As adding one budget and one period at a time. */
static void postponing(void **state)
{
	for (int i = 0; i < 100000; i++) {
		struct dl_params dl = {.runtime = random_time() % 1000 + 1, .period = random_time() % 100000 + 1000};
		s64 left = -(s64)(random_time() % 20000), left2 = left;
		u64 deadline = random_time() % (1ULL << 60), deadline2 = deadline;

		while (left2 <= 0) {
			left2 += dl.runtime;
			deadline2 += dl.period;
		}
		dl_postpone(&dl, &left, &deadline);
		assert_int_equal(left, left2);
		assert_int_equal(deadline, deadline2);
		dl_postpone(&dl, &left, &deadline); /* with something left: nothing to do */
		assert_int_equal(left, left2);
		assert_int_equal(deadline, deadline2);
	}
}

/* A century late, with the smallest budget and the longest period: ends at once, and not beyond 2^63. */
static void postponing_far(void **state)
{
	struct dl_params dl = {.runtime = 1024, .deadline = 1ULL << 62, .period = 1ULL << 62};
	s64 left = -3155760000000000000;
	u64 deadline = 1ULL << 61;

	dl_postpone(&dl, &left, &deadline);
	assert_true(left > 0 && left <= 1024);
	assert_int_equal(deadline, S64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratios),     cmocka_unit_test(validity),	cmocka_unit_test(wake_up_rule),
		cmocka_unit_test(postponing), cmocka_unit_test(postponing_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
