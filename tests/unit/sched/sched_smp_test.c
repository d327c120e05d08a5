/*
 * Several CPUs: where tasks go when they are born and wake up, who takes work from whom, and what happens to a task
 * whose mask changes while it runs, waits or sleeps. The scheduler is compiled for the host, whose clock, interrupts
 * and IPIs are the test's (host_sched.h): nothing happens unless a test lets time pass (host_run) or makes a task do
 * something.
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

static unsigned fair_on(unsigned cpu)
{
	return cpu_rq(cpu)->cfs.nr_running;
}

static void expect_on(const struct task_struct *p, unsigned cpu, const char *why)
{
	if (p->cpu != cpu)
		host_fail("%s is on CPU %u, not %u: %s", p->comm, p->cpu, cpu, why);
}

static void expect_runs(struct task_struct *p, unsigned cpu, const char *why)
{
	if (host_runs(cpu) != p)
		host_fail("CPU %u runs %s, not %s: %s", cpu, host_runs(cpu)->comm, p->comm, why);
}

/* One that is pinned there, so that only others move. */
static struct task_struct *pinned(const char *name, unsigned cpu)
{
	struct task_struct *p;

	host_on(0);
	p = host_fork(name);
	host_set_policy(p, SCHED_NORMAL, 0);
	host_set_nice(p, 0);
	assert_int_equal(host_set_cpus(p, BIT(cpu)), 0);
	expect_on(p, cpu, "it is pinned");
	return p;
}

/* New tasks go to idle CPUs, then to where the load is least. */
static void born(void **state)
{
	struct task_struct *p[12];

	host_boot(4);
	for (int i = 0; i < 4; i++)
		p[i] = host_fork("child");
	for (unsigned cpu = 0; cpu < 4; cpu++)
		assert_int_equal(fair_on(cpu), 1);
	p[4] = host_fork("child");
	expect_on(p[4], p[0]->cpu, "all have as much to do, so it stays where its parent is");
	p[5] = host_fork("child");
	expect_on(p[5], 1, "the first of those that have less to do");
	for (int i = 6; i < 12; i++)
		p[i] = host_fork("child");
	for (unsigned cpu = 0; cpu < 4; cpu++)
		if (fair_on(cpu) != 3)
			host_fail("of 12 new tasks CPU %u has %u", cpu, fair_on(cpu));
}

/* A task wakes up where it was if that CPU is idle, else on an idle one, else by the weights. */
static void woken(void **state)
{
	struct task_struct *p, *heavy;

	host_boot(4);
	p = pinned("p", 2);
	host_set_cpus(p, ~0UL);
	host_sleep(p);
	host_on(0);
	host_wake(p);
	expect_runs(p, 2, "it was there and that CPU is idle");
	host_sleep(p);
	pinned("busy2", 2);
	pinned("busy0", 0);
	host_on(0);
	host_wake(p);
	expect_runs(p, 1, "the first idle CPU");
	host_sleep(p);
	pinned("busy1", 1);
	pinned("busy3", 3);
	host_on(0);
	host_wake(p);
	expect_on(p, 1, "the waker's CPU has as much to do");
	host_run_to(p, MS);
	host_sleep(p);
	heavy = pinned("heavy", 1);
	host_on(0);
	host_wake(p);
	expect_on(p, 1, "on the waker's CPU it would have just as much beside it");
	host_run_to(p, MS);
	host_sleep(p);
	host_set_nice(heavy, -1);
	host_on(0);
	host_wake(p);
	expect_on(p, 0, "the waker's CPU has less to do");
}

/* A CPU that has nothing left takes one at once; who has a spare task hands it to an idle CPU at its next
 * tick. */
static void idle_takes(void **state)
{
	struct task_struct *p[3], *last, *rt;

	host_boot(2);
	last = pinned("last", 1);
	for (int i = 0; i < 3; i++)
		p[i] = pinned("p", 0);
	for (int i = 0; i < 3; i++)
		host_set_cpus(p[i], ~0UL);
	assert_int_equal(fair_on(0), 3);
	host_sleep(last);
	assert_int_equal(fair_on(1), 1);
	assert_int_equal(fair_on(0), 2);
	/* CPU 1 is idle and asleep; a task of CPU 0 becomes movable: the tick of CPU 0 sees to it. */
	host_boot(2);
	for (int i = 0; i < 3; i++)
		p[i] = pinned("p", 0);
	for (unsigned i = 0; i < 8; i++) {
		host_run((10 + i) * 4 * MS);
		assert_int_equal(fair_on(1), 0);
		host_set_cpus(p[1], ~0UL);
		host_run(12 * MS); /* one of these ticks finds it waiting */
		expect_runs(p[1], 1, "CPU 1 was idle");
		host_on(0);
		host_set_cpus(p[1], BIT(0));
	}
	/* A real-time task in front of a fair one is a reason, too. */
	host_boot(2);
	last = pinned("last", 1);
	p[0] = pinned("p", 0);
	rt = pinned("rt", 0);
	host_set_policy(rt, SCHED_FIFO, 10);
	host_set_cpus(p[0], ~0UL);
	host_run(32 * MS);
	expect_on(p[0], 1, "CPU 0 is busy with a real-time task");
}

