/*
 * CPUs that have left or are on their way: where a task wakes up whose CPU is gone, what a softirq on a CPU that leaves
 * may do, and the account of the time for which a CPU was away.
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

/* A new task that may run there only. */
static struct task_struct *bound_to(unsigned cpu)
{
	struct task_struct *p;

	host_on(0);
	p = host_fork("p");
	assert_int_equal(host_set_cpus(p, BIT(cpu)), 0);
	assert_int_equal(p->cpu, cpu);
	return p;
}

/* The CPU where it slept has left: it wakes up on one that is idle, not on the first one. */
static void its_cpu_has_left(void **state)
{
	struct task_struct *p;

	host_boot(3);
	p = bound_to(2);
	host_set_cpus(p, ~0UL);
	host_sleep(p);
	bound_to(0);
	cpumask_clear_cpu(2, &cpu_online_mask);
	host_on(0);
	host_wake(p);
	if (host_runs(1) != p)
		host_fail("CPU 1 is idle, and a task whose CPU has left waits on CPU %u", p->cpu);
}

/* A softirq that was left over is served on a CPU whose own tasks have gone: no other task may follow it there. */
static void takes_none_along(void **state)
{
	struct task_struct *p[3];

	host_boot(2);
	for (int i = 0; i < 3; i++)
		p[i] = bound_to(0);
	for (int i = 0; i < 3; i++)
		host_set_cpus(p[i], ~0UL);
	host_on(1);
	for (int pulls = 0; pulls <= 1; pulls++) {
		unsigned came;

		cpu_rq(1)->pulls = pulls;
		raise_softirq(SCHED_SOFTIRQ);
		do_softirq();
		came = cpu_rq(1)->cfs.nr_running;
		if ((came > 0) != pulls)
			host_fail("%u tasks came to a CPU that %s", came, pulls ? "is there" : "leaves");
	}
}

static u64 seen_offline;

/* A reader of the times of CPU 1 has its runqueue locked. */
static void reads_times(void)
{
	struct rq *rq = cpu_rq(1);

	host_on_relax = NULL;
	seen_offline = rq->offline_ns + (rq->offline_since ? host_clock - rq->offline_since : 0);
	rq->lock.locked = 0;
}

/* The time for which a CPU was away is never counted twice, also not while it comes back. */
static void comes_back(void **state)
{
	struct rq *rq;

	host_boot(2);
	host_on(0);
	rq = cpu_rq(1);
	rq->offline_since = host_clock - 1000;
	rq->lock.locked = 1;
	host_on_relax = reads_times;
	init_idle(rq->idle, 1);
	if (host_on_relax)
		fail_msg("a CPU comes back while its times are being read");
	assert_int_equal(seen_offline, 1000);
	assert_int_equal(cpu_offline_ns(1), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_cpu_has_left),
		cmocka_unit_test(takes_none_along),
		cmocka_unit_test(comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
