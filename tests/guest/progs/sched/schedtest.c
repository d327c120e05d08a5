/*
 * schedtest: who runs when. The cases with shares and latencies want -icount (a nanosecond is an instruction)
 * and one CPU; "spread" and "affinity" want several CPUs.
 */
#include <deadline.h>
#include <numbers.h>
#include <signal.h>
#include <sys/resource.h>
#include <thread.h>

/* Burn time, counting, until the clock says so. */
static long burn_until(long end)
{
	long n = 0;

	while (check_now() < end) {
		for (int i = 0; i < 2000; i++)
			__asm__ volatile("" : "+r"(i));
		n++;
	}
	return n;
}

static void send_long(int fd, long n)
{
	if (vt_write_all(fd, &n, sizeof(n)))
		_exit(2);
}

static long take_long(int fd)
{
	long n = 0;

	CHECK_EQ(read(fd, &n, sizeof(n)), sizeof(n));
	return n;
}

/* A fair task spins on the CPU on which a FIFO task sleeps: it wakes with its timer's interrupt and not
 * later. */
static void fifo_preempts(void)
{
	long late = 0, at;
	pid_t hog;

	check_pin(0);
	hog = check_fork();
	if (hog == 0)
		for (;;)
			;
	be(SCHED_FIFO, 10);
	at = check_now() + 10 * MS;
	for (int i = 0; i < 100; i++, at += 777777) {
		struct timespec when = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
		long lateness;

		CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL), 0);
		lateness = check_now() - at;
		CHECK_RANGE(lateness, 0, 50000); /* not early, either */
		late = lateness > late ? lateness : late;
	}
	CHECK_CALL(kill(hog, SIGKILL));
	check_wait(hog);
	printf("  woken at most %ld instructions late\n", late);
}

/* Woken by a fair task, the FIFO task runs before that one's next step. */
static void fifo_runs_at_once(void)
{
	int wake[2], order[2];
	pid_t pid;

	check_pin(0);
	CHECK_CALL(pipe(wake));
	CHECK_CALL(pipe(order));
	pid = check_fork();
	if (pid == 0) {
		be(SCHED_FIFO, 1);
		for (int i = 0; i < 50; i++) {
			check_give(order[1], 'w'); /* waiting from here on */
			check_take(wake[0]);
			check_give(order[1], 'F');
		}
		_exit(0);
	}
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(check_take(order[0]), 'w');
		check_give(wake[1], 'g');
		check_give(order[1], 'f');
		CHECK_EQ(check_take(order[0]), 'F');
		if (i < 49) {
			/* Its next 'w' came before our 'f' as well. */
			CHECK_EQ(check_take(order[0]), 'w');
			check_give(order[1], 'w');
		}
		CHECK_EQ(check_take(order[0]), 'f');
	}
	CHECK_EQ(check_wait(pid), 0);
}

/* Two hogs on CPU 0 for half a second, which is 100 turns and more: what each has done, in per mille of both.
 */
static long share_of_first(int nice_second)
{
	long end = check_now() + 600 * MS, done[2];
	int ends[2][2];
	pid_t pids[2];

	check_pin(0);
	for (int i = 0; i < 2; i++) {
		CHECK_CALL(pipe(ends[i]));
		pids[i] = check_fork();
		if (pids[i] == 0) {
			struct timespec start = {.tv_sec = (end - 500 * MS) / 1000000000,
						 .tv_nsec = (end - 500 * MS) % 1000000000};

			if (i == 1 && setpriority(PRIO_PROCESS, 0, nice_second))
				_exit(2);
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL);
			send_long(ends[i][1], burn_until(end));
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++) {
		done[i] = take_long(ends[i][0]);
		CHECK_EQ(check_wait(pids[i]), 0);
	}
	return done[0] * 1000 / (done[0] + done[1]);
}