/* Between busy CPUs: every 16 ms, four tasks at most, as long as that makes the difference smaller. */
static void balances(void **state)
{
	struct task_struct *heavy, *light, *p[13];
	unsigned before;
	u64 changed;

	host_boot(2);
	pinned("one", 1);
	for (int i = 0; i < 12; i++)
		p[i] = pinned("many", 0);
	for (int i = 0; i < 12; i++)
		host_set_cpus(p[i], ~0UL);
	assert_int_equal(fair_on(1), 1);
	for (before = 0; fair_on(1) == 1; before++) {
		if (before == 20)
			host_fail("12 tasks on one CPU and one on the other, and nothing happens");
		host_run(MS);
	}
	if (fair_on(1) != 5)
		host_fail("%u tasks were moved at once, not 4", fair_on(1) - 1);
	changed = host_clock;
	for (before = 0; fair_on(1) == 5; before++) {
		if (before == 20)
			host_fail("8 and 5 tasks, and nothing happens");
		host_run(MS);
	}
	assert_int_equal(host_clock - changed, 16 * MS);
	assert_int_equal(fair_on(1), 6); /* 8 : 5 becomes 7 : 6, which is as near as it gets */
	for (int i = 0; i < 12; i++)
		p[i]->se.nr_migrations = 0;
	host_run(1000 * MS);
	assert_int_equal(fair_on(0), 7);
	assert_int_equal(fair_on(1), 6);
	for (int i = 0; i < 12; i++)
		if (p[i]->se.nr_migrations)
			host_fail("a task changes its CPU, although the loads are as near as they can be");
	/* One that weighs as much as the whole difference stays: it would only change sides. */
	host_boot(2);
	pinned("one", 1);
	heavy = pinned("heavy", 0);
	host_set_nice(heavy, -5);
	light = pinned("light", 0);
	host_set_cpus(heavy, ~0UL);
	host_set_cpus(light, ~0UL);
	host_run(100 * MS);
	expect_on(heavy, 0, "it weighs what the difference is");
	expect_on(light, 1, "1024 are less than the difference");
	/* The difference is a little more than its weight: 3121 of 3325. */
	host_boot(2);
	light = pinned("less", 1);
	host_set_nice(light, 1);
	heavy = pinned("heavy", 0);
	host_set_nice(heavy, -5);
	pinned("stays", 0);
	host_set_cpus(heavy, ~0UL);
	host_run(1000 * MS); /* it must wait when CPU 1 looks */
	expect_on(heavy, 1, "it weighs less than the difference");
}

/* A task's lead or lag goes with it: virtual time is relative while it moves. */
static void lag_moves_along(void **state)
{
	struct task_struct *a, *p;
	unsigned looks = 0;
	s64 lag;

	host_boot(2);
	a = pinned("a", 0);
	pinned("b", 1);
	p = pinned("p", 0);
	host_run(500 * MS);
	host_set_nice(a, 19);
	host_run(51 * MS);
	cpu_rq(1)->cfs.min_vruntime += 777777777; /* the CPUs' clocks have nothing in common */
	host_runs(1)->se.vruntime += 777777777;
	for (int i = 1; i < 7; i++) {
		unsigned to = i % 2;

		host_run(5 * MS);
		task_sched_runtime(host_runs(!to));
		lag = (s64)(p->se.vruntime - cpu_rq(!to)->cfs.min_vruntime);
		task_sched_runtime(host_runs(to));
		host_set_cpus(p, BIT(to));
		expect_on(p, to, "its mask says so");
		/* Nothing ran meanwhile, but for a min_vruntime that its leaving has let go on. */
		if (p != host_runs(to)) {
			assert_int_equal((s64)(p->se.vruntime - cpu_rq(to)->cfs.min_vruntime), lag);
			looks++;
		}
	}
	assert_true(looks > 0);
	/* Asleep, and woken elsewhere. */
	host_run_to(p, 100 * US);
	host_sleep(p);
	task_sched_runtime(host_runs(p->cpu));
	lag = -(s64)MS; /* within what a sleeper keeps */
	p->se.vruntime = cpu_rq(p->cpu)->cfs.min_vruntime + (u64)lag;
	host_set_cpus(p, BIT(!p->cpu));
	task_sched_runtime(host_runs(!p->cpu));
	host_on(!p->cpu);
	host_wake(p);
	assert_int_equal((s64)(p->se.vruntime - cpu_rq(p->cpu)->cfs.min_vruntime), lag);
}

