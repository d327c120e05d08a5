/*
 * The fair class on one CPU: weights, slices, which task preempts which, what a change of nice value does, to the
 * nanosecond. The scheduler is compiled for the host; code takes no time, and the clock goes only when a test says so
 * (host_sched.h).
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

/* What Linux documents for the nice values -20 to 19. Programs and manuals quote these numbers. */
static const int documented[40] = {88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
				   9548,  7620,	 6100,	4904,  3906,  3121,  2501,  1991,  1586,  1277,
				   1024,  820,	 655,	526,   423,   335,   272,   215,   172,	  137,
				   110,	  87,	 70,	56,    45,    36,    29,    23,	   18,	  15};

static struct task_struct with_nice(int policy, int nice)
{
	struct task_struct p = {.policy = policy, .static_prio = DEFAULT_PRIO + nice};

	set_load_weight(&p);
	return p;
}

/* Each step of nice is a factor of 1.25; the table's own rounding is never more than 2.5 %, nor more than
 * one. */
static void weights(void **state)
{
	double exact = 1024;

	for (int i = 0; i < 20; i++)
		exact *= 1.25;
	for (int nice = -20; nice <= 19; nice++, exact /= 1.25) {
		struct task_struct p = with_nice(SCHED_NORMAL, nice);
		int w = sched_prio_to_weight[nice + 20];
		double error = w > exact ? w - exact : exact - w;

		if (w != documented[nice + 20])
			fail_msg("nice %d weighs %d, documented is %d", nice, w, documented[nice + 20]);
		if (error > exact / 40)
			fail_msg("nice %d weighs %d, 1.25 to the power of it is %f", nice, w, exact);
		assert_int_equal(p.se.weight, w);
		assert_int_equal(p.se.inv_weight, ((1UL << 32) - 1) / (unsigned long)w);
		p = with_nice(SCHED_BATCH, nice);
		assert_int_equal(p.se.weight, w);
		p = with_nice(SCHED_IDLE, nice); /* whatever its nice value */
		assert_int_equal(p.se.weight, 3);
		assert_int_equal(p.se.inv_weight, U32_MAX / 3);
	}
}

/* ns * 1024 / weight, less what the inverse has lost: below one part in 2^32 / weight, and one ns. */
static void virtual_time(void **state)
{
	for (int nice = -20; nice <= 19; nice++) {
		struct task_struct p = with_nice(SCHED_NORMAL, nice);

		for (u64 ns = 1; ns < 1ULL << 50; ns += ns / 3 + 1) {
			u64 exact = (u64)((unsigned __int128)ns * 1024 / p.se.weight), got = calc_delta_fair(ns, &p.se);

			if (got > exact || got + exact / ((1UL << 32) / p.se.weight) + 1 < exact)
				fail_msg("nice %d: %lu ns are %lu of virtual time, not %lu", nice, ns, got, exact);
		}
	}
}

/* All run once in 6 ms, or n times 0.75 ms when those are more; a task's part of that is its weight's, never
 * less. */
static void slices(void **state)
{
	for (unsigned n = 1; n <= 40; n++)
		for (int nice = -20; nice <= 19; nice++) {
			struct sched_entity se = {.weight = (unsigned long)documented[nice + 20], .on_rq = true};
			struct cfs_rq cfs = {.nr_running = n, .load = (n - 1) * 1024 + se.weight};
			u64 period = n > 8 ? n * 750 * US : 6 * MS, wanted = period * se.weight / cfs.load;

			wanted = max(wanted, 750 * US);
			if (sched_slice(&cfs, &se) != wanted)
				fail_msg("nice %d among %u tasks gets %lu ns, not %lu", nice, n, sched_slice(&cfs, &se),
					 wanted);
			/* One that is about to come counts as if it were there. */
			se.on_rq = false;
			cfs.nr_running--;
			cfs.load -= se.weight;
			assert_int_equal(sched_slice(&cfs, &se), wanted);
		}
}