static void equal_shares(void)
{
	long share = share_of_first(0);

	printf("  shares %ld : %ld\n", share, 1000 - share);
	CHECK_RANGE(share, 475, 525);
}

/* Linux weighs nice 0 with 1024 and nice 5 with 335. */
static void nice_shares(void)
{
	long share = share_of_first(5), wanted = 1024 * 1000 / (1024 + 335);

	printf("  shares %ld : %ld, by weight %ld : %ld\n", share, 1000 - share, wanted, 1000 - wanted);
	CHECK_RANGE(share, wanted * 95 / 100, wanted * 105 / 100);
}

/* Hogs of one real-time priority, for four turns of SCHED_RR; what the first to start has done of all, per
 * mille. */
static long rt_share(int policy)
{
	int go[2], ends[2][2];
	long done[2], end;
	pid_t pids[2];

	check_pin(0);
	be(SCHED_FIFO, 50); /* so that both are ready before either runs */
	CHECK_CALL(pipe(go));
	end = check_now() + 410 * MS;
	for (int i = 0; i < 2; i++) {
		CHECK_CALL(pipe(ends[i]));
		pids[i] = check_fork();
		if (pids[i] == 0) {
			be(policy, 20);
			send_long(ends[i][1], burn_until(end));
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++) {
		done[i] = take_long(ends[i][0]);
		CHECK_EQ(check_wait(pids[i]), 0);
	}
	return done[0] + done[1] ? done[0] * 1000 / (done[0] + done[1]) : 0;
}

static void rr_rotates(void)
{
	CHECK_RANGE(rt_share(SCHED_RR), 350, 650);
}

/* Whoever has the CPU keeps it. */
static void fifo_does_not(void)
{
	long share = rt_share(SCHED_FIFO);

	CHECK_RANGE(share > 500 ? share : 1000 - share, 990, 1000);
}

/* FIFO tasks of one priority that yield take turns. */
static void yield_turns(void)
{
	char first = 0, byte;
	int order[2];
	pid_t pids[2];

	check_pin(0);
	be(SCHED_FIFO, 50);
	CHECK_CALL(pipe(order));
	for (int i = 0; i < 2; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			be(SCHED_FIFO, 20);
			for (int n = 0; n < 20; n++) {
				check_give(order[1], (char)('a' + i));
				sched_yield();
			}
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(check_wait(pids[i]), 0);
	for (int n = 0; n < 40; n++) {
		byte = check_take(order[0]);
		if (n == 0)
			first = byte;
		CHECK_EQ(byte, n % 2 ? 'a' + 'b' - first : first);
	}
}

/* What this task runs of the 400 ms until `end` while another, which calls `keep` all the time, runs as well;
 * in ms. */
static long left_by(void (*keep)(void), long end)
{
	long used;
	pid_t pid;

	check_pin(0);
	pid = check_fork();
	if (pid == 0) {
		sleep_until(end - 400 * MS);
		while (check_now() < end) {
			keep();
			burn(300 * US);
		}
		_exit(0);
	}
	sleep_until(end - 400 * MS);
	used = cpu_time();
	burn_until(end);
	used = cpu_time() - used;
	CHECK_EQ(check_wait(pid), 0);
	return used / MS;
}

static void set_same_nice(void)
{
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, 0), 0);
}

static void set_same_policy(void)
{
	CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
}

static void flip_batch(void)
{
	CHECK_EQ(set_policy(0, SCHED_BATCH, 0), 0);
	CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
}

/* Who sets its own nice value or policy all the time gets no more than others: a slice goes on over that. */
static void keeps_slice(void)
{
	CHECK_RANGE(left_by(set_same_nice, check_now() + 450 * MS), 180, 220);
	CHECK_RANGE(left_by(set_same_policy, check_now() + 450 * MS), 180, 220);
	CHECK_RANGE(left_by(flip_batch, check_now() + 450 * MS), 180, 220);
}