/* Masks change for a task that runs, runs as the caller, waits, sleeps: afterwards it is only where it may
 * be. */
static void masks(void **state)
{
	static const int kinds[] = {SCHED_NORMAL, SCHED_FIFO};

	for (unsigned k = 0; k < 2; k++) {
		struct task_struct *runs, *waits, *p;

		host_boot(4);
		runs = pinned("runs", 1);
		waits = pinned("waits", 1);
		host_set_policy(runs, kinds[k], k * 20);
		host_set_policy(waits, kinds[k], k * 10);
		host_run_to(runs, MS);
		/* From another CPU. */
		host_on(0);
		assert_int_equal(host_set_cpus(runs, BIT(2)), 0);
		expect_runs(runs, 2, "its mask says so, and CPU 2 is idle");
		expect_runs(waits, 1, "nobody else is there");
		/* Of a task that waits. */
		host_set_cpus(runs, BIT(1));
		p = host_runs(1) == runs ? waits : runs;
		assert_int_equal(host_set_cpus(p, BIT(3)), 0);
		expect_runs(p, 3, "its mask says so, and CPU 3 is idle");
		assert_int_equal(p->nr_cpus_allowed, 1);
		/* By itself. */
		host_on(3);
		assert_int_equal(host_set_cpus(p, BIT(2)), 0);
		expect_runs(p, 2, "its mask says so");
		/* Asleep: it wakes up there. */
		host_sleep(p);
		host_on(0);
		assert_int_equal(host_set_cpus(p, BIT(3)), 0);
		expect_on(p, 2, "it sleeps");
		host_wake(p);
		expect_runs(p, 3, "its mask says so");
		/* The mask that it has, or a wider one, moves nobody. */
		assert_int_equal(host_set_cpus(p, BIT(3)), 0);
		assert_int_equal(host_set_cpus(p, ~0UL), 0);
		expect_runs(p, 3, "it may stay");
		assert_int_equal(p->nr_cpus_allowed, 4);
		/* No CPU that is there. */
		assert_int_equal(host_set_cpus(p, 0), -EINVAL);
		assert_int_equal(host_set_cpus(p, BIT(4)), -EINVAL);
		assert_int_equal(p->cpus_mask[0], ~0UL);
		/* Where a more important one runs it waits. */
		host_set_policy(runs, SCHED_FIFO, 50);
		host_set_policy(waits, SCHED_FIFO, 50);
		host_set_cpus(runs, BIT(0));
		host_set_cpus(waits, BIT(0));
		assert_int_equal(fair_on(0) + cpu_rq(0)->rt.nr_running, 2);
		host_run(100 * MS);
	}
}

/*
 * Eight FIFO tasks on four CPUs: after each wake-up, sleep and change of priority the four most important ones run, on
 * whichever CPU. host_check_order() looks at that; a push or pull that is missing leaves an important task waiting
 * beside an idle or less important CPU.
 */
static void real_time(void **state)
{
	struct task_struct *p[8], *hog[4], *low;

	host_boot(4);
	for (unsigned cpu = 0; cpu < 4; cpu++)
		hog[cpu] = pinned("fair", cpu);
	for (unsigned i = 0; i < 8; i++) {
		p[i] = host_fork_from(hog[1], "rt");
		host_set_cpus(p[i], ~0UL);
		host_set_policy(p[i], SCHED_FIFO, 10 + i);
		host_check_order();
		if (i < 7)
			host_sleep(p[i]);
	}
	/* All on one CPU, and woken in the order of their priorities. */
	host_on(0);
	for (int i = 0; i < 7; i++) {
		host_wake(p[i]);
		host_check_order();
	}
	for (int i = 4; i < 8; i++)
		expect_runs(p[i], p[i]->cpu, "it is one of the four most important");
	/* One ends: the next runs at once, on whichever CPU. */
	for (int i = 7; i >= 4; i--) {
		host_sleep(p[i]);
		host_check_order();
		expect_runs(p[i - 4], p[i - 4]->cpu, "it is now one of the four most important");
	}
	/* A task that falls below one that waits elsewhere makes room for it, and one that rises displaces
	 * the least. */
	low = p[0];
	host_wake(p[7]);
	assert_true(host_runs(low->cpu) != low);
	host_set_policy(p[7], SCHED_FIFO, 1);
	host_check_order();
	expect_runs(low, low->cpu, "p[7] has fallen below it");
	host_set_policy(p[7], SCHED_FIFO, 90);
	host_check_order();
	assert_true(host_runs(low->cpu) != low);
	host_set_policy(p[3], SCHED_NORMAL, 0);
	host_check_order();
	expect_runs(low, low->cpu, "p[3] has left the class");
}

