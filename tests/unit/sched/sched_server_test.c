/*
 * SCHED_DEADLINE on one CPU: when a budget ends and when the next begins, to the nanosecond; which deadline is first;
 * what a wake-up, a yield and a change of parameters do to a server; which tasks are admitted. The scheduler is
 * compiled for the host; code takes no time, and the clock goes only when a test says so (host_sched.h).
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

static struct task_struct *hog; /* a real-time task that wants all the time that is left */

static void machine(unsigned cpus)
{
	host_boot(cpus);
	hog = host_fork("hog");
	host_set_policy(hog, SCHED_FIFO, 99);
}

/* A fair task, which waits behind the hog. */
static struct task_struct *waiting(const char *name)
{
	struct task_struct *p = host_fork_from(hog, name);

	host_set_policy(p, SCHED_NORMAL, 0);
	return p;
}

/* It begins now: its first period starts at this moment. */
static struct task_struct *server(const char *name, u64 runtime, u64 deadline, u64 period)
{
	struct task_struct *p = waiting(name);

	assert_int_equal(host_set_deadline(p, runtime, deadline, period), 0);
	return p;
}

/* What a test has admitted, it gives back: the sum is over all of the machine's life. */
static void leave(struct task_struct *p)
{
	host_set_policy(p, SCHED_NORMAL, 0);
}

static void expect(struct task_struct *p, const char *why)
{
	if (host_runs(0) != p)
		host_fail("%s runs, not %s: %s", host_runs(0)->comm, p->comm, why);
}

/* The budget ends when it is used, and comes when the period begins, not a nanosecond off. */
static void budget(void **state)
{
	static const struct dl_params cases[] = {
		{2 * MS, 10 * MS, 10 * MS}, {1234567, 7654321, 7654321}, {2 * MS, 5 * MS, 20 * MS},
		{1024, 100 * US, 100 * US}, {9 * MS, 10 * MS, 10 * MS},	 {300 * MS, 500 * MS, 1000 * MS},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct dl_params *dl = &cases[i];
		struct task_struct *p;
		u64 t0;

		machine(1);
		p = server("server", dl->runtime, dl->deadline, dl->period);
		t0 = host_clock;
		assert_int_equal(p->dl.deadline, t0 + dl->deadline);
		for (u64 n = 0; n < 100; n++) {
			u64 begin = t0 + n * dl->period;

			expect(p, "its period begins");
			assert_int_equal(host_time_of(p), n * dl->runtime);
			assert_int_equal(p->dl.deadline, begin + dl->deadline);
			host_run_until(begin + dl->runtime - 1);
			expect(p, "its budget has a nanosecond left");
			host_run_until(begin + dl->runtime);
			expect(hog, "the budget is used up");
			assert_int_equal(p->dl.throttles, n + 1);
			host_run_until(begin + dl->period - 1);
			expect(hog, "the next period has not begun");
			host_run_until(begin + dl->period);
		}
		assert_int_equal(task_sched_runtime(p), 100 * dl->runtime);
		leave(p);
	}
}

/* The timer of a budget is set while its task runs, and at no other time: it would interrupt others for nothing. */
static void budget_timer_stops(void **state)
{
	struct hrtimer *timer;
	struct task_struct *p;

	machine(1);
	p = server("server", 5 * MS, 100 * MS, 100 * MS);
	timer = &cpu_rq(0)->dl.budget;
	assert_true(hrtimer_active(timer));
	assert_int_equal(timer->expires, host_clock + 5 * MS);
	host_run(1 * MS);
	host_sleep(p);
	assert_false(hrtimer_active(timer));
	host_wake(p);
	assert_int_equal(timer->expires, host_clock + 4 * MS);
	host_yield(p);
	expect(hog, "the rest was given up");
	assert_false(hrtimer_active(timer));
	leave(p);
}

/* Another one in between does not change what a budget is: only what the task itself runs is charged. */
static void preempted(void **state)
{
	struct task_struct *a, *b;
	u64 t0;

	machine(1);
	b = waiting("b");
	a = server("a", 5 * MS, 20 * MS, 20 * MS);
	t0 = host_clock;
	host_run(1 * MS);
	host_set_deadline(b, 2 * MS, 10 * MS, 10 * MS);
	expect(b, "its deadline is earlier");
	host_run_until(t0 + 3 * MS - 1);
	expect(b, "its budget has a nanosecond left");
	host_run(1);
	expect(a, "the other one's budget is used up");
	host_run_until(t0 + 7 * MS - 1);
	expect(a, "its budget has a nanosecond left");
	host_run(1);
	expect(hog, "both budgets are used up");
	assert_int_equal(host_time_of(a), 5 * MS);
	assert_int_equal(host_time_of(b), 2 * MS);
	leave(a);
	leave(b);
}