/* One against one of nice 0, a minute: by weight, but for a tick or two. */
static void shares(void **state)
{
	for (int nice = -20; nice <= 19; nice++) {
		unsigned long w = (unsigned long)documented[nice + 20];
		struct task_struct *a, *b;
		long wanted, got;

		host_boot(1);
		a = host_fork("a");
		b = host_fork("b");
		assert_int_equal(host_set_nice(b, nice), 0);
		host_run(60000 * MS);
		wanted = (long)(60000 * MS * w / (w + 1024));
		got = (long)host_time_of(b);
		if (got < wanted - (long)(9 * MS) || got > wanted + (long)(9 * MS))
			fail_msg("nice %d against 0 got %ld us of 60 s, by weight it is %ld", nice, got / 1000,
				 wanted / 1000);
		/* The account that the scheduler keeps is the truth, too. */
		assert_int_equal(task_sched_runtime(a), host_time_of(a));
		assert_int_equal(task_sched_runtime(b), host_time_of(b));
	}
}

/* Ten of all kinds together, and all the time is given out. */
static void crowd(void **state)
{
	static const int nices[10] = {0, 0, 0, -3, -1, 1, 4, 5, 10, 19};
	struct task_struct *p[10];
	unsigned long sum = 0;
	struct rb_node *left;
	u64 all = 0, behind;

	host_boot(1);
	for (int i = 0; i < 10; i++) {
		p[i] = host_fork("crowd");
		host_set_nice(p[i], nices[i]);
		sum += (unsigned long)documented[nices[i] + 20];
	}
	host_run(100000 * MS);
	/* Nobody has slept: the queue's virtual time is that of the one that is behind all others. */
	task_sched_runtime(host_runs(0));
	for (int i = 0; i < 10; i++)
		if ((s64)(p[i]->se.vruntime - cpu_rq(0)->cfs.min_vruntime) < 0)
			fail_msg("min_vruntime is ahead of a task");
	behind = host_runs(0)->se.vruntime;
	left = rb_first_cached(&cpu_rq(0)->cfs.timeline);
	if ((s64)(rb_entry(left, struct sched_entity, run_node)->vruntime - behind) < 0)
		behind = rb_entry(left, struct sched_entity, run_node)->vruntime;
	assert_int_equal(cpu_rq(0)->cfs.min_vruntime, behind);
	for (int i = 0; i < 10; i++) {
		long wanted = (long)(100000 * MS * (unsigned long)documented[nices[i] + 20] / sum);
		long got = (long)host_time_of(p[i]);

		all += (u64)got;
		if (got < wanted - (long)(20 * MS) || got > wanted + (long)(20 * MS))
			fail_msg("nice %d got %ld us of 100 s, by weight it is %ld", nices[i], got / 1000,
				 wanted / 1000);
	}
	assert_int_equal(all, 100000 * MS);
}

/* p's turn begins, so far ahead of the next one, and as if it had not run `less` of what it runs; until after
 * a tick. */
static void heavy_turn(struct task_struct *p, u64 ahead, u64 less)
{
	struct rb_node *left;

	if (host_runs(0) == p)
		host_sleep(p), host_wake(p);
	host_run_to(p, 4 * MS);
	left = rb_first_cached(&cpu_rq(0)->cfs.timeline);
	p->se.vruntime = rb_entry(left, struct sched_entity, run_node)->vruntime + ahead;
	p->se.prev_sum_exec_runtime = p->se.sum_exec_runtime + less;
	host_run(4 * MS);
}

/* Equals take turns at every tick: a slice of 6 ms / n is over by then. The heavy one's slice is 5.93 ms: two
 * ticks. */
static void turns(void **state)
{
	struct task_struct *p[3], *first;
	u64 before;

	host_boot(1);
	for (int i = 0; i < 3; i++)
		p[i] = host_fork("turn");
	host_run(40 * MS);
	for (int i = 0; i < 30; i++) {
		first = host_runs(0);
		host_run(4 * MS);
		if (host_runs(0) == first)
			fail_msg("one of three equals runs two ticks on end");
	}
	host_set_nice(p[0], -20);
	/* Let it be a little ahead of the next, so that it is not virtual time that counts but the slice. */
	heavy_turn(p[0], 1 * MS, 0);
	if (host_runs(0) != p[0])
		fail_msg("a slice of 5.9 ms is over after a tick");
	host_run(4 * MS);
	if (host_runs(0) == p[0])
		fail_msg("a slice of 5.9 ms is not over after two ticks");
	/* More than a slice ahead, it goes at the tick; but not when it has run for less than 0.75 ms. */
	heavy_turn(p[0], 7 * MS, 0);
	if (host_runs(0) == p[0])
		fail_msg("more than its slice ahead of the next, a task goes on");
	heavy_turn(p[0], 7 * MS, 3300 * US);
	if (host_runs(0) != p[0])
		fail_msg("a task must go before it has run for 0.75 ms");
	/* Alone nobody is asked to go. */
	host_boot(1);
	first = host_fork("alone");
	before = cpu_rq(0)->nr_switches;
	host_run(1000 * MS);
	assert_int_equal(cpu_rq(0)->nr_switches, before);
}

