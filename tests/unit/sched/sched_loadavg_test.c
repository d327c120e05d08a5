/*
 * Load averages: each goes towards the number of tasks with its own speed, and reaches it; in periods that passed
 * without a tick, however many they were, only those count that slept uninterruptibly when it ended. The clock and the
 * numbers of tasks are variables of the test.
 */
/* sources: kernel/sched/account/loadavg.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <time/clock.h>
#include "../../../kernel/sched/sched.h"

#define PERIOD (5 * NSEC_PER_SEC)
#define ONE    65536UL

static struct task_struct task;
struct task_struct *host_current = &task;
u64 host_clock, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = 1;
unsigned long __per_cpu_offset[NR_CPUS];
static unsigned long running;
static long uninterruptible;

void host_relax(void)
{
	fail_msg("waits for ever");
}
void panic(const char *fmt, ...)
{
	fail_msg("panic: %s", fmt);
	abort();
}
void preempt_schedule(void)
{
}
/* One CPU and no interrupts: the lock is always free. */
unsigned long _raw_spin_lock_irqsave(spinlock_t *lock)
{
	return 0;
}
void _raw_spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
}
unsigned long nr_running(void)
{
	return running;
}
long nr_uninterruptible(void)
{
	return uninterruptible;
}

/* Let so many periods pass, with a tick in each or (false) with none before the last. */
static void pass(unsigned periods, bool ticks)
{
	while (ticks && periods-- > 0)
		calc_global_load(host_clock += PERIOD);
	if (!ticks)
		calc_global_load(host_clock += periods * PERIOD);
}

/*
 * With three tasks the averages go towards 3 with their three speeds (after a minute 63 %, 18 % and 6 % of it), and
 * reach it exactly; before the next period is over nothing changes.
 */
static void averages(void **state)
{
	u64 load[3], before[3];

	pass(1, true);
	get_avenrun(load);
	assert_int_equal(load[0] | load[1] | load[2], 0);
	running = 1;
	uninterruptible = 2;
	pass(12, true); /* a minute: 1 - 1/e of it, 1 - e^(-1/5), 1 - e^(-1/15) */
	get_avenrun(load);
	assert_in_range(load[0], 3 * ONE * 631 / 1000, 3 * ONE * 633 / 1000);
	assert_in_range(load[1], 3 * ONE * 180 / 1000, 3 * ONE * 182 / 1000);
	assert_in_range(load[2], 3 * ONE * 64 / 1000, 3 * ONE * 65 / 1000);
	calc_global_load(host_clock + PERIOD - 1); /* the next period is not over */
	get_avenrun(before);
	assert_memory_equal(before, load, sizeof(load));
	pass(3000, true);
	for (int i = 0; i < 3; i++) {
		get_avenrun(load);
		assert_int_equal(load[i], 3 * ONE);
	}
}

/* One minute of idleness leaves 1/e of the first average, whether it was ticked through or slept through. */
static void idle_periods(void **state)
{
	u64 ticked[3], slept[3];

	running = 3;
	uninterruptible = 0;
	pass(3000, true);
	running = 0;
	pass(12, true);
	get_avenrun(ticked);
	assert_in_range(ticked[0], 3 * ONE * 367 / 1000, 3 * ONE * 369 / 1000);
	running = 3;
	pass(3000, true);
	running = 0;
	pass(12, false);
	get_avenrun(slept);
	assert_memory_equal(slept, ticked, sizeof(slept));
	/* A year: the averages are nothing then, and what runs now counts for one period. */
	running = 1;
	pass(6000000, false);
	get_avenrun(slept);
	assert_int_equal(slept[0], ONE - 60296);
}

/* Who slept uninterruptibly when the tick ended counts until the next one, which wakes it. */
static void sleepers(void **state)
{
	u64 ticked[3], slept[3];

	running = 0;
	uninterruptible = 0;
	calc_global_load_idle(host_clock);
	pass(3000, false);
	uninterruptible = 2;
	pass(12, true);
	get_avenrun(ticked);
	assert_in_range(ticked[0], 2 * ONE * 631 / 1000, 2 * ONE * 633 / 1000);
	uninterruptible = 0;
	pass(3000, true);
	get_avenrun(slept);
	assert_int_equal(slept[0] | slept[1] | slept[2], 0);
	uninterruptible = 2;
	calc_global_load_idle(host_clock);
	uninterruptible = 0;
	running = 2;
	pass(12, false);
	get_avenrun(slept);
	assert_memory_equal(slept, ticked, sizeof(slept));
	/* The tick that ends belongs to the period before. */
	running = 0;
	uninterruptible = 1;
	calc_global_load_idle(host_clock += 1000 * PERIOD);
	uninterruptible = 0;
	calc_global_load_idle(host_clock);
	pass(3000, false);
	get_avenrun(slept);
	assert_int_equal(slept[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages),
		cmocka_unit_test(idle_periods),
		cmocka_unit_test(sleepers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
