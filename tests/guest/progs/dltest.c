/*
 * dltest: SCHED_DEADLINE on one CPU, under -icount: what it takes and refuses, budgets, periods, order.
 */
#include <check.h>
#include <sched.h>
#include <limits.h>
#include <numbers.h>
#include <signal.h>

#define US   1000L
#define MS   1000000L
#define SLOP (100 * US) /* a few interrupts, switches and system calls */

static int set_deadline(pid_t pid, long runtime, long deadline, long period, unsigned long flags)
{
	struct sched_attr attr = {.size = sizeof(attr),
				  .sched_policy = SCHED_DEADLINE,
				  .sched_flags = flags,
				  .sched_runtime = (unsigned long)runtime,
				  .sched_deadline = (unsigned long)deadline,
				  .sched_period = (unsigned long)period};

	return sched_setattr(pid, &attr, 0);
}

static void be_deadline(long runtime, long deadline, long period)
{
	if (set_deadline(0, runtime, deadline, period, 0))
		vt_die_errno(2, "sched_setattr");
}

static void be(int policy, int priority)
{
	struct sched_param param = {.sched_priority = priority};

	if (sched_setscheduler(0, policy, &param))
		vt_die_errno(2, "sched_setscheduler");
}

/* CPU time of the caller, as the scheduler charges it. */
static long cpu_time(void)
{
	struct timespec t;

	CHECK_CALL(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burn(long ns)
{
	long end = cpu_time() + ns;

	while (cpu_time() < end)
		;
}

static void sleep_until(long at)
{
	struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};

	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL), 0);
}

static pid_t start_hog(int policy, int priority)
{
	pid_t pid = check_fork();

	if (pid)
		return pid;
	be(policy, priority);
	for (;;)
		;
}

static void stop(pid_t pid)
{
	CHECK_CALL(kill(pid, SIGKILL));
	check_wait(pid);
}

static void write_number(const char *path, long number, int wanted)
{
	char text[24];
	int fd = (int)CHECK_CALL(open(path, O_WRONLY));

	sprintf(text, "%ld", number);
	if (wanted)
		CHECK_ERRNO(write(fd, text, strlen(text)), wanted);
	else
		CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
}

#define SYSCTL(name) "/proc/sys/kernel/sched_" name

/* Every parameter out of range; nothing changes. */
static void bad_parameters(void)
{
	static const struct {
		long runtime, deadline, period;
	} bad[] = {
		{0, 0, 0},
		{1023, 10 * MS, 10 * MS},
		{10 * MS, 0, 0},
		{10 * MS, 0, 10 * MS}, /* the period does not stand for the deadline */
		{10 * MS + 1, 10 * MS, 10 * MS},
		{MS, 10 * MS + 1, 10 * MS},
		{10 * US, 99 * US, 99 * US},
		{MS, MS, (1L << 22) * 1000 + 1},
		{MS, MS, LONG_MIN},
		{MS, LONG_MIN, 0},
		{LONG_MIN, LONG_MIN, LONG_MIN},
		{MS, LONG_MAX, LONG_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!CHECK_ERRNO(set_deadline(0, bad[i].runtime, bad[i].deadline, bad[i].period, 0), EINVAL))
			printf("  in line %u\n", (unsigned)i);
	CHECK_ERRNO(set_deadline(-1, MS, 10 * MS, 0, 0), EINVAL);
	CHECK_ERRNO(set_deadline(0x3ffffff, MS, 10 * MS, 0, 0), ESRCH);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, SCHED_FLAG_RECLAIM), EINVAL);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0x20), EOPNOTSUPP);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0x80), EINVAL);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0x10000000), EINVAL);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	/* The ends of the ranges. */
	CHECK_EQ(set_deadline(0, 1024, 100 * US, 0, 0), 0);
	CHECK_EQ(set_deadline(0, 1024, 1024, (1L << 22) * 1000, 0), 0);
	CHECK_EQ(set_deadline(0, MS, MS, 100 * MS, 0), 0);
	CHECK_EQ(sched_getscheduler(0), SCHED_DEADLINE);
}

