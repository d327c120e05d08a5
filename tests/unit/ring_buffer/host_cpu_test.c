/*
 * Threads as CPUs (host_cpu.c), which other tests rely on: an interrupt is not lost, nor taken at the wrong time. If
 * it were, those tests would prove less than they say.
 */
/* sources: tests/unit/ring_buffer/host_cpu.c */
/* sanitizers: thread */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <lib/errno.h>
#include <pthread.h>
#include <sched.h>
#include <kernel/smp.h>

/* Too few to meet ThreadSanitizer's loss of signals, one in 100,000 (host_cpu.c); enough for losses of ours.
 */
#define CALLS 2000

static int up, stop, nmis_stop; /* [atomic] */
static unsigned irqs, nmis;	/* [atomic] */
static unsigned nmis_asked;	/* the nmi thread's; ours when it has ended */

static unsigned seen(unsigned *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void count_one(void *counter)
{
	__atomic_fetch_add((unsigned *)counter, 1, __ATOMIC_RELAXED);
}

/* With an interrupt and an nmi that come while interrupts are off; in the latter, another interrupt. */
static void test_interrupts_off(void **state)
{
	unsigned long flags;

	irqs = nmis = 0;
	host_cpu_start(1);
	raw_local_irq_save(flags);
	assert_int_equal(host_interrupt(1, count_one, &irqs), 0);
	assert_int_equal(host_interrupt(1, count_one, &irqs), -EBUSY);
	assert_int_equal(seen(&irqs), 0);
	assert_int_equal(host_nmi(1, count_one, &nmis), 0);
	assert_int_equal(seen(&nmis), 1);
	assert_int_equal(seen(&irqs), 0);
	raw_local_irq_restore(flags);
	assert_int_equal(seen(&irqs), 1);
	assert_int_equal(host_interrupt(1, count_one, &irqs), 0);
	assert_int_equal(seen(&irqs), 2);
	host_cpu_stop();
	assert_int_equal(host_interrupt(1, count_one, &irqs), -ENXIO);
	assert_int_equal(smp_call_function_single(1, count_one, &irqs, true), -ENXIO);
	assert_int_equal(seen(&irqs), 2);
}

/* A CPU that has its interrupts off now and then, until it is told to stop. */
static void *cpu_main(void *arg)
{
	unsigned long flags, turns = 0;

	host_cpu_start(0);
	__atomic_store_n(&up, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (++turns % 16 == 0) {
			raw_local_irq_save(flags);
			seen(&irqs);
			raw_local_irq_restore(flags);
		}
		if (turns % 256 == 0)
			sched_yield();
	}
	host_cpu_stop();
	return NULL;
}

static void *nmi_main(void *arg)
{
	while (!__atomic_load_n(&nmis_stop, __ATOMIC_RELAXED)) {
		if (!host_nmi(0, count_one, &nmis))
			nmis_asked++;
		sched_yield();
	}
	return NULL;
}

/*
 * Interrupts and nmis come to one CPU from two threads: each must arrive, once. It goes on until at least one nmi has
 * come.
 */
static void test_rain(void **state)
{
	pthread_t cpu, nmi;

	irqs = nmis = nmis_asked = 0;
	up = stop = nmis_stop = 0;
	pthread_create(&cpu, NULL, cpu_main, NULL);
	while (!__atomic_load_n(&up, __ATOMIC_ACQUIRE))
		sched_yield();
	pthread_create(&nmi, NULL, nmi_main, NULL);
	for (unsigned i = 1; i <= CALLS || !seen(&nmis); i++) {
		assert_int_equal(smp_call_function_single(0, count_one, &irqs, true), 0);
		assert_int_equal(seen(&irqs), i);
	}
	__atomic_store_n(&nmis_stop, 1, __ATOMIC_RELAXED);
	pthread_join(nmi, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(cpu, NULL);
	assert_int_equal(nmis, nmis_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupts_off),
		cmocka_unit_test(test_rain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