/* A slice is of the turn, not of all that the task has ever run: a little ahead of the next it goes on until then. */
static void slice_of_a_turn(void **state)
{
	struct task_struct *p[3];
	struct rb_node *left;

	host_boot(1);
	for (int i = 0; i < 3; i++)
		p[i] = host_fork("turn");
	host_set_nice(p[0], -20);
	host_run(100 * MS);
	host_run_to(p[0], MS);
	host_sleep(p[0]);
	host_run(20 * MS);
	host_wake(p[0]);
	assert_ptr_equal(host_runs(0), p[0]);
	left = rb_first_cached(&cpu_rq(0)->cfs.timeline);
	p[0]->se.vruntime = rb_entry(left, struct sched_entity, run_node)->vruntime + 1 * MS;
	host_run(4 * MS);
	if (host_runs(0) != p[0])
		fail_msg("a slice of 5.9 ms is over after the first tick of a turn");
	host_run(4 * MS);
	if (host_runs(0) == p[0])
		fail_msg("a slice of 5.9 ms is not over after two ticks");
}

/* Two, of which one sleeps for a while and the other runs. */
static void pair(struct task_struct **runs, struct task_struct **sleeps)
{
	host_boot(1);
	*runs = host_fork("runs");
	*sleeps = host_fork("sleeps");
	host_run(100 * MS);
	host_run_to(*sleeps, MS);
	host_sleep(*sleeps);
	host_run(50 * MS);
}

/* Who sleeps long has 3 ms of credit, whoever sleeps short what it had. */
static void credit(void **state)
{
	struct task_struct *runs, *sleeps;
	u64 v;

	pair(&runs, &sleeps);
	task_sched_runtime(runs); /* charges it up to now */
	v = cpu_rq(0)->cfs.min_vruntime;
	assert_int_equal(v, runs->se.vruntime);
	host_wake(sleeps);
	assert_int_equal(sleeps->se.vruntime, v - 3 * MS);
	assert_ptr_equal(host_runs(0), sleeps);
	/* It has used half a ms of that when it sleeps again, for a tenth. */
	host_run(500 * US);
	host_sleep(sleeps);
	assert_ptr_equal(host_runs(0), runs);
	host_run(100 * US);
	host_wake(sleeps);
	assert_int_equal(sleeps->se.vruntime, v - 2500 * US);
	/* Real time in between, asleep: nothing is saved up by that. */
	host_run_to(sleeps, 100 * US);
	host_sleep(sleeps);
	host_set_policy(sleeps, SCHED_FIFO, 10);
	host_run(2000 * MS);
	host_set_policy(sleeps, SCHED_NORMAL, 0);
	task_sched_runtime(runs);
	v = cpu_rq(0)->cfs.min_vruntime;
	host_wake(sleeps);
	if ((s64)(sleeps->se.vruntime - v) < -(s64)(3 * MS) || (s64)(sleeps->se.vruntime - v) > 0)
		fail_msg("a sleeper that was real time for a while comes back %ld us from the others",
			 (long)(s64)(sleeps->se.vruntime - v) / 1000);
}

/* Real time for a moment, asleep: a sleeper comes back as far from the others as it was, on either side of the wrap. */
static void class_and_back(void **state)
{
	struct task_struct *runs, *sleeps;
	u64 v;

	pair(&runs, &sleeps);
	for (int i = 0; i < 2; i++) {
		task_sched_runtime(runs); /* charges it up to now */
		v = cpu_rq(0)->cfs.min_vruntime;
		assert_int_equal((s64)v < 0, i == 0);
		sleeps->se.vruntime = v + 2 * MS;
		host_set_policy(sleeps, SCHED_FIFO, 10);
		host_set_policy(sleeps, SCHED_NORMAL, 0);
		host_wake(sleeps);
		if (sleeps->se.vruntime != v + 2 * MS)
			fail_msg("a sleeper that was 2 ms ahead comes back %ld us ahead of the others",
				 (long)(s64)(sleeps->se.vruntime - v) / 1000);
		host_run_to(sleeps, MS);
		host_sleep(sleeps);
		host_run(3000 * MS);
	}
}