static void bad_structures(void)
{
	struct sched_param param = {.sched_priority = 0};
	struct {
		struct sched_attr attr;
		unsigned extra;
	} big = {.attr = {.size = sizeof(big), .sched_policy = SCHED_OTHER}};
	struct sched_attr attr = {.size = sizeof(attr)};

	CHECK_EQ(sched_setattr(0, &big.attr, 0), 0); /* what we do not know is zero */
	big.extra = 1;
	CHECK_ERRNO(sched_setattr(0, &big.attr, 0), E2BIG);
	CHECK_EQ(big.attr.size, sizeof(attr));
	attr.size = 47;
	CHECK_ERRNO(sched_setattr(0, &attr, 0), E2BIG);
	CHECK_EQ(attr.size, sizeof(attr));
	attr.size = 5000;
	CHECK_ERRNO(sched_setattr(0, &attr, 0), E2BIG);
	attr.size = 48;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	attr.size = 0;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	CHECK_ERRNO(sched_setattr(0, &attr, 1), EINVAL);
	CHECK_ERRNO(sched_setattr(0, NULL, 0), EINVAL);
	CHECK_ERRNO(sched_setattr(0, (void *)16, 0), EFAULT);
	attr.sched_policy = 4;
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL);
	attr = (struct sched_attr){.size = 48, .sched_policy = 0x80000000};
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL);
	attr = (struct sched_attr){.size = 48, .sched_flags = 0x20};
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL); /* too small for what the flag tells of */
	attr = (struct sched_attr){.size = 48, .sched_policy = SCHED_DEADLINE, .sched_priority = 1,
				   .sched_runtime = MS, .sched_deadline = 10 * MS};
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL);
	CHECK_ERRNO(sched_setscheduler(0, SCHED_DEADLINE, &param), EINVAL);
	CHECK_ERRNO(sched_getattr(0, &attr, 47, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(0, &attr, 5000, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(0, &attr, 56, 1), EINVAL);
	CHECK_ERRNO(sched_getattr(0, NULL, 56, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(-1, &attr, 56, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(0x3ffffff, &attr, 56, 0), ESRCH);
	CHECK_ERRNO(sched_getattr(0, (void *)16, 56, 0), EFAULT);
}

static void what_it_tells(void)
{
	struct sched_param param = {.sched_priority = 9};
	struct sched_attr attr;

	CHECK_EQ(sched_get_priority_max(SCHED_DEADLINE), 0);
	CHECK_EQ(sched_get_priority_min(SCHED_DEADLINE), 0);
	CHECK_EQ(set_deadline(0, 2 * MS, 5 * MS, 0, SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN), 0);
	CHECK_EQ(sched_getscheduler(0), SCHED_DEADLINE | SCHED_RESET_ON_FORK);
	CHECK_EQ(sched_getparam(0, &param), 0);
	CHECK_EQ(param.sched_priority, 0);
	CHECK_ERRNO(sched_setparam(0, &param), EINVAL); /* no deadline in it */
	memset(&attr, 0xff, sizeof(attr));
	CHECK_EQ(sched_getattr(0, &attr, 48, 0), 0);
	CHECK_EQ(attr.size, 48);
	CHECK_EQ(attr.sched_util_max, 0xffffffff); /* not written to */
	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.size, sizeof(attr));
	CHECK_EQ(attr.sched_policy, SCHED_DEADLINE);
	CHECK_EQ(attr.sched_flags, SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN);
	CHECK_EQ(attr.sched_runtime, 2 * MS);
	CHECK_EQ(attr.sched_deadline, 5 * MS);
	CHECK_EQ(attr.sched_period, 5 * MS);
	CHECK_EQ(attr.sched_util_max, 0);
	/* Keep the policy, and reset-on-fork with it; change the parameters. */
	attr.sched_policy = SCHED_FIFO;
	attr.sched_flags = SCHED_FLAG_KEEP_POLICY;
	attr.sched_runtime = 3 * MS;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.sched_policy, SCHED_DEADLINE);
	CHECK_EQ(attr.sched_flags, SCHED_FLAG_RESET_ON_FORK);
	CHECK_EQ(attr.sched_runtime, 3 * MS);
	/* The other way round. */
	attr.sched_flags = SCHED_FLAG_KEEP_PARAMS;
	attr.sched_runtime = 4 * MS;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.sched_flags, 0);
	CHECK_EQ(attr.sched_runtime, 3 * MS);
}

