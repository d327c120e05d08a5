/*
 * schedule() itself: which task goes to sleep and which goes on because a signal has come, that a switch answers the
 * request to look for another task, and what a child has counted at first. The scheduler is compiled for the host
 * (host_sched.h).
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

/* It calls schedule() in this state, with a signal that has come before, or without one. */
static void set_state_and_schedule(struct task_struct *p, unsigned sleep_state, bool signal, bool fatal)
{
	host_do("%s has called schedule() in state %#x", p->comm, sleep_state);
	host_on(p->cpu);
	assert_ptr_equal(current, p);
	if (signal)
		set_tsk_thread_flag(p, TIF_SIGPENDING);
	host_fatal = fatal;
	set_current_state(sleep_state);
	schedule();
	host_frame();
	host_settle();
	host_check();
}

/*
 * A signal may come after the task has looked for one, and before it has left its queue. It wakes no task then, since
 * the task still runs. So schedule() looks once more, and a sleep that the signal ends does not begin.
 */
static void signal_comes_first(void **state)
{
	static const struct {
		unsigned state;
		bool signal, fatal, sleeps;
	} cases[] = {
		{TASK_INTERRUPTIBLE, false, false, true},
		{TASK_INTERRUPTIBLE, true, false, false},
		{TASK_INTERRUPTIBLE, true, true, false},
		{TASK_KILLABLE, false, false, true},
		{TASK_KILLABLE, true, false, true},
		{TASK_KILLABLE, true, true, false},
		{TASK_UNINTERRUPTIBLE, true, false, true},
		{TASK_UNINTERRUPTIBLE, true, true, true},
		{TASK_IDLE, true, true, true},
		{TASK_RUNNING, false, false, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct task_struct *p;

		host_boot(1);
		p = host_fork("p");
		host_run(1 * MS);
		set_state_and_schedule(p, cases[i].state, cases[i].signal, cases[i].fatal);
		if ((host_runs(0) != p) != cases[i].sleeps)
			host_fail("case %u: in state %#x it %s", i, cases[i].state,
				  cases[i].sleeps ? "goes on" : "sleeps");
		assert_int_equal(p->state, cases[i].sleeps ? cases[i].state : TASK_RUNNING);
		assert_int_equal(p->on_rq, !cases[i].sleeps);
		assert_int_equal(p->nvcsw, cases[i].sleeps);
		assert_int_equal(p->nivcsw, 0);
		assert_int_equal(nr_uninterruptible(), cases[i].sleeps && (cases[i].state & TASK_UNINTERRUPTIBLE) &&
							       cases[i].state != TASK_IDLE);
	}
}

/*
 * The switch answers the request that was made of the task that leaves. When it runs again it is not asked to look for
 * another, and a request that is made then is not taken for the old one.
 */
static void request_is_answered(void **state)
{
	struct task_struct *fair, *rt;

	host_boot(1);
	rt = host_fork("rt");
	host_set_policy(rt, SCHED_FIFO, 10);
	fair = host_fork_from(rt, "fair");
	host_set_policy(fair, SCHED_NORMAL, 0);
	host_sleep(rt);
	assert_ptr_equal(host_runs(0), fair);
	host_on(0);
	preempt_disable(); /* or it would have looked by now */
	assert_true(wake_up_process(rt));
	assert_true(test_tsk_thread_flag(fair, TIF_NEED_RESCHED));
	preempt_enable_no_resched();
	host_settle();
	assert_ptr_equal(host_runs(0), rt);
	assert_false(test_tsk_thread_flag(fair, TIF_NEED_RESCHED));
	assert_false(test_tsk_thread_flag(rt, TIF_NEED_RESCHED));
	assert_int_equal(fair->nivcsw, 1);
	host_sleep(rt);
	assert_ptr_equal(host_runs(0), fair);
	assert_false(need_resched());
}

/* A child has used no time and has left no CPU yet, whatever its parent has. */
static void child_has_counted_nothing(void **state)
{
	struct task_struct *p, child;

	host_boot(1);
	p = host_fork("parent");
	p->utime = 1000;
	p->stime = 2000;
	p->nvcsw = 3;
	p->nivcsw = 4;
	p->shown = (struct cputime_shown){.utime = 1000, .stime = 2000};
	child = *p;
	host_on(0);
	assert_int_equal(sched_fork(&child, 0), 0);
	if (child.utime || child.stime)
		fail_msg("a child begins with its parent's %llu ns in user mode and %llu ns in the kernel",
			 (unsigned long long)child.utime, (unsigned long long)child.stime);
	assert_int_equal(child.shown.utime + child.shown.stime, 0);
	assert_int_equal(child.se.sum_exec_runtime, 0);
	assert_int_equal(child.nvcsw, 0);
	assert_int_equal(child.nivcsw, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signal_comes_first),
		cmocka_unit_test(request_is_answered),
		cmocka_unit_test(child_has_counted_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
