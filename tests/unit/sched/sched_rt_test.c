/*
 * SCHED_FIFO and SCHED_RR on one CPU: which task's turn it is, as POSIX and sched(7) have it. The scheduler is
 * compiled for the host; code takes no time, and the clock goes only when a test says so (host_sched.h).
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* sources: kernel/sched/account/queued.c */
/* include: tests/unit/include-sched */
#include <host_sched.h>

static struct task_struct *holder; /* of priority 99: while it runs the others can be made ready */

static void machine(void)
{
	host_boot(1);
	holder = host_fork("holder");
	host_set_policy(holder, SCHED_FIFO, 99);
}

static struct task_struct *ready(const char *name, int policy, unsigned priority)
{
	bool slept = holder->state != TASK_RUNNING;
	struct task_struct *p;

	if (slept)
		host_wake(holder);
	p = host_fork_from(holder, name);
	host_set_policy(p, SCHED_NORMAL, 0); /* or its priority would fall, which puts it in front */
	assert_int_equal(host_set_policy(p, policy, priority), 0);
	if (slept)
		host_sleep(holder);
	return p;
}

static void expect(struct task_struct *p, const char *why)
{
	if (host_runs(0) != p)
		host_fail("%s runs, not %s: %s", host_runs(0)->comm, p->comm, why);
}

/* Equals run in the order in which they became ready, each until it sleeps. */
static void fifo(void **state)
{
	struct task_struct *a, *b, *c;

	machine();
	a = ready("a", SCHED_FIFO, 20);
	b = ready("b", SCHED_FIFO, 20);
	c = ready("c", SCHED_FIFO, 20);
	host_sleep(holder);
	expect(a, "it was ready first");
	host_run(3000 * MS);
	expect(a, "SCHED_FIFO has no slice");
	host_sleep(a);
	expect(b, "it was ready next");
	assert_true(a->nvcsw == 1 && a->nivcsw == 0);
	host_wake(a);
	expect(b, "an equal that wakes up does not preempt");
	host_sleep(b);
	expect(c, "it has waited longer than the one that woke up");
	host_sleep(c);
	expect(a, "it woke up");
}

/* Who is preempted stays the first among its equals. */
static void preempted(void **state)
{
	struct task_struct *a, *b, *c;

	machine();
	a = ready("a", SCHED_FIFO, 20);
	b = ready("b", SCHED_FIFO, 20);
	c = ready("c", SCHED_FIFO, 20);
	host_sleep(holder);
	for (int i = 0; i < 5; i++) {
		host_run(10 * MS);
		host_wake(holder);
		expect(holder, "it has the highest priority");
		host_run(10 * MS);
		host_sleep(holder);
		expect(a, "it was preempted and stays in front");
	}
	/* Yielding goes behind all equals, and to no one below. */
	host_yield(a);
	expect(b, "a has yielded");
	host_yield(b);
	expect(c, "b has yielded");
	host_yield(c);
	expect(a, "all have yielded");
	host_sleep(a);
	host_sleep(b);
	ready("low", SCHED_FIFO, 19);
	host_yield(c);
	expect(c, "who yields does not yield to less important ones");
}

/* Every priority above every smaller one, and all of them above fair tasks. */
static void priorities(void **state)
{
	struct task_struct *p[60], *fair;
	unsigned priority[60], highest;

	machine();
	fair = ready("fair", SCHED_NORMAL, 0);
	host_set_nice(fair, -20);
	for (unsigned i = 0; i < 60; i++) {
		priority[i] = 1 + i * 37 % 98; /* all different, from 1 to 98 */
		p[i] = ready("rt", SCHED_FIFO, priority[i]);
		assert_int_equal(p[i]->prio, 99 - (int)priority[i]);
	}
	host_sleep(holder);
	for (unsigned n = 0; n < 60; n++) {
		highest = 0;
		for (unsigned i = 1; i < 60; i++)
			if (priority[i] > priority[highest])
				highest = i;
		expect(p[highest], "it has the highest priority");
		assert_int_equal(host_runs(0)->rt_priority, priority[highest]);
		priority[highest] = 0;
		host_run(100 * MS);
		host_sleep(p[highest]);
	}
	assert_int_equal(host_time_of(fair), 0);
	expect(fair, "nobody else is left");
	/* They preempt when they wake up, exactly those above what runs. */
	for (unsigned i = 0; i < 60; i++) {
		struct task_struct *before = host_runs(0);
		bool above = before == fair || p[i]->rt_priority > before->rt_priority;

		host_wake(p[i]);
		expect(above ? p[i] : before, "by priority");
	}
}

/* SCHED_RR: 100 ms each, counted in ticks. What is left of a slice survives a preemption, and waits for its
 * owner. */