/* A budget that ends half a microsecond before the next period: even that is waited for. */
static void waits_a_moment(void **state)
{
	struct task_struct *a, *b;
	u64 t0;

	machine(1);
	b = waiting("b");
	a = waiting("a");
	t0 = host_clock;
	host_set_deadline(b, 5 * MS - 500, 9 * MS, 100 * MS);
	host_set_deadline(a, 5 * MS, 10 * MS, 10 * MS);
	expect(b, "its deadline is earlier");
	host_run_until(t0 + 10 * MS - 501);
	expect(a, "its budget has a nanosecond left");
	host_run(1);
	expect(hog, "the budget is used up");
	assert_int_equal(a->dl.throttles, 1);
	host_run(499);
	expect(hog, "the next period has not begun");
	host_run(1);
	expect(a, "its period begins");
	assert_int_equal(a->dl.deadline, t0 + 20 * MS);
	leave(a);
	leave(b);
}

/* The earliest deadline runs; equals and later ones wait. */
static void earliest_first(void **state)
{
	static const u64 deadlines[] = {90, 30, 60, 20, 70};
	struct task_struct *p[5];
	u64 t0;

	machine(1);
	t0 = host_clock;
	for (int i = 0; i < 5; i++)
		p[i] = waiting("edf");
	for (int i = 0; i < 5; i++)
		host_set_deadline(p[i], 5 * MS, deadlines[i] * MS, 100 * MS);
	expect(p[3], "20 is the earliest");
	host_run_until(t0 + 5 * MS);
	expect(p[1], "30 is next");
	host_run_until(t0 + 10 * MS);
	expect(p[2], "60 is next");
	host_run_until(t0 + 15 * MS);
	expect(p[4], "70 is next");
	host_run_until(t0 + 20 * MS);
	expect(p[0], "90 is the last");
	host_run_until(t0 + 25 * MS);
	expect(hog, "all have run");
	for (int i = 0; i < 5; i++)
		leave(p[i]);
	machine(1);
	for (int i = 0; i < 3; i++)
		p[i] = waiting("edf");
	host_set_deadline(p[0], 5 * MS, 50 * MS, 100 * MS);
	expect(p[0], "it is the only one");
	host_set_deadline(p[1], 5 * MS, 50 * MS, 100 * MS);
	host_on(0);
	set_tsk_need_resched(p[0]);
	host_settle();
	expect(p[0], "an equal deadline does not preempt");
	host_set_deadline(p[2], 5 * MS, 50 * MS - 1, 100 * MS);
	expect(p[2], "a nanosecond earlier preempts");
	for (int i = 0; i < 3; i++)
		leave(p[i]);
}

/* A later or an equal deadline that wakes up does not even ask the CPU to look. */
static void later_waits(void **state)
{
	for (u64 earlier = 0; earlier < 2; earlier++) {
		struct task_struct *a, *b;

		machine(1);
		b = waiting("b");
		a = server("a", 5 * MS, 50 * MS, 100 * MS);
		host_sleep(a);
		host_set_deadline(b, 5 * MS, 50 * MS - earlier, 100 * MS);
		expect(b, "the other one sleeps");
		host_on(0);
		preempt_disable(); /* or it would have looked by now */
		assert_true(wake_up_process(a));
		assert_true(a->dl.queued && a->dl.deadline == b->dl.deadline + earlier);
		assert_false(need_resched());
		preempt_enable_no_resched();
		leave(a);
		leave(b);
	}
}

/* Of CPUs that are as good as each other a task takes the one where it was. */
static void at_home(void **state)
{
	struct task_struct *p;

	host_boot(4);
	p = host_fork("p");
	host_set_cpus(p, BIT(2));
	host_set_cpus(p, ~0UL);
	assert_int_equal(host_set_deadline(p, MS, 10 * MS, 10 * MS), 0);
	host_sleep(p);
	host_on(0);
	host_wake(p);
	assert_ptr_equal(host_runs(2), p);
	leave(p);
}

/* The wake-up rule: a server goes on with what it has if that is not more than its bandwidth until its
 * deadline. */