/*
 * Two of one real-time priority; the one that runs sets the priority that it has, is preempted, and comes
 * back before the other (sched(7): a priority that does not change leaves the place in the list).
 */
static void keeps_place(void)
{
	int order[2], go[2];
	pid_t pids[2];

	check_pin(0);
	be(SCHED_FIFO, 50);
	CHECK_CALL(pipe(order));
	CHECK_CALL(pipe(go));
	for (int i = 0; i < 2; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			be(SCHED_FIFO, 20);
			check_take(go[0]); /* in the order in which they are here */
			be(SCHED_FIFO, 20);
			check_give(order[1], (char)('a' + i));
			check_give(order[1], (char)('A' + i)); /* the parent has come in between */
			_exit(0);
		}
	}
	check_sleep(MS);
	check_give(go[1], 'g');
	check_give(go[1], 'g');
	for (int i = 0; i < 4; i++)
		CHECK_EQ(check_take(order[0]), "aAbB"[i]);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(check_wait(pids[i]), 0);
}

/* A deadline task that becomes real time makes room at once for a more important one that has waited behind
 * it. */
static void leaves_deadline(void)
{
	int order[2];
	pid_t pid;
	long at;

	check_pin(0);
	be(SCHED_FIFO, 50);
	CHECK_CALL(pipe(order));
	at = check_now() + 5 * MS;
	pid = check_fork();
	if (pid == 0) {
		sleep_until(at);
		check_give(order[1], 'h');
		_exit(0);
	}
	CHECK_EQ(set_deadline(0, 50 * MS, 100 * MS, 100 * MS, 0), 0);
	sleep_until(at - MS);
	while (check_now() < at + 2 * MS)
		;
	check_give(order[1], 'd');
	be(SCHED_FIFO, 10);
	check_give(order[1], 'l');
	for (int i = 0; i < 3; i++)
		CHECK_EQ(check_take(order[0]), "dhl"[i]);
	CHECK_EQ(check_wait(pid), 0);
}

/* sched(7) about SCHED_RESET_ON_FORK: children are not real time, nor nicer than 0; what is below that stays.
 */
static void resets_on_fork(void)
{
	static const struct {
		int policy, priority, nice, child_policy, child_nice;
	} cases[] = {
		{SCHED_FIFO, 10, 0, SCHED_OTHER, 0},  {SCHED_RR, 20, 0, SCHED_OTHER, 0},
		{SCHED_OTHER, 0, -5, SCHED_OTHER, 0}, {SCHED_OTHER, 0, 5, SCHED_OTHER, 5},
		{SCHED_BATCH, 0, -3, SCHED_BATCH, 0}, {SCHED_IDLE, 0, 5, SCHED_IDLE, 5},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t pid;

		CHECK_EQ(setpriority(PRIO_PROCESS, 0, cases[i].nice), 0);
		CHECK_EQ(set_policy(0, cases[i].policy | SCHED_RESET_ON_FORK, cases[i].priority), 0);
		pid = check_fork();
		if (pid == 0) {
			CHECK_EQ(sched_getscheduler(0), cases[i].child_policy);
			CHECK_EQ(getpriority(PRIO_PROCESS, 0), cases[i].child_nice);
			_exit(check_failures);
		}
		CHECK_EQ(check_wait(pid), 0);
		CHECK_EQ(set_policy(0, SCHED_OTHER, 0), 0);
	}
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, 0), 0);
}