/* Pinned ones do not stand in the way of others; idle CPUs come before busy ones; a wider mask is used at
 * once. */
static void real_time_masks(void **state)
{
	struct task_struct *high, *mid, *low, *wide;

	host_boot(3);
	pinned("fair", 1);
	high = pinned("high", 0);
	mid = pinned("mid", 0);
	low = pinned("low", 0);
	host_set_policy(high, SCHED_FIFO, 50);
	host_set_policy(mid, SCHED_FIFO, 30);
	host_set_cpus(low, ~0UL);
	host_set_policy(low, SCHED_FIFO, 10);
	expect_runs(low, 2, "CPU 2 was idle, CPU 1 has a fair task");
	host_sleep(low);
	host_set_cpus(low, BIT(0));
	host_wake(low);
	expect_on(low, 0, "it waits there");
	host_set_cpus(low, ~0UL);
	expect_runs(low, 2, "it may run on an idle CPU now, and mid may not");
	/* One that waits behind two pinned ones goes when it may, not when something happens. */
	wide = pinned("wide", 0);
	host_set_policy(wide, SCHED_FIFO, 5);
	host_set_cpus(wide, BIT(0) | BIT(1));
	expect_runs(wide, 1, "it may displace a fair task now");
}

/* The earliest deadlines run, on whichever CPU. */
static void deadlines(void **state)
{
	struct task_struct *p[6];

	host_boot(2);
	for (unsigned cpu = 0; cpu < 2; cpu++)
		pinned("fair", cpu);
	for (unsigned i = 0; i < 6; i++)
		p[i] = host_fork_from(host_runs(0), "edf");
	for (unsigned i = 0; i < 6; i++) {
		host_set_cpus(p[i], ~0UL);
		assert_int_equal(host_set_deadline(p[i], 10 * MS, (100 - 10 * i) * MS, 100 * MS), 0);
		host_check_order();
		if (!i)
			assert_true(cpumask_empty(&dl_overloaded_mask)); /* a task alone is nothing to pull */
	}
	expect_runs(p[5], p[5]->cpu, "50 ms are the earliest");
	expect_runs(p[4], p[4]->cpu, "60 ms are next");
	host_run(10 * MS - 1);
	expect_runs(p[4], p[4]->cpu, "its budget has a nanosecond left");
	for (int i = 0; i < 300; i++) {
		host_run(MS + 1);
		host_check_order();
	}
	for (unsigned i = 0; i < 6; i++)
		host_set_policy(p[i], SCHED_NORMAL, 0);
}

/*
 * The second look: a waker that has seen on_rq set waits for the runqueue's lock, and when it has it the
 * sleeper has left. Then it is asleep and must be queued like any sleeper.
 */
static struct task_struct *leaving;

static void leave_now(void)
{
	struct rq *rq = task_rq(leaving);
	struct task_struct *waker = current;

	host_on_relax = NULL;
	host_current = leaving;
	rq->lock.locked = 0;
	leaving->preempt_count = 0;
	host_irqs_off = 0;
	schedule();
	host_frame();
	host_current = waker;
	host_irqs_off = 1;
}

/*
 * A waker meets a task at each moment of its way to sleep: it waits for the runqueue's lock while the task leaves, the
 * task has set its state and is still queued, or was preempted in between. Each time the task must run afterwards. A
 * lost wake-up here is a hang that comes once in a million sleeps.
 */