/* A sleeper takes the CPU when the other is more than 1 ms, in the sleeper's virtual time, ahead of it. */
static void wakeup_granularity(void **state)
{
	static const int nices[] = {-20, -10, -5, 0, 1, 4};
	struct task_struct *runs, *sleeps;

	for (unsigned i = 0; i < ARRAY_SIZE(nices); i++)
		for (int more = 0; more < 2; more++) {
			u64 limit;

			pair(&runs, &sleeps);
			host_set_nice(sleeps, nices[i]);
			task_sched_runtime(runs);		  /* charges it up to now */
			limit = calc_delta_fair(MS, &sleeps->se); /* as "virtual_time" has checked it */
			sleeps->se.vruntime = runs->se.vruntime - limit - (u64)more;
			host_wake(sleeps);
			if (host_runs(0) != (more ? sleeps : runs))
				fail_msg("nice %d, %lu ns behind, %s", nices[i], limit + (u64)more,
					 more ? "waits" : "preempts");
		}
}

/* Which policy takes the CPU from which when it wakes up. */
static void policies(void **state)
{
	static const struct {
		int runs, wakes;
		bool preempts;
	} cases[] = {
		{SCHED_NORMAL, SCHED_NORMAL, true}, {SCHED_NORMAL, SCHED_BATCH, false},
		{SCHED_NORMAL, SCHED_IDLE, false},  {SCHED_BATCH, SCHED_NORMAL, true},
		{SCHED_BATCH, SCHED_BATCH, false},  {SCHED_BATCH, SCHED_IDLE, false},
		{SCHED_IDLE, SCHED_NORMAL, true},   {SCHED_IDLE, SCHED_BATCH, true},
		{SCHED_IDLE, SCHED_IDLE, false},
	};
	struct task_struct *runs, *sleeps;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		pair(&runs, &sleeps);
		host_set_policy(runs, cases[i].runs, 0);
		host_set_policy(sleeps, cases[i].wakes, 0);
		host_wake(sleeps);
		if ((host_runs(0) == sleeps) != cases[i].preempts)
			fail_msg("policy %d %s policy %d", cases[i].wakes, cases[i].preempts ? "waits for" : "preempts",
				 cases[i].runs);
	}
}

/* A child begins a slice behind and does not take the CPU from its parent: forking gains nothing. */
static void children(void **state)
{
	struct task_struct *parent, *child;
	u64 v;

	host_boot(1);
	parent = host_fork("parent");
	host_run(10 * MS);
	host_on(0);
	v = parent->se.vruntime + 2 * MS; /* not yet charged: the last tick was 2 ms ago */
	child = host_fork("child");
	assert_ptr_equal(host_runs(0), parent);
	assert_int_equal(cpu_rq(0)->cfs.min_vruntime, v);
	assert_int_equal(child->se.vruntime, v + 3 * MS);
	assert_int_equal(child->se.weight, 1024);
	assert_int_equal(child->se.sum_exec_runtime, 0);
	/* What a child inherits. */
	host_set_nice(parent, 19);
	child = host_fork_from(parent, "child");
	assert_int_equal(task_nice(child), 19);
	assert_int_equal(child->se.weight, 15);
}

/* Who yields lets the next one run once, if that one is not far ahead. */
static void yields(void **state)
{
	struct task_struct *p[3], *yielder;

	host_boot(1);
	for (int i = 0; i < 3; i++)
		p[i] = host_fork("yield");
	host_run(24 * MS);
	for (int i = 0; i < 50; i++) {
		host_run(100 * US);
		yielder = host_runs(0);
		host_yield(yielder);
		if (host_runs(0) == yielder)
			fail_msg("who yields goes on, although the others are not ahead");
		assert_null(cpu_rq(0)->cfs.skip); /* passed over once */
	}
	/* Both others 5 ms ahead: it goes on, but has been asked only once. */
	yielder = host_runs(0);
	for (int i = 0; i < 3; i++)
		if (p[i] != yielder) {
			host_set_cpus(p[i], 1);
			host_on(0);
			update_rq_clock(cpu_rq(0));
			p[i]->sched_class->dequeue_task(cpu_rq(0), p[i], 0);
			p[i]->se.vruntime = 5 * MS + (u64)i + yielder->se.vruntime - cpu_rq(0)->cfs.min_vruntime;
			p[i]->sched_class->enqueue_task(cpu_rq(0), p[i], 0);
		}
	host_yield(yielder);
	assert_ptr_equal(host_runs(0), yielder);
	assert_null(cpu_rq(0)->cfs.skip);
	/* Alone: nothing happens. */
	host_boot(1);
	yielder = host_fork("alone");
	host_yield(yielder);
	assert_ptr_equal(host_runs(0), yielder);
}

