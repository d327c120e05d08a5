/*
 * Where a real-time task that wakes up is queued: on the CPU where it was, if it can run there at once or on no CPU,
 * and else where it can, on the waker's CPU before others. The scheduler is compiled for the host (host_sched.h).
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

static void expect_cpu(const struct task_struct *p, unsigned cpu, const char *why)
{
	if (p->cpu != cpu)
		host_fail("%s is on CPU %u, not %u: %s", p->comm, p->cpu, cpu, why);
}

/* A fair task that may run only there. */
static struct task_struct *fair_task(const char *name, unsigned cpu)
{
	struct task_struct *p;

	host_on(0);
	p = host_fork(name);
	host_set_policy(p, SCHED_NORMAL, 0);
	assert_int_equal(host_set_cpus(p, BIT(cpu)), 0);
	expect_cpu(p, cpu, "it is pinned");
	return p;
}

/* A FIFO task of priority 10 that has run on this CPU, may run on all, and sleeps. */
static struct task_struct *sleeper(unsigned cpu)
{
	struct task_struct *p = fair_task("sleeper", cpu);

	host_set_policy(p, SCHED_FIFO, 10);
	assert_int_equal(host_set_cpus(p, ~0UL), 0);
	expect_cpu(p, cpu, "it may stay");
	host_sleep(p);
	return p;
}

/* With something as important or more on each CPU it gains nothing elsewhere: it waits where its data is. */
static void waits_where_it_was(void **state)
{
	for (unsigned more = 0; more < 2; more++) {
		struct task_struct *runs[3], *p;

		host_boot(3);
		for (unsigned cpu = 0; cpu < 3; cpu++)
			runs[cpu] = fair_task("runs", cpu);
		p = sleeper(1);
		for (unsigned cpu = 0; cpu < 3; cpu++)
			host_set_policy(runs[cpu], SCHED_FIFO, 10 + more);
		host_on(2);
		host_wake(p);
		expect_cpu(p, 1, "it would have to wait on each CPU");
		for (unsigned cpu = 0; cpu < 3; cpu++)
			assert_ptr_equal(host_runs(cpu), runs[cpu]);
	}
}

/* It cannot run where it was, and all others are as good: the waker's CPU has just used what it was woken for. */
static void goes_to_the_waker(void **state)
{
	struct task_struct *p, *important;

	host_boot(4);
	for (unsigned cpu = 0; cpu < 3; cpu++)
		fair_task("fair", cpu);
	important = fair_task("important", 3);
	p = sleeper(3);
	host_set_policy(important, SCHED_FIFO, 20);
	host_on(2);
	host_wake(p);
	assert_ptr_equal(host_runs(3), important);
	expect_cpu(p, 2, "it was woken there");
	assert_ptr_equal(host_runs(2), p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_where_it_was),
		cmocka_unit_test(goes_to_the_waker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