/* Its column 18 of /proc/self/stat is -101. */
static void its_priority(void)
{
	char text[512], *at;
	long priority = 0;
	int fd, n;

	be_deadline(MS, 10 * MS, 10 * MS);
	fd = (int)CHECK_CALL(open("/proc/self/stat", O_RDONLY));
	n = (int)CHECK_CALL(read(fd, text, sizeof(text) - 1));
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int column = 2; at && column < 18; column++)
		at = strchr(at + 1, ' ');
	if (at)
		priority = strtol(at, NULL, 10);
	CHECK_EQ(priority, -101);
}

static void not_root(void)
{
	CHECK_CALL(check_syscall(NR_setuid, 1000, 0, 0, 0, 0, 0));
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0), EPERM);
	CHECK_ERRNO(set_deadline(0, 1, 10 * MS, 0, 0), EINVAL); /* looked at first */
}

/* 2 ms of 10, beside a FIFO hog and a fair one that both want everything. */
static void budget(void)
{
	pid_t fifo, fair;
	long start, used, elapsed;

	be(SCHED_FIFO, 99);
	fifo = start_hog(SCHED_FIFO, 50);
	fair = start_hog(SCHED_OTHER, 0);
	be_deadline(2 * MS, 10 * MS, 10 * MS);
	sched_yield(); /* from the beginning of a period */
	start = check_now();
	used = cpu_time();
	while (check_now() < start + 995 * MS)
		;
	elapsed = check_now() - start;
	used = cpu_time() - used;
	printf("  %ld us of %ld us\n", used / US, elapsed / US);
	/* The last period's budget is used: exactly as many as periods have begun. */
	CHECK_RANGE(used, 198 * MS, 202 * MS);
	be(SCHED_FIFO, 99);
	stop(fifo);
	stop(fair);
}

/* It runs for 2 ms, then not for 8, 20 times, although nobody else wants the CPU. */
static void throttling(void)
{
	long last, now, began;

	be_deadline(2 * MS, 10 * MS, 10 * MS);
	sched_yield();
	began = last = check_now();
	for (int gaps = 0; gaps < 20; last = now) {
		now = check_now();
		if (now - last < MS)
			continue;
		CHECK_RANGE(last - began, 2 * MS - SLOP, 2 * MS + SLOP);
		CHECK_RANGE(now - last, 8 * MS - SLOP, 8 * MS + SLOP);
		began = now;
		gaps++;
	}
}

/* Each yield goes on at the beginning of the next period. */
static void yielding(void)
{
	long first, now;

	be_deadline(4 * MS, 10 * MS, 10 * MS);
	sched_yield();
	first = check_now();
	for (int i = 1; i <= 20; i++) {
		burn(i % 4 * 500 * US);
		sched_yield();
		now = check_now();
		CHECK_RANGE(now - first, i * 10 * MS - SLOP, i * 10 * MS + SLOP);
	}
}