/*
 * A real-time task runs in place of those that a yield was for. When the one that has yielded leaves the queue
 * meanwhile, its yield is over: back in the queue it is not passed over.
 */
static void yield_ends_with_leaving(void **state)
{
	struct task_struct *rt, *yielder, *other;

	pair(&other, &rt);
	host_set_policy(rt, SCHED_FIFO, 1);
	yielder = host_fork("yielder");
	host_run_to(yielder, 100 * US);
	host_on(0);
	/* It is the first, and by less than a yield may cost. */
	yielder->se.vruntime = cpu_rq(0)->cfs.min_vruntime - 100 * US;
	preempt_disable(); /* the yield comes before the switch */
	assert_true(wake_up_process(rt));
	preempt_enable_no_resched();
	host_yield(yielder);
	assert_ptr_equal(host_runs(0), rt);
	assert_ptr_equal(cpu_rq(0)->cfs.skip, &yielder->se);
	host_set_policy(yielder, SCHED_FIFO, 1);
	host_set_policy(yielder, SCHED_NORMAL, 0);
	assert_ptr_equal(rb_first_cached(&cpu_rq(0)->cfs.timeline), &yielder->se.run_node);
	host_sleep(rt);
	assert_ptr_equal(host_runs(0), yielder);
}

/* Nice values change while the task runs, waits and sleeps: from that moment on its time counts by the new
 * weight. */
static void renice(void **state)
{
	struct task_struct *runs, *other;
	u64 v, ran;

	pair(&runs, &other);
	/* Running, in the middle of a tick: what it has run counts by the old weight. */
	v = runs->se.vruntime;
	ran = host_clock - runs->se.exec_start;
	host_run(1 * MS);
	host_set_nice(runs, 5);
	assert_int_equal(runs->se.vruntime, v + ran + 1 * MS);
	host_run(2 * MS);
	task_sched_runtime(runs);
	assert_int_equal(runs->se.vruntime, v + ran + 1 * MS + calc_delta_fair(2 * MS, &runs->se));
	/* Asleep: its weight is not in the sum (host_check), and is when it comes. */
	host_set_nice(other, -5);
	host_wake(other);
	assert_ptr_equal(host_runs(0), other);
	/* Waiting. */
	host_set_nice(runs, 10);
	host_run(3000 * MS);
	ran = host_time_of(runs);
	host_run(30000 * MS);
	ran = host_time_of(runs) - ran;
	assert_in_range(ran, 30000 * MS * 110 / (110 + 3121) - 9 * MS, 30000 * MS * 110 / (110 + 3121) + 9 * MS);
	/* Real time in between: the nice value is kept, and so is a change of it. */
	host_set_policy(runs, SCHED_FIFO, 10);
	assert_int_equal(task_nice(runs), 10);
	host_set_nice(runs, 3);
	assert_int_equal(runs->prio, 89);
	host_set_policy(runs, SCHED_NORMAL, 0);
	assert_int_equal(task_nice(runs), 3);
	assert_int_equal(runs->se.weight, 526);
	assert_int_equal(runs->prio, 123);
}

/* A CPU has a tick every 4 ms while something runs there; the one that finds it idle is the last. */
static void ticks(void **state)
{
	struct task_struct *p;
	u64 next;

	host_boot(1);
	p = host_fork("p");
	assert_int_equal(host_event[0], host_clock + 4 * MS);
	host_run(41 * MS);
	next = host_clock + 3 * MS;
	assert_int_equal(host_event[0], next);
	/* A short pause changes nothing. */
	host_sleep(p);
	host_run(1 * MS);
	host_wake(p);
	host_run(1 * MS);
	if (host_event[0] != next)
		fail_msg("a pause of a millisecond has moved the tick");
	/* Also not the timer behind the hardware: the tick comes then. */
	host_run(2 * MS);
	if (host_event[0] != next + 4 * MS)
		fail_msg("a pause of a millisecond has put the tick off by %ld us",
			 (long)(host_event[0] - next) / 1000);
	host_sleep(p);
	host_run(4 * MS);
	if (host_event[0] != NEVER)
		fail_msg("an idle CPU has a tick");
	host_run(1 * MS + 1);
	host_wake(p);
	if (host_event[0] != host_clock + 4 * MS)
		fail_msg("a CPU that leaves idle has no tick 4 ms later");
}