static void policies(void)
{
	struct sched_param param = {.sched_priority = 7};
	static char attr[4097];

	CHECK_CALL(check_syscall(SYS_sched_getattr, 0, (long)attr, 4096, 0, 0, 0));
	CHECK_ERRNO(check_syscall(SYS_sched_getattr, 0, (long)attr, 4097, 0, 0, 0), EINVAL);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_ERRNO(sched_setscheduler(0, SCHED_OTHER, &param), EINVAL);
	CHECK_ERRNO(sched_setscheduler(0, 77, &param), EINVAL);
	CHECK_ERRNO(sched_setscheduler(0x3ffffff, SCHED_FIFO, &param), ESRCH);
	CHECK_EQ(sched_setscheduler(0, SCHED_RR, &param), 0);
	CHECK_EQ(sched_getscheduler(0), SCHED_RR);
	param.sched_priority = 0;
	CHECK_EQ(sched_getparam(0, &param), 0);
	CHECK_EQ(param.sched_priority, 7);
	param.sched_priority = 100;
	CHECK_ERRNO(sched_setparam(0, &param), EINVAL);
	param.sched_priority = 0;
	CHECK_ERRNO(sched_setscheduler(0, SCHED_FIFO, &param), EINVAL);
	CHECK_EQ(sched_setscheduler(0, SCHED_OTHER, &param), 0);
	CHECK_EQ(sched_get_priority_max(SCHED_FIFO), 99);
	CHECK_EQ(sched_get_priority_min(SCHED_RR), 1);
	CHECK_EQ(sched_get_priority_max(SCHED_OTHER), 0);
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, 100), 0); /* cut to 19 */
	errno = 0;
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), 19);
}

static int nice_pipe[2];

static void thread_waits(void *unused)
{
	char byte;

	read(nice_pipe[0], &byte, 1);
}

/* A process of a group (0: a new one) with a second thread, *thread. Both wait. */
static pid_t process_with_thread(pid_t group, unsigned uid, pid_t *thread)
{
	int told[2];
	pid_t pid;

	CHECK_CALL(pipe(told));
	pid = check_fork();
	if (pid == 0) {
		setpgid(0, group);
		CHECK_CALL(check_syscall(SYS_setuid, uid, 0, 0, 0, 0, 0));
		*thread = thread_start_in_group(thread_waits, NULL);
		write(told[1], thread, sizeof(*thread));
		thread_waits(NULL);
		_exit(0);
	}
	CHECK_EQ(read(told[0], thread, sizeof(*thread)), sizeof(*thread));
	close(told[0]);
	close(told[1]);
	return pid;
}

static void check_nices(const pid_t *tasks, const int *wanted, int n)
{
	for (int i = 0; i < n; i++)
		CHECK_EQ(getpriority(PRIO_PROCESS, tasks[i]), wanted[i]);
}

/* A group's and a user's: all threads of those who are meant, and of nobody else. */
static void nice_of_many(void)
{
	pid_t task[6];

	CHECK_CALL(pipe(nice_pipe));
	task[0] = process_with_thread(0, 1001, &task[1]);
	task[2] = process_with_thread(task[0], 1002, &task[3]);
	task[4] = process_with_thread(0, 1002, &task[5]);
	CHECK_EQ(setpriority(PRIO_PGRP, task[0], 5), 0);
	check_nices(task, (int[]){5, 5, 5, 5, 0, 0}, 6);
	CHECK_EQ(setpriority(PRIO_USER, 1002, 7), 0);
	check_nices(task, (int[]){5, 5, 7, 7, 7, 7}, 6);
	CHECK_EQ(setpriority(PRIO_PROCESS, task[3], 3), 0);
	check_nices(task, (int[]){5, 5, 7, 3, 7, 7}, 6);
	CHECK_EQ(getpriority(PRIO_PGRP, task[0]), 3); /* the most favoured */
	CHECK_EQ(getpriority(PRIO_USER, 1001), 5);
	CHECK_ERRNO(setpriority(PRIO_PGRP, task[1], 1), ESRCH);
	CHECK_ERRNO(setpriority(PRIO_PGRP, -task[0], 1), ESRCH);
	CHECK_ERRNO(setpriority(PRIO_USER, 1003, 1), ESRCH);
	CHECK_ERRNO(setpriority(3, 0, 1), EINVAL);
	CHECK_EQ(setpriority(PRIO_PGRP, 0, 1), 0); /* the caller's, which is not everybody's even if its number is 0 */
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), 1);
	check_nices(task, (int[]){5, 5, 7, 3, 7, 7}, 6);
	close(nice_pipe[0]);
	close(nice_pipe[1]);
	for (int i = 0; i < 6; i += 2) {
		kill(task[i], SIGKILL);
		check_wait(task[i]);
	}
}