/* The three come in the order of their deadlines, not in that in which they were made. */
static void order(void)
{
	static const long deadlines[] = {90 * MS, 30 * MS, 60 * MS};
	int result[2], go;
	pid_t pids[3];
	long at;

	be(SCHED_FIFO, 99);
	CHECK_CALL(pipe(result));
	at = check_now() + 100 * MS;
	for (int i = 0; i < 3; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			be_deadline(9 * MS, deadlines[i], 90 * MS);
			sleep_until(at);
			check_give(result[1], (char)('a' + i));
			burn(5 * MS);
			check_give(result[1], (char)('A' + i));
			_exit(0);
		}
	}
	/* A stranger with the earliest deadline of all holds the CPU while they wake up. */
	be_deadline(20 * MS, 20 * MS, 200 * MS);
	sleep_until(at - MS);
	while (check_now() < at + 2 * MS)
		;
	be(SCHED_OTHER, 0);
	for (int i = 0; i < 6; i++) {
		go = check_take(result[0]);
		CHECK_EQ(go, "bBcCaA"[i]);
	}
	for (int i = 0; i < 3; i++)
		CHECK_EQ(check_wait(pids[i]), 0);
}

/* One that wakes up with an earlier deadline takes the CPU at once, one with a later waits. */
static void preempts(void)
{
	int result[2];
	pid_t early, late;
	long start;

	CHECK_CALL(pipe(result));
	be(SCHED_FIFO, 99);
	start = check_now() + 50 * MS;
	early = check_fork();
	if (early == 0) {
		be_deadline(2 * MS, 10 * MS, 10 * MS);
		sleep_until(start + 10 * MS);
		CHECK_RANGE(check_now() - start, 10 * MS, 10 * MS + SLOP);
		_exit(check_failures);
	}
	late = check_fork();
	if (late == 0) {
		be_deadline(2 * MS, 90 * MS, 90 * MS);
		sleep_until(start + 10 * MS);
		check_give(result[1], 'l');
		_exit(0);
	}
	be_deadline(40 * MS, 60 * MS, 60 * MS);
	sleep_until(start);
	burn(20 * MS);
	check_give(result[1], 'm');
	CHECK_EQ(check_wait(early), 0);
	CHECK_EQ(check_take(result[0]), 'm');
	CHECK_EQ(check_take(result[0]), 'l');
	CHECK_EQ(check_wait(late), 0);
}

/*
 * The wake-up rule. It has 1.5 ms left of 2, sleeps until 0.5 ms before its deadline and wants 3 ms. The pair would
 * exceed the bandwidth, so it is renewed: 2 ms now, the rest in the period that begins 10 ms from now. Without the
 * rule it would have 1.5 ms and then a new budget at the old deadline.
 */
static void wake_up_rule(void)
{
	long start, woken;

	be_deadline(2 * MS, 10 * MS, 10 * MS);
	sched_yield();
	start = check_now();
	burn(500 * US);
	sleep_until(start + 9500 * US);
	woken = check_now();
	burn(3 * MS);
	CHECK_RANGE(check_now() - woken, 11 * MS - SLOP, 11 * MS + SLOP);
	/* And one that does not exceed it is kept: 1.5 of 2 ms left, 9 of 10 ms to go. */
	sched_yield();
	start = check_now();
	burn(500 * US);
	sleep_until(start + MS);
	burn(2500 * US); /* 1.5 now, 1 from the next period on */
	CHECK_RANGE(check_now() - start, 11 * MS - SLOP, 11 * MS + SLOP);
}

/* Deadline before the period's end: who wakes up in between waits for the next period. */
static void constrained(void)
{
	long start;

	be_deadline(2 * MS, 4 * MS, 20 * MS);
	sched_yield();
	start = check_now();
	burn(500 * US);
	sleep_until(start + 10 * MS);
	CHECK_RANGE(check_now() - start, 20 * MS - SLOP, 20 * MS + SLOP);
	/* Before the deadline: what is left is cut to the density, 1 ms * 2/4, and the rest comes with the next
	 * period. */
	sched_yield();
	start = check_now();
	sleep_until(start + 3 * MS);
	burn(MS);
	CHECK_RANGE(check_now() - start, 20500 * US - SLOP, 20500 * US + SLOP);
}

