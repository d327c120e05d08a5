/* usagetest: what processes and their children have used, interval timers, and sleeps' ends. */
/* also on Linux */
#include <posix.h>
#include <thread.h>

static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

static long clock_ns(int clock)
{
	struct timespec now = {0};

	CHECK_CALL(clock_gettime(clock, &now));
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* So much CPU time of this process, in user mode but for reading the clock. */
static void burn(long ns)
{
	long end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* In microseconds, user and system together. */
static long total(const struct rusage *ru)
{
	return (ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * 1000000 + ru->ru_utime.tv_usec + ru->ru_stime.tv_usec;
}

static long used(int who)
{
	struct rusage ru;

	CHECK_CALL(getrusage(who, &ru));
	return total(&ru);
}

/* --- children --- */

static void burns(void)
{
	burn(30 * MS);
}

static long forked_at;

/* Two that burn: one is waited for, and one is not. We begin without our parent's times: with less than has
 * gone by. */
static void has_children(void)
{
	struct rusage ru;
	int status;
	pid_t a, b;

	CHECK_EQ(used(RUSAGE_CHILDREN), 0);
	CHECK_RANGE(used(RUSAGE_SELF) * 1000, 0, check_now() - forked_at + MS);
	a = check_fork();
	if (a == 0) {
		burn(30 * MS);
		_exit(0);
	}
	b = check_fork();
	if (b == 0) {
		burn(60 * MS);
		_exit(0);
	}
	process_gets(a, 'Z');
	process_gets(b, 'Z');
	CHECK_EQ(used(RUSAGE_CHILDREN), 0); /* not before it is waited for */
	CHECK_EQ(wait4(a, &status, 0, &ru), a);
	CHECK(total(&ru) >= 29900);
	CHECK_RANGE(used(RUSAGE_CHILDREN) - total(&ru), -4, 4); /* and nothing of b's */
}

/* A child's end adds what it used and what those used that it waited for; the same is what wait4 says. */
static void children(void)
{
	struct rusage ru, before, after;
	struct tms tms, then;
	siginfo_t info;
	int status;
	pid_t pid;

	burn(50 * MS);
	forked_at = check_now();
	CHECK_EQ(check_in_child(has_children), 0);
	CHECK_CALL(getrusage(RUSAGE_CHILDREN, &before));
	CHECK(total(&before) >= 29900);
	CHECK(times(&then) != (clock_t)-1);
	pid = check_fork();
	if (pid == 0) {
		CHECK_EQ(check_in_child(burns), 0);
		burn(20 * MS);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	CHECK_EQ(used(RUSAGE_CHILDREN), total(&before));
	CHECK_EQ(wait4(pid, &status, 0, &ru), pid);
	CHECK_EQ(status, 0);
	CHECK_CALL(getrusage(RUSAGE_CHILDREN, &after));
	CHECK(total(&ru) >= 49800);
	CHECK_RANGE(total(&after) - total(&before) - total(&ru), -4, 4);
	CHECK(times(&tms) != (clock_t)-1);
	CHECK_RANGE((long)(tms.tms_cutime + tms.tms_cstime) - total(&after) / 10000, -2, 1);
	CHECK((long)(tms.tms_cutime + tms.tms_cstime) > (long)(then.tms_cutime + then.tms_cstime));
}

#define FAULT_PAGES 128

/* Touch memory that is not there yet: one page fault for each page. */
static void touch_pages(void)
{
	char *at = mmap(NULL, FAULT_PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	for (unsigned i = 0; i < FAULT_PAGES; i++)
		at[i * 4096] = 1;
}

static void touch_pages_in_thread(void *unused)
{
	touch_pages();
}

static long faults_of(int who)
{
	struct rusage ru;

	CHECK_CALL(getrusage(who, &ru));
	return ru.ru_minflt;
}

/* Column 10 (minflt) and 11 (cminflt) of our own stat. */
static void faults_in_stat(long *own, long *children)
{
	char text[512] = "", *at;
	int fd = open("/proc/self/stat", O_RDONLY);

	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	at = strrchr(text, ')');
	CHECK(at);
	at += 4; /* behind ") S " */
	for (int column = 4; column < 10; column++)
		strtol(at, &at, 10);
	*own = strtol(at, &at, 10);
	*children = strtol(at, &at, 10);
}

/*
 * Page faults are counted for the task that has them, and stay its own when it shares its memory, execs or ends. Those
 * of a child, its threads and its own children are added to ours once, when we wait for it.
 */
static void faults(void)
{
	long before = faults_of(RUSAGE_SELF), children = faults_of(RUSAGE_CHILDREN), own, in_stat;
	struct rusage ru;
	int status;
	pid_t pid, tid;

	touch_pages();
	CHECK_RANGE(faults_of(RUSAGE_SELF) - before, FAULT_PAGES, 2 * FAULT_PAGES - 1);
	pid = check_fork();
	if (pid == 0) {
		CHECK_RANGE(faults_of(RUSAGE_SELF), 0, FAULT_PAGES - 1); /* a child begins without its parent's */
		CHECK_EQ(check_in_child(touch_pages), 0);
		tid = thread_start_in_group(touch_pages_in_thread, NULL);
		while (thread_state(getpid(), tid))
			check_sleep(MS);
		CHECK_RANGE(faults_of(RUSAGE_SELF), FAULT_PAGES, 2 * FAULT_PAGES - 1);
		CHECK(faults_of(RUSAGE_THREAD) < FAULT_PAGES);
		touch_pages();
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(wait4(pid, &status, 0, &ru), pid);
	CHECK_EQ(status, 0);
	CHECK_RANGE(ru.ru_minflt, 3 * FAULT_PAGES, 4 * FAULT_PAGES - 1);
	CHECK_EQ(faults_of(RUSAGE_CHILDREN) - children, ru.ru_minflt);
	faults_in_stat(&own, &in_stat);
	CHECK_EQ(in_stat, faults_of(RUSAGE_CHILDREN));
	CHECK_RANGE(faults_of(RUSAGE_SELF) - own, 0, 8);
}

/* One that goes without being waited for is not counted. */
static void ignored(void)
{
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	pid = check_fork();
	if (pid == 0) {
		burn(20 * MS);
		_exit(0);
	}
	CHECK_ERRNO(wait(NULL), ECHILD);
	CHECK_EQ(used(RUSAGE_CHILDREN), 0);
}

/* A stopped child's usage is told, and not counted yet. */
static void of_a_stop(void)
{
	struct rusage ru;
	int status;
	pid_t pid = check_fork();

	if (pid == 0) {
		burn(20 * MS);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(wait4(pid, &status, WUNTRACED, &ru), pid);
	CHECK(WIFSTOPPED(status));
	CHECK(total(&ru) >= 19900);
	CHECK_EQ(used(RUSAGE_CHILDREN), 0);
	kill(pid, SIGKILL);
	CHECK_EQ(check_wait(pid), SIGKILL);
	CHECK(used(RUSAGE_CHILDREN) >= 19900);
}

/* --- one's own --- */

/* User and system time go where they belong, and sleeping is neither. */
static void own(void)
{
	struct rusage start, now;
	long cpu = 0, thread = 0;

	/* A computer that holds a CPU of the guest up does so on the account of the task there: then once more. */
	for (int tries = 0; tries < 30 && (!tries || cpu > 90 * MS || thread > 90 * MS); tries++) {
		cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		thread = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		check_sleep(100 * MS);
		cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		thread = clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
	}
	CHECK_RANGE(cpu, 0, 90 * MS);
	CHECK_RANGE(thread, 0, 90 * MS);
	CHECK_CALL(getrusage(RUSAGE_SELF, &start));
	burn(100 * MS);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	CHECK_CALL(getrusage(RUSAGE_SELF, &now));
	CHECK(total(&now) - total(&start) >= 99900);
	CHECK_RANGE(total(&now), cpu / 1000 - 4, clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000 + 4);
	CHECK(now.ru_utime.tv_sec * 1000000 + now.ru_utime.tv_usec -
		      (start.ru_utime.tv_sec * 1000000 + start.ru_utime.tv_usec) >
	      40000);
	CHECK_ERRNO(getrusage(2, &now), EINVAL);
	CHECK_ERRNO(getrusage(-2, &now), EINVAL);
	CHECK_ERRNO(getrusage(-3, &now), EINVAL);
}

/* 100 ms of which nearly all is spent in the kernel. */
static void reads_zeros(void)
{
	static char zeros[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);
	long end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 100 * MS;
	struct rusage ru;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		CHECK(read(fd, zeros, sizeof(zeros)) > 0);
	CHECK_CALL(getrusage(RUSAGE_SELF, &ru));
	CHECK_RANGE(total(&ru), 99990, 900000);
	CHECK(ru.ru_stime.tv_usec > ru.ru_utime.tv_usec);
	close(fd);
}

/* A child begins with no time in either mode: what its parent has used in user mode does not weigh in its own. */
static void begins_with_none(void)
{
	burn(400 * MS);
	CHECK_EQ(check_in_child(reads_zeros), 0);
}

static volatile int thread_done;
static volatile long thread_ns;

static void thread_burns(void *arg)
{
	struct timespec now = {0};

	do {
		for (volatile int i = 0; i < 100000; i++)
			; /* long enough for ticks to see it in user mode */
		vt_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
		thread_ns = now.tv_sec * 1000000000 + now.tv_nsec;
	} while (thread_ns < 33 * MS);
	thread_done = 1;
}

/* A thread's time stays its process's when it has ended, to the nanosecond: the clock does not step back. */
static void of_threads(void)
{
	long before = clock_ns(CLOCK_PROCESS_CPUTIME_ID), mine = clock_ns(CLOCK_THREAD_CPUTIME_ID), now, sum;
	pid_t tid = thread_start_in_group(thread_burns, NULL);

	while (thread_state(getpid(), tid)) {
		now = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		if (!CHECK(now >= before))
			printf("  %ld ns back\n", before - now);
		before = now;
		check_sleep(MS);
	}
	CHECK_EQ(thread_done, 1);
	sum = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - (clock_ns(CLOCK_THREAD_CPUTIME_ID) - mine);
	CHECK(sum >= thread_ns);
	CHECK(used(RUSAGE_SELF) * 1000 >= thread_ns);
	sum = used(RUSAGE_THREAD) * 1000;
	CHECK_RANGE(sum, 0, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

/* What a new program finds used: all that the process has used before. */
static void kept_by_exec(void)
{
	char path[256] = "", text[32];
	char *const argv[] = {path, "executed", text, NULL}, *const env[] = {NULL};
	pid_t pid;

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	pid = check_fork();
	if (pid == 0) {
		CHECK_EQ(check_in_child(burns), 0);
		burn(20 * MS);
		snprintf(text, sizeof(text), "%ld", clock_ns(CLOCK_PROCESS_CPUTIME_ID));
		alarm(100); /* stays, too */
		execve(path, argv, env);
		_exit(9);
	}
	CHECK_EQ(check_wait(pid), 0);
}

static int executed(long ns)
{
	CHECK(clock_ns(CLOCK_PROCESS_CPUTIME_ID) >= ns);
	CHECK(used(RUSAGE_SELF) >= 19900);
	CHECK(used(RUSAGE_CHILDREN) >= 29900);
	CHECK_RANGE(alarm(0), 90, 100);
	fflush(stdout);
	return check_failures ? 1 : 0;
}

/* --- ITIMER_REAL --- */

static struct timeval time_of(long us)
{
	return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

static void arm(long us, long every)
{
	struct itimerval new = {time_of(every), time_of(us)};

	CHECK_CALL(setitimer(ITIMER_REAL, &new, NULL));
}

static long left_us(void)
{
	struct itimerval now;

	CHECK_CALL(getitimer(ITIMER_REAL, &now));
	return now.it_value.tv_sec * 1000000 + now.it_value.tv_usec;
}

/*
 * The grid of a timer with an interval: its ends are whole intervals apart, however late a signal is taken.
 * What is left tells the next end. How exactly depends on the moments when the clock is read before and
 * after, which are known.
 */
static void grid(void)
{
	const long every = 20 * MS;
	long set, error, before, after, left = 0;

	handle_with(SIGALRM, on_signal, SA_RESTART, NULL);
	before = check_now();
	arm(7000, every / 1000);
	after = check_now();
	set = before + 7 * MS; /* the first end, or up to `error` later */
	error = after - before;
	for (int i = 0; i < 12; i++) {
		int had = seen[SIGALRM];
		long off;

		if (i % 3 == 2) { /* late by more than two intervals */
			BLOCK(SIGALRM);
			check_sleep(2 * every + 5 * MS);
			CHECK_EQ(seen[SIGALRM], had);
			UNBLOCK(SIGALRM);
			CHECK(seen[SIGALRM] > had);
		} else {
			for (int ms = 0; ms < 1000 && seen[SIGALRM] == had; ms++)
				check_sleep(MS);
			if (!CHECK(seen[SIGALRM] > had))
				break;
		}
		/* At most a microsecond says that the end has come and its interrupt or its signal has not.
		 */
		for (long end = check_now() + 3000 * MS; check_now() < end;) {
			before = check_now();
			left = left_us() * 1000;
			after = check_now();
			if (left > 1000)
				break;
		}
		CHECK_RANGE(left, 1001, every);
		/* The next end is at before + left, or up to after - before later. */
		off = (before + left - set) % every;
		if (off > every / 2)
			off -= every;
		if (!CHECK_RANGE(off, before - after - 2000, error + 2000))
			printf("  after signal %d\n", i);
	}
	arm(0, 0);
}

/* The first one, sooner or later. */
static void alarm_comes(void)
{
	for (int ms = 0; ms < 5000 && !seen[SIGALRM]; ms++)
		check_sleep(MS);
	CHECK_EQ(seen[SIGALRM], 1);
}

/* One shot has one signal, then none is left; 0 stops a timer, whatever its interval says. */
static void one_shot(void)
{
	struct itimerval old, new = {time_of(3000), time_of(0)};

	handle_with(SIGALRM, on_signal, 0, NULL);
	arm(20000000, 0);
	CHECK_RANGE(left_us(), 1, 20000000);
	arm(5000, 0);
	alarm_comes();
	CHECK_EQ(left_us(), 0);
	check_sleep(10 * MS);
	CHECK_EQ(seen[SIGALRM], 1);
	arm(60000000, 9000000);
	CHECK_CALL(setitimer(ITIMER_REAL, &new, &old));
	CHECK_RANGE(old.it_value.tv_sec, 50, 60);
	CHECK_EQ(old.it_interval.tv_sec, 9);
	CHECK_EQ(left_us(), 0);
	CHECK_CALL(getitimer(ITIMER_REAL, &old));
	CHECK_EQ(old.it_interval.tv_sec + old.it_interval.tv_usec, 0);
	check_sleep(10 * MS);
	CHECK_EQ(seen[SIGALRM], 1);
}

static void bad_timers(void)
{
	static const struct itimerval rows[] = {{{0, 1000000}, {1, 0}}, {{0, 0}, {0, 1000000}}, {{-1, 0}, {1, 0}},
						{{0, 0}, {-1, 0}},	{{0, -1}, {1, 0}},	{{0, 0}, {1, -1}}};
	struct itimerval old;

	arm(50000000, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_ERRNO(setitimer(ITIMER_REAL, &rows[i], NULL), EINVAL);
	CHECK_ERRNO(setitimer(77, &rows[0], NULL), EINVAL);
	CHECK_ERRNO(getitimer(77, &old), EINVAL);
	CHECK_ERRNO(setitimer(ITIMER_REAL, (void *)8, NULL), EFAULT);
	CHECK_RANGE(left_us(), 40000000, 50000000);
}

/* alarm() takes the place of the timer and tells the seconds that were left, half ones up, but never 0. */
static void alarms(void)
{
	struct itimerval now;

	CHECK_EQ(alarm(0), 0);
	CHECK_EQ(alarm(100), 0);
	CHECK_RANGE(left_us(), 90000000, 100000000);
	CHECK_RANGE(alarm(50), 90, 100);
	arm(400000, 100000);
	CHECK_EQ(alarm(0), 1);
	CHECK_EQ(left_us(), 0);
	arm(30800000, 0);
	CHECK_EQ(alarm(0), 31);
	arm(30400000, 0);
	CHECK_EQ(alarm(10), 30);
	CHECK_CALL(getitimer(ITIMER_REAL, &now));
	CHECK_EQ(now.it_interval.tv_sec + now.it_interval.tv_usec, 0);
}

static void has_none(void)
{
	CHECK_EQ(left_us(), 0);
	check_sleep(30 * MS);
	CHECK_EQ(seen[SIGALRM], 0);
}

/* A child has no timer; its parent's goes on. */
static void not_inherited(void)
{
	handle_with(SIGALRM, on_signal, SA_RESTART, NULL);
	arm(20000, 0);
	CHECK_EQ(check_in_child(has_none), 0);
	alarm_comes();
}

/* Nobody is killed by the alarm of a process that is gone. */
static void gone_with_it(void)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		arm(10000, 10000);
		_exit(0);
	}
	CHECK_EQ(check_wait(pid), 0);
	check_sleep(30 * MS);
}

/* --- clocks and sleeps --- */

/* No sleep ends early, relative or absolute, and none is seconds late. */
static void not_early(void)
{
	static const long spans[] = {1, 1000, 50000, 1000000, 3333333, 12345678};

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++)
		for (int clock = CLOCK_REALTIME; clock <= CLOCK_MONOTONIC; clock++) {
			struct timespec span = {.tv_nsec = spans[i]}, end;
			long start = clock_ns(clock);

			CHECK_EQ(clock_nanosleep(clock, 0, &span, NULL), 0);
			CHECK_RANGE(clock_ns(clock) - start, spans[i], 5000 * MS);
			start = clock_ns(clock) + spans[i];
			end = (struct timespec){start / 1000000000, start % 1000000000};
			CHECK_EQ(clock_nanosleep(clock, TIMER_ABSTIME, &end, NULL), 0);
			CHECK_RANGE(clock_ns(clock) - start, 0, 5000 * MS);
		}
}

/* What is left is told by relative sleeps only. */
static void what_is_left(void)
{
	struct timespec left = {77, 77}, end;

	handle_with(SIGALRM, on_signal, 0, NULL);
	CHECK_CALL(clock_gettime(CLOCK_MONOTONIC, &end));
	end.tv_sec += 20;
	arm(10000, 0);
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, &left), EINTR);
	CHECK_EQ(left.tv_sec, 77);
	CHECK_EQ(left.tv_nsec, 77);
	end = (struct timespec){.tv_sec = 20};
	arm(10000, 0);
	CHECK_EQ(clock_nanosleep(CLOCK_REALTIME, 0, &end, &left), EINTR);
	CHECK_RANGE(left.tv_sec, 15, 19);
	end.tv_sec = -1;
	CHECK_ERRNO(nanosleep(&end, NULL), EINVAL);
	end = (struct timespec){.tv_nsec = 1000000000};
	CHECK_ERRNO(nanosleep(&end, NULL), EINVAL);
	end.tv_nsec = -1;
	CHECK_ERRNO(nanosleep(&end, NULL), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"children", children},
		{"faults", faults},
		{"ignored", ignored},
		{"of-a-stop", of_a_stop},
		{"own", own},
		{"begins-with-none", begins_with_none},
		{"of-threads", of_threads},
		{"kept-by-exec", kept_by_exec},
		{"grid", grid},
		{"one-shot", one_shot},
		{"bad-timers", bad_timers},
		{"alarms", alarms},
		{"not-inherited", not_inherited},
		{"gone-with-it", gone_with_it},
		{"not-early", not_early},
		{"what-is-left", what_is_left},
	};

	if (argc == 3 && !strcmp(argv[1], "executed"))
		return executed(strtol(argv[2], NULL, 10));
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