static void wakes_who_leaves(void **state)
{
	struct task_struct *p, *waker;

	host_boot(2);
	p = pinned("p", 1);
	waker = pinned("waker", 0);
	host_on(0);
	assert_ptr_equal(current, waker);
	/* CPU 1 is in __schedule with its lock held: p has set its state and is still queued. */
	p->state = TASK_INTERRUPTIBLE;
	cpu_rq(1)->lock.locked = 1;
	leaving = p;
	host_on_relax = leave_now;
	assert_true(wake_up_process(p));
	assert_null(host_on_relax);
	host_settle();
	host_check();
	if (!p->on_rq || p->state != TASK_RUNNING)
		fail_msg("the wake-up of a task that was about to leave its queue is lost: on_rq %d, state %#x",
			 p->on_rq, p->state);
	expect_runs(p, 1, "it was woken");
	/* Preempted between setting its state and sleeping, a task stays in the queue: it may not sleep after
	 * all. */
	p->state = TASK_INTERRUPTIBLE;
	host_on(1);
	set_tsk_need_resched(p);
	host_settle();
	if (!p->on_rq)
		fail_msg("a task that was preempted before it slept has left its queue");
	p->state = TASK_RUNNING;
	host_on(0);
	/* The other way round: it is still there and has just set its state. */
	p->state = TASK_INTERRUPTIBLE;
	assert_true(wake_up_process(p));
	assert_int_equal(p->state, TASK_RUNNING);
	expect_runs(p, 1, "it has not slept");
	/* A state that the wake-up is not for. */
	p->state = TASK_UNINTERRUPTIBLE;
	assert_false(wake_up_state(p, TASK_INTERRUPTIBLE));
	assert_int_equal(p->state, TASK_UNINTERRUPTIBLE);
	assert_true(wake_up_state(p, TASK_UNINTERRUPTIBLE));
	assert_false(wake_up_process(p));
}

/* Of the CPUs of its new mask a task that runs gets one where it runs at once. */
static void free_cpu_of_mask(void **state)
{
	static const int kinds[] = {SCHED_NORMAL, SCHED_FIFO};

	for (unsigned k = 0; k < 2; k++) {
		struct task_struct *p, *busy;

		host_boot(4);
		p = pinned("p", 1);
		busy = pinned("busy", 2);
		host_set_policy(p, kinds[k], k * 10);
		host_set_policy(busy, kinds[k], k * 10);
		host_on(0);
		assert_int_equal(host_set_cpus(p, BIT(2) | BIT(3)), 0);
		expect_runs(p, 3, "CPU 2 is busy");
		expect_runs(busy, 2, "it was there");
	}
}

/* The mask admits the CPU again before the stopper that moves the task away has run: the task stays. */
static struct task_struct *moves;

static void widen_again(void)
{
	struct cpumask all = {{~0UL}};

	assert_int_equal(sched_setaffinity(moves, &all), 0);
}

static void mask_changes_again(void **state)
{
	struct task_struct *p;

	host_boot(4);
	p = pinned("p", 1);
	host_on(0);
	moves = p;
	host_on_stop = widen_again;
	assert_int_equal(host_set_cpus(p, BIT(2)), 0);
	assert_null(host_on_stop);
	expect_runs(p, 1, "it may stay");
}

/*
 * A waker has chosen a CPU, and before it gets that one's lock something more important runs there: then the task is
 * pushed to another one at once.
 */
static struct task_struct *overtakes;

static void overtake_now(void)
{
	struct task_struct *waker = current;

	host_on_relax = NULL;
	cpu_rq(1)->lock.locked = 0;
	host_irqs_off = 0;
	assert_true(wake_up_process(overtakes));
	host_ipis = 0;
	host_reschedule(1);
	host_current = waker;
	host_irqs_off = 1;
}

/*
 * See overtake_now(): the task that was woken must not wait behind the more important one, while CPU 0 runs only a
 * fair task.
 */
static void overtaken(void **state)
{
	struct task_struct *p;

	host_boot(2);
	pinned("fair", 0);
	p = pinned("p", 1);
	overtakes = pinned("overtakes", 1);
	host_set_policy(p, SCHED_FIFO, 10);
	host_set_cpus(p, ~0UL);
	host_sleep(p);
	host_set_policy(overtakes, SCHED_FIFO, 20);
	host_sleep(overtakes);
	host_on(0);
	cpu_rq(1)->lock.locked = 1;
	host_on_relax = overtake_now;
	assert_true(wake_up_process(p));
	assert_null(host_on_relax);
	host_settle();
	host_check();
	expect_runs(overtakes, 1, "it is the most important one");
	host_check_order();
	expect_runs(p, 0, "there is only a fair task");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_cpu_of_mask),
		cmocka_unit_test(mask_changes_again),
		cmocka_unit_test(overtaken),
		cmocka_unit_test(born),
		cmocka_unit_test(woken),
		cmocka_unit_test(idle_takes),
		cmocka_unit_test(balances),
		cmocka_unit_test(lag_moves_along),
		cmocka_unit_test(masks),
		cmocka_unit_test(real_time),
		cmocka_unit_test(real_time_masks),
		cmocka_unit_test(deadlines),
		cmocka_unit_test(wakes_who_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