/* Setting what is set already, or going to SCHED_BATCH and back, does not begin a new slice. */
static void no_gain(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct task_struct *player, *other;

		host_boot(1);
		player = host_fork("player");
		other = host_fork("other");
		for (int i = 0; i < 2000; i++) {
			host_run(500 * US);
			if (how == 0)
				host_set_nice(player, 0);
			else if (how == 1)
				host_set_policy(player, i % 2 ? SCHED_NORMAL : SCHED_BATCH, 0);
			else
				host_set_policy(player, SCHED_NORMAL, 0);
		}
		if (host_time_of(other) < 490 * MS)
			fail_msg("a task that sets its own %s leaves the other %lu us of 1 s",
				 how == 0 ? "nice value" : "policy", host_time_of(other) / 1000);
	}
}

/* What a real-time task's, a nice one's and a batch task's children are like when SCHED_RESET_ON_FORK is set.
 */
static void reset_on_fork(void **state)
{
	static const struct {
		int policy, rt_priority, nice, child_policy, child_nice;
	} cases[] = {
		{SCHED_FIFO, 10, 0, SCHED_NORMAL, 0},	{SCHED_RR, 99, 5, SCHED_NORMAL, 0},
		{SCHED_NORMAL, 0, -5, SCHED_NORMAL, 0}, {SCHED_NORMAL, 0, 7, SCHED_NORMAL, 7},
		{SCHED_BATCH, 0, -3, SCHED_BATCH, 0},	{SCHED_IDLE, 0, 3, SCHED_IDLE, 3},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct task_struct *parent, *child, *grandchild;

		host_boot(1);
		parent = host_fork("parent");
		host_set_nice(parent, cases[i].nice);
		assert_int_equal(host_set(parent, (struct sched_params){.policy = cases[i].policy,
									.rt_priority = (unsigned)cases[i].rt_priority,
									.reset_on_fork = true,
									.keep = SCHED_KEEP_NICE}),
				 0);
		child = host_fork_from(parent, "child");
		if ((int)child->policy != cases[i].child_policy || task_nice(child) != cases[i].child_nice)
			fail_msg("policy %d, nice %d: the child has policy %d, nice %d", cases[i].policy, cases[i].nice,
				 child->policy, task_nice(child));
		assert_int_equal(child->rt_priority, 0);
		assert_int_equal(child->prio, child->static_prio);
		assert_false(child->sched_reset_on_fork);
		assert_int_equal(child->se.weight,
				 child->policy == SCHED_IDLE ? 3 : documented[cases[i].child_nice + 20]);
		/* Without the flag all of it is inherited. */
		host_set(parent, (struct sched_params){.policy = cases[i].policy,
						       .rt_priority = (unsigned)cases[i].rt_priority,
						       .keep = SCHED_KEEP_NICE});
		grandchild = host_fork_from(parent, "child");
		assert_int_equal(grandchild->policy, cases[i].policy);
		assert_int_equal(grandchild->rt_priority, cases[i].rt_priority);
		assert_int_equal(task_nice(grandchild), cases[i].nice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights),	  cmocka_unit_test(virtual_time),
		cmocka_unit_test(slices),	  cmocka_unit_test(shares),
		cmocka_unit_test(crowd),	  cmocka_unit_test(turns),
		cmocka_unit_test(credit),	  cmocka_unit_test(wakeup_granularity),
		cmocka_unit_test(policies),	  cmocka_unit_test(children),
		cmocka_unit_test(yields),	  cmocka_unit_test(renice),
		cmocka_unit_test(ticks),	  cmocka_unit_test(no_gain),
		cmocka_unit_test(reset_on_fork),  cmocka_unit_test(slice_of_a_turn),
		cmocka_unit_test(class_and_back), cmocka_unit_test(yield_ends_with_leaving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