static void round_robin(void **state)
{
	struct task_struct *p[3], *first;
	u64 began;

	machine();
	for (int i = 0; i < 3; i++)
		p[i] = ready("rr", SCHED_RR, 20);
	host_run(4 * MS);
	host_sleep(holder);
	for (int i = 0; i < 12; i++) {
		expect(p[i % 3], "in turns");
		began = host_time_of(p[i % 3]);
		host_run(100 * MS - 1);
		expect(p[i % 3], "a slice has 100 ms");
		host_run(1);
		assert_int_equal(host_time_of(p[i % 3]) - began, 100 * MS);
	}
	expect(p[0], "in turns");
	host_run(40 * MS);
	host_wake(holder);
	host_run(500 * MS);
	host_sleep(holder);
	expect(p[0], "it was preempted within its slice");
	host_run(60 * MS - 1);
	expect(p[0], "60 ms of its slice were left");
	host_run(1);
	expect(p[1], "the slice is over");
	/* It goes behind one that came in the meantime. */
	first = ready("rr", SCHED_RR, 20);
	host_run(100 * MS);
	expect(p[2], "it has waited longest");
	host_run(100 * MS);
	expect(p[0], "it came before the new one");
	host_run(100 * MS);
	expect(first, "it came while p[1] ran");
	host_run(100 * MS);
	expect(p[1], "its slice was over after the new one had come");
	assert_int_equal(sched_rr_interval_ns(first), 100 * MS);
	assert_int_equal(sched_rr_interval_ns(holder), 0);
}

/* Alone among its equals one just goes on; one of SCHED_FIFO never makes room. */
static void no_turns(void **state)
{
	struct task_struct *rr, *fifo;
	u64 switches;

	machine();
	rr = ready("rr", SCHED_RR, 20);
	ready("low", SCHED_RR, 19);
	host_sleep(holder);
	switches = cpu_rq(0)->nr_switches;
	host_run(1000 * MS);
	expect(rr, "the others are below");
	assert_int_equal(cpu_rq(0)->nr_switches, switches);
	fifo = ready("fifo", SCHED_FIFO, 20);
	host_run(100 * MS);
	expect(fifo, "the other's slice is over");
	host_run(1000 * MS);
	expect(fifo, "SCHED_FIFO has no slice");
	/* It becomes SCHED_RR as it runs: a full slice from then on. */
	host_set_policy(fifo, SCHED_RR, 20);
	host_run(1000 * MS);
	assert_in_range(host_time_of(rr), 1500 * MS, 1700 * MS);
}

/* An equal that wakes up does not even ask the CPU to look: it would find the task that it runs. */
static void equal_does_not_ask(void **state)
{
	struct task_struct *runs, *wakes;

	machine();
	wakes = ready("wakes", SCHED_FIFO, 20);
	runs = ready("runs", SCHED_FIFO, 20);
	host_sleep(holder);
	host_sleep(wakes);
	expect(runs, "the other one sleeps");
	host_on(0);
	preempt_disable(); /* or it would have looked by now */
	assert_true(wake_up_process(wakes));
	assert_int_equal(cpu_rq(0)->rt.nr_running, 2);
	assert_false(need_resched());
	preempt_enable_no_resched();
	host_set_policy(wakes, SCHED_FIFO, 21);
	expect(wakes, "it is above");
}

/* The end of a slice asks the CPU to look only when an equal waits. */
static void slice_ends_alone(void **state)
{
	struct task_struct *rr, *equal;

	machine();
	rr = ready("rr", SCHED_RR, 20);
	ready("low", SCHED_RR, 19);
	host_sleep(holder);
	host_on(0);
	/* What a tick does, without the end of its interrupt, where the CPU looks. */
	rr->rt.time_slice = TICK_NSEC;
	rt_sched_class.task_tick(cpu_rq(0), rr);
	assert_int_equal(rr->rt.time_slice, 100 * MS);
	assert_false(need_resched());
	equal = ready("equal", SCHED_RR, 20);
	expect(rr, "it was ready first");
	rr->rt.time_slice = TICK_NSEC;
	rt_sched_class.task_tick(cpu_rq(0), rr);
	assert_true(need_resched());
	host_settle();
	expect(equal, "the other one's slice is over");
}