static void wakes_up(void **state)
{
	static const struct {
		u64 ran, slept;
		bool renewed;
	} cases[] = {/* 4 ms of 10: 3 ms are left. They are its bandwidth of 7.5 ms, which begin 2.5 ms after
			the start. */
		     {1 * MS, 1 * MS, false},  {1 * MS, 1500 * US, false}, {1 * MS, 1500 * US + 1, true},
		     {1 * MS, 9 * MS, true},   {1 * MS, 20 * MS, true},	   {3 * MS, 4500 * US, false},
		     {3 * MS, 4501 * US, true}};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct task_struct *p;
		u64 t0;

		machine(1);
		p = server("server", 4 * MS, 10 * MS, 10 * MS);
		t0 = host_clock;
		host_run(cases[i].ran);
		host_sleep(p);
		expect(hog, "the other one sleeps");
		host_run(cases[i].slept);
		host_wake(p);
		expect(p, "it has a budget");
		if (p->dl.deadline != (cases[i].renewed ? host_clock : t0) + 10 * MS)
			fail_msg("after %lu us of running and %lu ns of sleep the server is %s", cases[i].ran / 1000,
				 cases[i].slept, cases[i].renewed ? "not renewed" : "renewed");
		host_run(cases[i].renewed ? 4 * MS - 1 : 4 * MS - cases[i].ran - 1);
		expect(p, "its budget has a nanosecond left");
		host_run(1);
		expect(hog, "the budget is used up");
		leave(p);
	}
}

/* With a deadline before the end of the period a wake-up does not get more than the density allows. */
static void wakes_up_constrained(void **state)
{
	struct task_struct *p;
	u64 t0, left;

	machine(1);
	p = server("server", 4 * MS, 8 * MS, 20 * MS);
	t0 = host_clock;
	host_run(1 * MS);
	host_sleep(p);
	host_run(5 * MS);
	host_wake(p); /* 2 ms until the deadline: half of that */
	assert_int_equal(p->dl.deadline, t0 + 8 * MS);
	left = (u64)p->dl.left;
	assert_in_range(left, MS - 10, MS);
	host_run(left);
	expect(hog, "the budget was cut");
	host_run_until(t0 + 20 * MS - 1);
	expect(hog, "the period has not begun");
	host_run(1);
	expect(p, "its next period");
	/* After the deadline, with a budget, but within the period: it waits for the next. */
	host_run(1 * MS);
	host_sleep(p);
	host_run_until(t0 + 30 * MS);
	host_wake(p);
	expect(hog, "its deadline is over");
	host_run_until(t0 + 40 * MS - 1);
	expect(hog, "the period has not begun");
	host_run(1);
	expect(p, "its next period");
	leave(p);
}

/* One that sleeps when it has used everything, and wakes up before its time, waits for that. */
static void throttled_sleeper(void **state)
{
	struct task_struct *p;
	u64 t0;

	machine(1);
	p = server("server", 2 * MS, 10 * MS, 10 * MS);
	t0 = host_clock;
	host_run(2 * MS - 1);
	host_sleep(p);
	host_run(1 * MS);
	host_wake(p); /* one nanosecond is within its bandwidth */
	expect(p, "a nanosecond is left");
	host_run(1);
	expect(hog, "the budget is used up");
	assert_true(p->on_rq);
	host_run_until(t0 + 10 * MS);
	expect(p, "its next period");
	/* It sleeps at the moment at which it has used everything: its next period finds it asleep. */
	host_run(2 * MS - 1);
	host_clock++;
	host_sleep(p);
	assert_true(p->dl.throttled);
	host_run_until(t0 + 25 * MS);
	expect(hog, "it sleeps");
	assert_false(p->on_rq);
	assert_false(p->dl.queued);
	host_wake(p);
	expect(p, "its period has begun while it slept");
	/* The machine stands still for some periods: what is over is over, a new one begins. */
	host_run_until(t0 + 28 * MS);
	host_clock += 55 * MS;
	t0 = host_clock;
	host_run(0);
	expect(p, "its period has begun");
	assert_int_equal(p->dl.deadline, t0 + 10 * MS);
	assert_int_equal(p->dl.left, 2 * MS);
	leave(p);
}

/* The timer's function, as it runs when it could not be stopped and has waited for the runqueue's lock. */
static void late_replenishment(struct task_struct *p)
{
	u64 deadline = p->dl.deadline;
	s64 left = p->dl.left;

	assert_int_equal(p->dl.timer.function(&p->dl.timer), HRTIMER_NORESTART);
	assert_int_equal(p->dl.deadline, deadline);
	assert_int_equal(p->dl.left, left);
	host_settle();
	host_check();
}