/* Leaving the class and coming back brings no new budget. */
static void no_gain(void)
{
	struct sched_param other = {0};
	pid_t hog, child;
	int result[2];
	long start, used;

	be(SCHED_FIFO, 99);
	CHECK_CALL(pipe(result));
	hog = start_hog(SCHED_FIFO, 50);
	start = check_now() + 10 * MS;
	child = check_fork();
	if (child == 0) {
		be_deadline(2 * MS, 10 * MS, 10 * MS);
		sleep_until(start);
		used = cpu_time();
		while (check_now() < start + 195 * MS)
			;
		used = cpu_time() - used;
		CHECK_RANGE(used, 39 * MS, 42 * MS);
		_exit(check_failures);
	}
	for (sleep_until(start); check_now() < start + 190 * MS; check_sleep(300 * US)) {
		CHECK_EQ(sched_setscheduler(child, SCHED_OTHER, &other), 0);
		CHECK_EQ(set_deadline(child, 2 * MS, 10 * MS, 10 * MS, 0), 0);
	}
	CHECK_EQ(check_wait(child), 0);
	stop(hog);
}

static int overruns;

static void count_overrun(int sig)
{
	overruns++;
}

static void overrun_signal(void)
{
	struct sigaction act = {.sa_handler = count_overrun};
	long end;

	CHECK_CALL(sigaction(SIGXCPU, &act, NULL));
	CHECK_EQ(set_deadline(0, 2 * MS, 10 * MS, 0, SCHED_FLAG_DL_OVERRUN), 0);
	sched_yield();
	CHECK_EQ(overruns, 0); /* yielding is none */
	end = check_now() + 101 * MS;
	while (check_now() < end)
		;
	CHECK_RANGE(overruns, 10, 11);
	CHECK_EQ(set_deadline(0, 2 * MS, 10 * MS, 0, 0), 0);
	overruns = 0;
	burn(20 * MS);
	CHECK_EQ(overruns, 0);
}

/* 95 % of a CPU and not a microsecond more. */
static void admission(void)
{
	pid_t child;
	int go[2], done[2];

	CHECK_ERRNO(set_deadline(0, 950001 * US, 1000 * MS, 0, 0), EBUSY);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
	CHECK_EQ(set_deadline(0, 450 * MS, 1000 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
	CHECK_CALL(pipe(go));
	CHECK_CALL(pipe(done));
	child = check_fork();
	if (child == 0) {
		CHECK_ERRNO(set_deadline(0, 500002 * US, 1000 * MS, 0, 0), EBUSY);
		CHECK_EQ(set_deadline(0, 500 * MS, 1000 * MS, 0, 0), 0);
		check_give(done[1], 'd');
		check_take(go[0]);
		_exit(check_failures);
	}
	check_take(done[0]);
	CHECK_ERRNO(set_deadline(0, 450002 * US, 1000 * MS, 0, 0), EBUSY);
	CHECK_EQ(set_deadline(0, 450 * MS, 1000 * MS, 0, 0), 0);
	/* The limit cannot fall below what is promised. */
	write_number(SYSCTL("rt_runtime_us"), 940000, EBUSY);
	write_number(SYSCTL("rt_period_us"), 2000000, EBUSY);
	check_give(go[1], 'g');
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
}

static void sysctls(void)
{
	write_number(SYSCTL("rt_runtime_us"), -2, EINVAL);
	write_number(SYSCTL("rt_runtime_us"), 1000001, EINVAL);
	write_number(SYSCTL("rt_period_us"), 0, EINVAL);
	write_number(SYSCTL("rt_period_us"), 949999, EINVAL);
	write_number(SYSCTL("deadline_period_min_us"), (1 << 22) + 1, EINVAL);
	write_number(SYSCTL("deadline_period_max_us"), 99, EINVAL);
	write_number(SYSCTL("deadline_period_min_us"), -1, EINVAL);
	write_number(SYSCTL("rt_runtime_us"), 0, 0);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0), EPERM);
	write_number(SYSCTL("rt_runtime_us"), 500000, 0);
	CHECK_ERRNO(set_deadline(0, 501 * MS, 1000 * MS, 0, 0), EBUSY);
	CHECK_EQ(set_deadline(0, 500 * MS, 1000 * MS, 0, 0), 0);
	write_number(SYSCTL("rt_runtime_us"), -1, 0); /* no limit */
	CHECK_EQ(set_deadline(0, 1000 * MS, 1000 * MS, 0, 0), 0);
	write_number(SYSCTL("rt_runtime_us"), 950000, EBUSY);
	be(SCHED_OTHER, 0);
	write_number(SYSCTL("rt_runtime_us"), 950000, 0);
	write_number(SYSCTL("deadline_period_min_us"), 10000, 0);
	CHECK_ERRNO(set_deadline(0, MS, 9 * MS, 0, 0), EINVAL);
	CHECK_EQ(set_deadline(0, MS, 10 * MS, 0, 0), 0);
	write_number(SYSCTL("deadline_period_min_us"), 100, 0);
	write_number(SYSCTL("deadline_period_max_us"), 10000, 0);
	CHECK_ERRNO(set_deadline(0, MS, MS, 11 * MS, 0), EINVAL);
	write_number(SYSCTL("deadline_period_max_us"), 1 << 22, 0);
}

