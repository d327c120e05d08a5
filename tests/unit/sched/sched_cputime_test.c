/*
 * The split of CPU time into user and system time: it follows the ticks, and no part of it steps back, whatever the
 * ticks say later.
 */
/* sources: kernel/sched/account/cputime.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <irq/irq.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include "../../../kernel/sched/sched.h"

static struct task_struct task;
struct task_struct *host_current = &task;
u64 host_clock, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = 1;
unsigned long __per_cpu_offset[NR_CPUS];
DEFINE_PER_CPU(struct rq, runqueues);

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
/* One CPU and no interrupts: the locks are always free. */
unsigned long _raw_spin_lock_irqsave(spinlock_t *lock)
{
	return 0;
}
void _raw_spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
}
struct rq *task_rq_lock(struct task_struct *p, unsigned long *flags)
{
	return this_rq();
}
void task_rq_unlock(struct rq *rq, struct task_struct *p, unsigned long flags)
{
}
u64 cpu_idle_ns(int cpu)
{
	return 0;
}

/* Both parts, after this much time and these ticks. */
static void shows(struct cputime_shown *shown, u64 total, u64 ut, u64 st, u64 user, u64 system)
{
	u64 utime, stime;

	cputime_settle(shown, total, ut, st, &utime, &stime);
	assert_int_equal(utime, user);
	assert_int_equal(stime, system);
}

static void no_part_steps_back(void **state)
{
	struct cputime_shown shown = {0};

	shows(&shown, 100, 0, 0, 0, 100); /* no tick: all of it is the system's */
	shows(&shown, 300, 10, 0, 200, 100);
	shows(&shown, 1000, 10, 10, 500, 500);
	shows(&shown, 1100, 10, 30, 500, 600); /* a quarter would be 275 */
	shows(&shown, 3000, 10, 30, 750, 2250);
	shows(&shown, 3100, 1000, 30, 850, 2250); /* nearly all, but what was the system's stays the system's */
}

/* Two readers: the one that looked at the clock first may come second. */
static void an_older_total_changes_nothing(void **state)
{
	struct cputime_shown shown = {0};

	shows(&shown, 1000, 1, 1, 500, 500);
	shows(&shown, 990, 1, 3, 500, 500);
	shows(&shown, 1000, 1, 3, 500, 500);
}

static void of_a_task(void **state)
{
	u64 utime, stime;

	task.se.sum_exec_runtime = 1000;
	task.utime = task.stime = 4;
	task_cputime_adjusted(&task, &utime, &stime);
	assert_int_equal(utime, 500);
	task.se.sum_exec_runtime = 1200;
	task.stime = 16;
	task_cputime_adjusted(&task, &utime, &stime);
	assert_int_equal(utime, 500);
	assert_int_equal(stime, 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_part_steps_back),
		cmocka_unit_test(an_older_total_changes_nothing),
		cmocka_unit_test(of_a_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