/* The callback of a timer that lost the race against a change of policy, or against another timer, changes nothing. */
static void replenished_too_late(void **state)
{
	struct task_struct *p;

	machine(1);
	p = server("server", 2 * MS, 10 * MS, 10 * MS);
	host_run(2 * MS);
	expect(hog, "the budget is used up");
	host_set_policy(p, SCHED_NORMAL, 0);
	host_clock = p->dl.replenish_at;
	late_replenishment(p); /* it has left the class */
	assert_false(p->dl.queued);
	assert_int_equal(cpu_rq(0)->dl.nr_running, 0);
	expect(hog, "the other one is a fair task now");
	assert_int_equal(host_set_deadline(p, 2 * MS, 10 * MS, 10 * MS), 0);
	host_run(1 * MS);
	late_replenishment(p); /* it runs, with half of its budget */
	expect(p, "its budget has a millisecond left");
	leave(p);
}

/* A yield gives the rest of the budget up: it goes on when the next period begins, with a whole one. */
static void yields(void **state)
{
	struct task_struct *p;
	u64 t0;

	machine(1);
	p = server("server", 4 * MS, 10 * MS, 10 * MS);
	t0 = host_clock;
	for (u64 n = 0; n < 20; n++) {
		host_run(n % 4 * MS + 1);
		host_yield(p);
		expect(hog, "the rest was given up");
		host_run_until(t0 + (n + 1) * 10 * MS - 1);
		expect(hog, "the period has not begun");
		host_run(1);
		expect(p, "its next period");
	}
	host_run(4 * MS - 1);
	expect(p, "its budget has a nanosecond left");
	host_run(1);
	expect(hog, "the budget is used up");
	/* Alone, too. */
	host_run_until(t0 + 210 * MS);
	host_yield(p);
	expect(hog, "the rest was given up");
	leave(p);
}

/* The same parameters again, or leaving and coming back, give no new budget. */
static void no_gain(void **state)
{
	struct task_struct *p;
	u64 t0;

	machine(1);
	p = server("server", 4 * MS, 10 * MS, 10 * MS);
	t0 = host_clock;
	host_run(1 * MS);
	host_set_deadline(p, 4 * MS, 10 * MS, 10 * MS);
	host_run(1 * MS);
	host_set_policy(p, SCHED_NORMAL, 0);
	expect(hog, "it has left the class");
	host_set_deadline(p, 4 * MS, 10 * MS, 10 * MS);
	expect(p, "it is back");
	assert_int_equal(p->dl.deadline, t0 + 10 * MS);
	host_run(2 * MS - 1);
	expect(p, "its budget has a nanosecond left");
	host_run(1);
	expect(hog, "the budget is used up");
	/* Nor when it waits for its period. */
	host_set_policy(p, SCHED_NORMAL, 0);
	host_set_deadline(p, 4 * MS, 10 * MS, 10 * MS);
	expect(hog, "its budget is used up still");
	host_run_until(t0 + 10 * MS - 1);
	expect(hog, "the period has not begun");
	host_run(1);
	expect(p, "its next period");
	leave(p);
}

/* SIGXCPU comes for each budget that is used up, if asked for, and not for others. */
static void overrun(void **state)
{
	struct task_struct *p;
	struct sched_params sp = {
		.policy = SCHED_DEADLINE, .dl = {2 * MS, 10 * MS, 10 * MS}, .dl_flags = 4 /* SCHED_FLAG_DL_OVERRUN */};

	machine(1);
	p = server("server", 2 * MS, 10 * MS, 10 * MS);
	host_run(5 * MS);
	assert_false(p->dl.overrun);
	host_set(p, sp);
	for (unsigned n = 0; n < 5; n++) {
		host_run(10 * MS);
		assert_true(p->dl.overrun);
		assert_true(test_tsk_thread_flag(p, TIF_NOTIFY_RESUME));
		clear_tsk_thread_flag(p, TIF_NOTIFY_RESUME);
		host_current = p;
		sched_notify_resume();
		sched_notify_resume();
		host_on(0);
		assert_int_equal(host_xcpu, n + 1);
	}
	leave(p);
}

