/*
 * The share of a CPU's time that interrupts take: which loads exceed the limit, which do not, and what is ended then.
 */
/* sources: kernel/lib/kstrto.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include "../../../trace/overload/irq_share.c"

/* Of kernel/time/hrtimer.c. */
u64 irq_share_owed;
void (*irq_share_exceeded)(struct irq_share *s, u64 took, u64 gap);

#define MS NSEC_PER_MSEC

static struct task_struct task;
struct task_struct *host_current = &task;
static char said[200];

int printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return 0;
}

/* Two users, of which the second is the dearer one. */
static bool cheap_on, dear_on;

static bool end_user(bool *on, const char *name, char *what, size_t size)
{
	bool was = *on;

	if (was)
		snprintf(what, size, "%s", name);
	*on = false;
	return was;
}
static bool end_cheap(char *what, size_t size)
{
	return end_user(&cheap_on, "cheap (its file)", what, size);
}
static bool end_dear(char *what, size_t size)
{
	return end_user(&dear_on, "dear (its file)", what, size);
}
static const struct irq_burden cheap = {.cost = 10, .end = end_cheap};
REGISTER_IRQ_BURDEN(cheap);
static const struct irq_burden dear = {.cost = 20, .end = end_dear};
REGISTER_IRQ_BURDEN(dear);

static struct irq_share share;
static u64 now;

static int begin(void **state)
{
	share = (struct irq_share){};
	cheap_on = dear_on = true;
	*said = '\0';
	return irq_share_init();
}

/* An interrupt of `took` ns after `gap` ns of tasks. */
static void interrupt(u64 gap, u64 took)
{
	irq_share_note(&share, now + gap, now + gap + took);
	now += gap + took;
}

static void interrupts(unsigned n, u64 gap, u64 took)
{
	while (n--)
		interrupt(gap, took);
}

/* The usual ticks, and those that take just a quarter of the time. */
static void test_a_quarter_is_not_exceeded(void **state)
{
	interrupts(1000, 4 * MS, MS / 10);
	interrupts(1000, 3 * MS, MS);
	assert_int_equal(share.debt, 0);
	assert_true(cheap_on && dear_on);
}

/* The dearest is ended first, and the other one only if that has not helped. The line has the share in percent. */
static void test_the_dearest_ends(void **state)
{
	interrupts(20, MS, 4 * MS); /* 11 ms of debt each */
	assert_false(dear_on);
	assert_true(cheap_on);
	assert_non_null(strstr(said, "irq: interrupts take 80% of CPU 0's time, so this is ended: dear (its file)\n"));
	interrupts(20, MS, 4 * MS);
	assert_false(cheap_on);
	*said = '\0';
	interrupts(100, MS, 4 * MS);
	assert_string_equal(said, "");
}

/* A debt is worked off by the time that tasks have afterwards. */
static void test_a_debt_is_worked_off(void **state)
{
	for (unsigned n = 0; n < 100; n++) {
		interrupts(10, MS, 4 * MS);
		interrupt(200 * MS, 0);
		assert_int_equal(share.debt, 0);
	}
	assert_true(dear_on);
}

/* The host takes the CPU away in the middle of a handler, for long. In between the usual ticks come. */
static void test_a_host_that_is_busy(void **state)
{
	for (unsigned n = 0; n < 100; n++) {
		interrupt(4 * MS, 500 * MS);
		interrupts(8, 4 * MS, MS / 10);
	}
	assert_true(dear_on);
	/* Each handler takes so long: it is not the host's doing. */
	interrupts(20, 50 * MS, 500 * MS);
	assert_false(dear_on);
}

/* An emulator runs three other CPUs, a millisecond each, in the middle of three handlers of four. */
static void test_an_emulator_that_runs_cpus_in_turn(void **state)
{
	for (unsigned n = 0; n < 1000; n++)
		interrupt(MS, n % 4 ? 3 * MS : MS / 50);
	assert_true(dear_on);
	/* A tracer makes all of them long, those that are left alone too. */
	for (unsigned n = 0; n < 100; n++)
		interrupt(MS, n % 4 ? 6 * MS : 2 * MS);
	assert_false(dear_on);
}

/* The file perf_cpu_time_max_percent. */
static void test_the_limit_can_be_set(void **state)
{
	char half[] = "50", none[] = "0", all[] = "100", most[] = "101", word[] = "x";

	assert_int_equal(percent_store(half, NULL), 0);
	interrupts(1000, 5 * MS, 4 * MS);
	assert_true(dear_on);
	interrupts(250, 3 * MS, 4 * MS);
	assert_false(dear_on);
	begin(NULL);
	assert_int_equal(percent_store(none, NULL), 0);
	interrupts(1000, MS, 9 * MS);
	assert_int_equal(percent_store(all, NULL), 0);
	interrupts(1000, MS, 9 * MS);
	assert_true(dear_on);
	assert_int_equal(percent_store(most, NULL), -EINVAL);
	assert_int_equal(percent_store(word, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_quarter_is_not_exceeded, begin),
		cmocka_unit_test_setup(test_the_dearest_ends, begin),
		cmocka_unit_test_setup(test_a_debt_is_worked_off, begin),
		cmocka_unit_test_setup(test_a_host_that_is_busy, begin),
		cmocka_unit_test_setup(test_an_emulator_that_runs_cpus_in_turn, begin),
		cmocka_unit_test_setup(test_the_limit_can_be_set, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