/* All of the bandwidth, a thousand times, given back in each way there is. */
static void given_back(void)
{
	pid_t child;
	int ready[2];
	char byte;

	CHECK_CALL(pipe(ready));
	for (int i = 0; i < 1000 && !check_failures; i++) {
		child = check_fork();
		if (child == 0) {
			CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
			if (i % 3 == 0)
				be(i % 2 ? SCHED_FIFO : SCHED_OTHER, i % 2);
			if (write(ready[1], "r", 1) != 1 || i % 3 == 1)
				_exit(check_failures);
			for (;;)
				check_sleep(1000 * MS);
		}
		CHECK_EQ(read(ready[0], &byte, 1), 1);
		if (i % 3 == 0)
			CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
		if (i % 3 != 1)
			CHECK_CALL(kill(child, SIGKILL));
		CHECK_EQ(check_wait(child), i % 3 == 1 ? 0 : SIGKILL);
		be(SCHED_OTHER, 0);
	}
}

static void forks(void)
{
	char *self[] = {"dltest", "exec-keeps", NULL};
	pid_t child;

	be_deadline(5 * MS, 10 * MS, 10 * MS);
	CHECK_ERRNO(fork(), EAGAIN);
	CHECK_EQ(set_deadline(0, 5 * MS, 10 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
	child = check_fork();
	if (child == 0) {
		CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
		be_deadline(5 * MS, 20 * MS, 20 * MS);
		fflush(stdout);
		execve("/bin/dltest", self, environ);
		_exit(9);
	}
	CHECK_EQ(check_wait(child), 0);
	be(SCHED_OTHER, 0);
}

/* What dltest does when it is run by the case above. */
static int exec_keeps(void)
{
	struct sched_attr attr;

	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.sched_policy, SCHED_DEADLINE);
	CHECK_EQ(attr.sched_period, 20 * MS);
	return check_failures;
}

/* A dead task cannot be promised anything, for nobody would give it back. */
static void zombies(void)
{
	pid_t child = check_fork();

	if (child == 0)
		_exit(0);
	check_sleep(50 * MS);
	CHECK_ERRNO(set_deadline(child, MS, 10 * MS, 0, 0), ESRCH);
	CHECK_EQ(check_wait(child), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"bad-parameters", bad_parameters},
		{"bad-structures", bad_structures},
		{"tells", what_it_tells},
		{"priority", its_priority},
		{"not-root", not_root},
		{"budget", budget},
		{"throttling", throttling},
		{"yield", yielding},
		{"order", order},
		{"preempts", preempts},
		{"wake-up", wake_up_rule},
		{"constrained", constrained},
		{"no-gain", no_gain},
		{"overrun", overrun_signal},
		{"admission", admission},
		{"sysctls", sysctls},
		{"given-back", given_back},
		{"forks", forks},
		{"zombies", zombies},
	};

	if (argc == 2 && !strcmp(argv[1], "exec-keeps"))
		return exec_keeps();
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