/* 95 % of all CPUs, and whoever leaves or ends makes room. */
static void admission(void **state)
{
	for (unsigned cpus = 1; cpus <= 4; cpus *= 2) {
		struct task_struct *p[2 * 4], *last, *ends;

		machine(cpus);
		last = waiting("last");
		ends = waiting("ends");
		for (unsigned i = 0; i < 2 * cpus; i++)
			p[i] = waiting("half");
		host_set_cpus(ends, 1);
		assert_int_equal(host_set_deadline(ends, 1 * MS, 10 * MS, 10 * MS), cpus == 1 ? 0 : -EPERM);
		leave(ends);
		host_set_cpus(ends, ~0UL);
		for (unsigned i = 0; i < 2 * cpus; i++)
			assert_int_equal(host_set_deadline(p[i], 47500, 100000, 100000), 0);
		assert_int_equal(host_set_deadline(last, 1024, 100 * MS, 100 * MS), -EBUSY);
		assert_int_equal(last->policy, SCHED_NORMAL);
		/* In place of another, and not a bit more. */
		assert_int_equal(host_set_deadline(p[0], 47600, 100000, 100000), -EBUSY);
		assert_int_equal(p[0]->dl.params.runtime, 47500);
		assert_int_equal(host_set_deadline(p[0], 37500, 100000, 100000), 0);
		assert_int_equal(host_set_deadline(p[0], 47000, 100000, 100000), 0);
		assert_int_equal(host_set_deadline(p[0], 37500, 100000, 100000), 0);
		assert_int_equal(host_set_deadline(last, 10100, 100000, 100000), -EBUSY);
		assert_int_equal(host_set_deadline(last, 9999, 100000, 100000), 0);
		leave(last);
		for (unsigned i = 0; i < 2 * cpus; i++)
			leave(p[i]);
		assert_int_equal(dl_total_bw(), 0);
		/* The end gives it back. */
		host_sleep(hog);
		assert_int_equal(host_set_deadline(ends, 90 * MS, 100 * MS, 100 * MS), 0);
		assert_int_equal(host_runs(ends->cpu) == ends, true);
		host_exit(ends);
		assert_int_equal(dl_total_bw(), 0);
	}
}

/* Its children would have to be admitted, too, and are refused; unless they are to be fair. */
static void children(void **state)
{
	struct task_struct *p, child;

	machine(1);
	p = server("server", 4 * MS, 10 * MS, 10 * MS);
	host_on(0);
	child = *p;
	assert_int_equal(sched_fork(&child, 0), -EAGAIN);
	host_set(p, (struct sched_params){
			    .policy = SCHED_DEADLINE, .dl = {4 * MS, 10 * MS, 10 * MS}, .reset_on_fork = true});
	child = *p;
	assert_int_equal(sched_fork(&child, 0), 0);
	assert_int_equal(child.policy, SCHED_NORMAL);
	assert_int_equal(child.dl.bw, 0);
	assert_int_equal(child.dl.params.runtime, 0);
	leave(p);
}

/* A budget ends at the moment when its CPU looks for another task, one of two: what waits elsewhere comes. */
static void budget_ends_at_a_switch(void **state)
{
	struct task_struct *p[3];
	unsigned cpu;

	host_boot(2);
	for (cpu = 0; cpu < 2; cpu++)
		host_fork("fair");
	for (unsigned i = 0; i < 3; i++)
		p[i] = host_fork("edf");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(host_set_deadline(p[i], 10 * MS, (50 + 10 * i) * MS, 100 * MS), 0);
	host_run(10 * MS - 1);
	host_check_order();
	cpu = !p[2]->cpu;
	assert_true(host_runs(cpu) == p[0] || host_runs(cpu) == p[1]);
	host_clock++; /* the timer's interrupt is due and has not come yet */
	host_on(cpu);
	set_tsk_need_resched(current);
	host_reschedule(cpu);
	if (host_runs(cpu) != p[2])
		host_fail("CPU %u runs %s: a server with a budget waits elsewhere", cpu, host_runs(cpu)->comm);
	for (unsigned i = 0; i < 3; i++)
		leave(p[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(budget),
		cmocka_unit_test(budget_timer_stops),
		cmocka_unit_test(preempted),
		cmocka_unit_test(waits_a_moment),
		cmocka_unit_test(budget_ends_at_a_switch),
		cmocka_unit_test(earliest_first),
		cmocka_unit_test(later_waits),
		cmocka_unit_test(at_home),
		cmocka_unit_test(wakes_up),
		cmocka_unit_test(wakes_up_constrained),
		cmocka_unit_test(throttled_sleeper),
		cmocka_unit_test(replenished_too_late),
		cmocka_unit_test(yields),
		cmocka_unit_test(no_gain),
		cmocka_unit_test(overrun),
		cmocka_unit_test(admission),
		cmocka_unit_test(children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