/* sched(7): raised, a task goes behind its new equals; lowered, in front; unchanged, it stays. */
static void moved(void **state)
{
	struct task_struct *a, *b, *c, *d;

	machine();
	a = ready("a", SCHED_FIFO, 20);
	b = ready("b", SCHED_FIFO, 20);
	c = ready("c", SCHED_FIFO, 10);
	d = ready("d", SCHED_FIFO, 30);
	host_set_policy(c, SCHED_FIFO, 20); /* a b c */
	host_set_policy(d, SCHED_FIFO, 20); /* d a b c */
	host_set_policy(a, SCHED_FIFO, 20); /* the same */
	host_sleep(holder);
	expect(d, "its priority fell to that of the others");
	host_sleep(d);
	expect(a, "its priority was set to what it was");
	host_sleep(a);
	expect(b, "it was ready before c was raised");
	host_sleep(b);
	expect(c, "it was raised");
	host_wake(a); /* c a b */
	host_wake(b);
	/* The running one. */
	host_set_policy(c, SCHED_FIFO, 20);
	host_wake(holder);
	host_sleep(holder);
	expect(c, "what it has was set again while it ran");
	host_set_policy(c, SCHED_FIFO, 19);
	expect(a, "the one that ran fell below it");
	host_set_policy(b, SCHED_FIFO, 21);
	expect(b, "it was raised above the one that runs");
	host_set_policy(b, SCHED_FIFO, 20);
	expect(b, "it fell to its equals' priority, in front of them");
	host_set_policy(b, SCHED_FIFO, 18);
	host_set_policy(a, SCHED_FIFO, 19);
	expect(a, "fell in front of c");
	host_set_policy(c, SCHED_RR, 19);
	host_sleep(a);
	expect(c, "19 is above 18");
	/* To the fair class and back, running. */
	host_set_policy(c, SCHED_NORMAL, 0);
	expect(b, "c is no longer real time");
	host_set_policy(c, SCHED_FIFO, 40);
	expect(c, "c is real time again, above b");
	/* Asleep, and then its new priority counts. */
	host_set_policy(a, SCHED_FIFO, 50);
	host_wake(a);
	expect(a, "it has got a higher priority in its sleep");
	host_set_policy(d, SCHED_NORMAL, 0);
	host_wake(d);
	expect(a, "d has left the class in its sleep");
}

struct walk {
	char names[64];
	unsigned most;
};
static bool visit(struct task_struct *p, void *data)
{
	struct walk *w = data;

	strcat(strcat(w->names, " "), p->comm);
	return --w->most;
}

/* A look at the queue: in the order in which tasks would run, across the classes, and no further than it wants. */
static void looked_at(void **state)
{
	static const char *const want[] = {" d", " d holder", " d holder a", " d holder a b", " d holder a b c"};
	struct task_struct *d;

	machine();
	ready("c", SCHED_NORMAL, 0);
	ready("b", SCHED_FIFO, 10);
	ready("a", SCHED_FIFO, 20);
	d = ready("d", SCHED_NORMAL, 0);
	assert_int_equal(host_set_deadline(d, 1 * MS, 10 * MS, 10 * MS), 0);
	for (unsigned most = 1; most <= ARRAY_SIZE(want) + 1; most++) {
		struct walk w = {.most = most};

		for_each_queued_task(0, visit, &w);
		assert_string_equal(w.names, want[min(most, (unsigned)ARRAY_SIZE(want)) - 1]);
	}
}

/* What sched_setscheduler() refuses, changes nothing. */
static void refused(void **state)
{
	static const struct {
		int policy;
		unsigned priority;
	} bad[] = {{SCHED_FIFO, 0},   {SCHED_FIFO, 100}, {SCHED_RR, 0}, {SCHED_RR, 100}, {SCHED_NORMAL, 1},
		   {SCHED_BATCH, 99}, {SCHED_IDLE, 1},	 {4, 0},	{7, 0},		 {-1, 0}};
	struct task_struct *p;

	machine();
	p = ready("p", SCHED_FIFO, 20);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(host_set_policy(p, bad[i].policy, bad[i].priority), -EINVAL);
		assert_int_equal(p->policy, SCHED_FIFO);
		assert_int_equal(p->rt_priority, 20);
	}
	assert_int_equal(host_set_policy(p, SCHED_RR, 1), 0);
	assert_int_equal(host_set_policy(p, SCHED_FIFO, 99), 0);
	assert_int_equal(host_set_policy(&host_stoppers[0], SCHED_FIFO, 1), -EINVAL);
	assert_int_equal(host_set_policy(cpu_rq(0)->idle, SCHED_FIFO, 1), -EINVAL);
}

/* CPU time is charged to who ran, to the nanosecond, whatever class. */
static void charged(void **state)
{
	struct task_struct *a, *b;

	machine();
	a = ready("a", SCHED_RR, 20);
	b = ready("b", SCHED_NORMAL, 0);
	host_sleep(holder);
	for (int i = 0; i < 200; i++) {
		host_run(1234567);
		if (i % 3 == 0)
			host_sleep(a);
		else if (i % 3 == 1)
			host_wake(a);
		else
			host_set_policy(b, i % 2 ? SCHED_FIFO : SCHED_NORMAL, i % 2);
		assert_int_equal(task_sched_runtime(a), host_time_of(a));
		assert_int_equal(task_sched_runtime(b), host_time_of(b));
		assert_int_equal(task_sched_runtime(holder), host_time_of(holder));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifo),
		cmocka_unit_test(preempted),
		cmocka_unit_test(priorities),
		cmocka_unit_test(round_robin),
		cmocka_unit_test(no_turns),
		cmocka_unit_test(moved),
		cmocka_unit_test(refused),
		cmocka_unit_test(charged),
		cmocka_unit_test(looked_at),
		cmocka_unit_test(equal_does_not_ask),
		cmocka_unit_test(slice_ends_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
