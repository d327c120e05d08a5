/*
 * A storm of forks, sleeps, wake-ups and changes of policy, nice value and mask on one to four CPUs. After each step
 * all runqueues are looked at, and what runs (host_check, host_check_order in host_sched.h). With SOAK_MINUTES set it
 * has 4,000 rounds in place of 60.
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

static struct task_struct *any(void)
{
	for (;;) {
		struct task_struct *p = &host_tasks[host_random() % host_nr_tasks];

		if (p->state != TASK_DEAD)
			return p;
	}
}

static void change_policy(struct task_struct *p)
{
	static const int policies[] = {SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR, SCHED_DEADLINE};
	int policy = policies[host_random() % 6];
	u64 period = (1 + host_random() % 50) * MS;

	/* Real time only for those that may run everywhere: else the rule that is checked need not hold. */
	if (policy == SCHED_DEADLINE)
		host_set_deadline(p, period / (4 + host_random() % 20), period, period);
	else if (policy == SCHED_FIFO || policy == SCHED_RR)
		p->cpus_mask[0] == ~0UL ? host_set_policy(p, policy, 1 + (unsigned)(host_random() % 99)) : 0;
	else
		host_set_policy(p, policy, 0);
}

/*
 * One random event, from the point of view of a random CPU; some do nothing because the task is not in the state for
 * it.
 */
static void step(void)
{
	struct task_struct *p = any();
	bool runs = host_runs(p->cpu) == p;

	host_on((unsigned)(host_random() % nr_cpu_ids));
	switch (host_random() % 12) {
	case 0:
		if (host_nr_tasks < 20 && !dl_task(current))
			host_fork("child");
		break;
	case 1:
	case 2:
		if (runs)
			host_sleep(p);
		break;
	case 3:
	case 4:
	case 5:
		if (p->state == TASK_INTERRUPTIBLE)
			host_wake(p);
		break;
	case 6:
		if (runs)
			host_yield(p);
		break;
	case 7:
		host_set_nice(p, (int)(host_random() % 40) - 20);
		break;
	case 8:
		change_policy(p);
		break;
	case 9:
		/* Only fair tasks: see change_policy(). */
		if (p->sched_class == &fair_sched_class)
			host_set_cpus(p, host_random() % 2 ? ~0UL : 1 + host_random() % (BIT(nr_cpu_ids) - 1));
		break;
	default:
		host_run(host_random() % (7 * MS));
	}
}

/* In 40 ms in which nobody does anything: no CPU idles while a fair task that may run there does not run at
 * all. */
static void check_work(void)
{
	u64 ran[HOST_TASKS];

	for (unsigned i = 0; i < host_nr_tasks; i++)
		ran[i] = host_time_of(&host_tasks[i]);
	host_run(40 * MS);
	for (unsigned i = 0; i < host_nr_tasks; i++) {
		struct task_struct *p = &host_tasks[i];

		if (p->sched_class != &fair_sched_class || !p->on_rq || host_time_of(p) != ran[i])
			continue;
		for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++)
			if (idle_cpu((int)cpu) && task_allowed(p, cpu) &&
			    host_clock - cpu_rq(cpu)->idle_since > 16 * MS)
				host_fail("%s waits on CPU %u while CPU %u has nothing to do", p->comm, p->cpu, cpu);
	}
}

/*
 * Rounds on one to four CPUs. In the end each task was charged exactly the time that it has run, and all bandwidth of
 * deadline tasks has been given back.
 */
static void storm(void **state)
{
	unsigned rounds = getenv("SOAK_MINUTES") ? 4000 : 60;

	for (unsigned round = 0; round < rounds; round++) {
		host_boot(1 + round % 4);
		for (int i = 0; i < 6; i++)
			host_fork("first");
		for (int i = 0; i < 1000; i++) {
			step();
			host_check();
			host_check_order();
			if (i % 50 == 49) {
				host_run(60 * MS);
				check_work();
			}
		}
		for (unsigned i = 0; i < host_nr_tasks; i++) {
			struct task_struct *p = &host_tasks[i];

			if (task_sched_runtime(p) != host_time_of(p))
				host_fail("%s is charged %lu ns and has run %lu", p->comm, task_sched_runtime(p),
					  host_time_of(p));
			host_set_policy(p, SCHED_NORMAL, 0);
		}
		assert_int_equal(dl_total_bw(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(storm)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