static int cpu_now(void)
{
	unsigned cpu = 999;

	CHECK_CALL(check_syscall(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0));
	return (int)cpu;
}

/* A thread of the kernel that belongs to a CPU stays there, whoever asks: ksoftirqd/0 is one. */
static void find_ksoftirqd(const struct vt_proc *p, void *arg)
{
	if (!strcmp(p->comm, "ksoftirqd/0"))
		*(pid_t *)arg = p->pid;
}

static void affinity(void)
{
	cpu_set_t none = {{0}};
	int cpus = check_cpus();
	pid_t thread = 0;

	for (int round = 0; round < 50; round++)
		for (int cpu = 0; cpu < cpus; cpu++) {
			check_pin(cpu);
			CHECK_EQ(cpu_now(), cpu);
		}
	CHECK_ERRNO(sched_setaffinity(0, sizeof(none), &none), EINVAL);
	CPU_SET(cpus, &none); /* one that does not exist */
	CHECK_ERRNO(sched_setaffinity(0, sizeof(none), &none), EINVAL);
	CHECK_ERRNO(sched_setaffinity(-1, sizeof(none), &none), ESRCH);
	CHECK_ERRNO(check_syscall(SYS_sched_getaffinity, -1, sizeof(none), (long)&none, 0, 0, 0), ESRCH);
	CHECK_EQ(cpu_now(), cpus - 1);
	vt_each_proc(find_ksoftirqd, &thread);
	CHECK(thread > 0);
	none = (cpu_set_t){{1}};
	CHECK_ERRNO(sched_setaffinity(thread, sizeof(none), &none), EINVAL);
}

static int sampled;
static cpu_set_t on;

static void sample(const struct vt_proc *p, void *arg)
{
	const pid_t *pids = arg;

	for (; *pids; pids++)
		if (*pids == p->pid) {
			CPU_SET(p->cpu, &on);
			sampled++;
		}
}

/* As many hogs as CPUs, all born on one: idle CPUs take them, so that soon each has its own. */
static void spread(void)
{
	int cpus = check_cpus(), tries = 0, used;
	pid_t pids[65] = {0};
	cpu_set_t all = {{0}};

	for (int cpu = 0; cpu < cpus; cpu++)
		CPU_SET(cpu, &all);
	check_pin(0);
	for (int i = 0; i < cpus; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			sched_setaffinity(0, sizeof(all), &all);
			for (;;)
				;
		}
	}
	do {
		check_sleep(5 * MS);
		on = (cpu_set_t){{0}};
		sampled = used = 0;
		vt_each_proc(sample, pids);
		for (int cpu = 0; cpu < cpus; cpu++)
			used += CPU_ISSET(cpu, &on);
	} while (used < cpus && ++tries < 4000);
	CHECK_EQ(sampled, cpus);
	CHECK_EQ(used, cpus);
	for (int i = 0; i < cpus; i++) {
		CHECK_CALL(kill(pids[i], SIGKILL));
		check_wait(pids[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"policies", policies},
		{"fifo-preempts", fifo_preempts},
		{"fifo-at-once", fifo_runs_at_once},
		{"equal", equal_shares},
		{"nice", nice_shares},
		{"rr", rr_rotates},
		{"fifo", fifo_does_not},
		{"yield", yield_turns},
		{"nice_of_many", nice_of_many},
		{"keeps-slice", keeps_slice},
		{"keeps-place", keeps_place},
		{"leaves-deadline", leaves_deadline},
		{"resets-on-fork", resets_on_fork},
		{"affinity", affinity},
		{"spread", spread},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
