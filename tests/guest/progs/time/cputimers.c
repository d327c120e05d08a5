/* cputimers: interval timers in CPU time, ITIMER_VIRTUAL and ITIMER_PROF. */
/* also on Linux */
#include <posix.h>
#include <thread.h>

static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

static long cpu_ns(void)
{
	struct timespec now = {0};

	CHECK_CALL(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now));
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* So much CPU time of this process, in user mode but for reading the clock. */
static void burn(long ns)
{
	long end = cpu_ns() + ns;

	while (cpu_ns() < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* How much later than asked a timer in CPU time may end, us: no kernel's ticks are further apart. */
#define TICK_US 10000

static struct timeval time_of(long us)
{
	return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

static void arm_timer(int which, long us, long every)
{
	struct itimerval new = {time_of(every), time_of(us)};

	CHECK_CALL(setitimer(which, &new, NULL));
}

static long left_of(int which)
{
	struct itimerval now;

	CHECK_CALL(getitimer(which, &now));
	return now.it_value.tv_sec * 1000000 + now.it_value.tv_usec;
}

/*
 * Time goes by for these timers when a tick finds the process running, so it may differ from what the clocks
 * say: half of what the timer was set to is the least that must be used before its signals.
 */
static void ends_after(int which, int sig)
{
	long start = 0, deadline;

	handle_with(sig, on_signal, SA_RESTART, NULL);
	/* A computer that holds a CPU of the guest up does so on the account of the task there: then once more. */
	for (int tries = 0; tries < 20; tries++) {
		arm_timer(which, 0, 0);
		seen[sig] = 0;
		start = cpu_ns();
		arm_timer(which, 60000, 40000);
		check_sleep(150 * MS);
		if (cpu_ns() - start < 40 * MS)
			break;
	}
	CHECK_EQ(seen[sig], 0); /* who sleeps uses no CPU time */
	CHECK_RANGE(left_of(which), 20000, 60000 + TICK_US);
	deadline = check_now() + 8000 * MS;
	for (int n = 1; n <= 4; n++) {
		while (seen[sig] < n && check_now() < deadline)
			;
		CHECK_EQ(seen[sig], n);
		CHECK_RANGE(cpu_ns() - start, (60 + 40 * (n - 1)) / 2 * MS, 8000 * MS);
		CHECK_RANGE(left_of(which), 1, 40000 + TICK_US);
	}
	arm_timer(which, 0, 0);
	CHECK_EQ(left_of(which), 0);
	burn(60 * MS);
	CHECK_EQ(seen[sig], 4);
}

static void virtual_timer(void)
{
	ends_after(ITIMER_VIRTUAL, SIGVTALRM);
	CHECK_EQ(seen[SIGPROF] + seen[SIGALRM], 0);
}

static void prof_timer(void)
{
	ends_after(ITIMER_PROF, SIGPROF);
	CHECK_EQ(seen[SIGVTALRM] + seen[SIGALRM], 0);
}

/* A process that is in the kernel nearly all the time. One shot. */
static void system_time(void)
{
	static char buffer[1 << 20];
	long deadline = check_now() + 8000 * MS;
	int fd = CHECK_CALL(open("/dev/zero", O_RDONLY));

	handle_with(SIGVTALRM, on_signal, SA_RESTART, NULL);
	handle_with(SIGPROF, on_signal, SA_RESTART, NULL);
	arm_timer(ITIMER_VIRTUAL, 100000, 0);
	arm_timer(ITIMER_PROF, 100000, 0);
	while (!seen[SIGPROF] && check_now() < deadline)
		CHECK_EQ(read(fd, buffer, sizeof(buffer)), sizeof(buffer));
	CHECK_EQ(seen[SIGPROF], 1);
	CHECK_EQ(seen[SIGVTALRM], 0);
	CHECK_EQ(left_of(ITIMER_PROF), 0);
	CHECK_RANGE(left_of(ITIMER_VIRTUAL), 30000, 100000 + TICK_US);
	while (!seen[SIGVTALRM] && check_now() < deadline)
		;
	CHECK_EQ(seen[SIGVTALRM], 1);
	CHECK_EQ(seen[SIGPROF], 1);
	CHECK_EQ(left_of(ITIMER_VIRTUAL), 0);
}

static volatile int thread_stop;

static void thread_burns(void *arg)
{
	while (!thread_stop)
		;
}

/* The time is that of all threads: ours sleeps. */
static void timer_of_threads(void)
{
	handle_with(SIGVTALRM, on_signal, SA_RESTART, NULL);
	arm_timer(ITIMER_VIRTUAL, 40000, 0);
	thread_start_in_group(thread_burns, NULL);
	for (int ms = 0; ms < 8000 && !seen[SIGVTALRM]; ms++)
		check_sleep(MS);
	thread_stop = 1;
	CHECK_EQ(seen[SIGVTALRM], 1);
}

/* The three timers know nothing of each other, and an interval is kept though the timer is stopped. */
static void three_timers(void)
{
	struct itimerval old, new = {time_of(5000000), time_of(0)};

	arm_timer(ITIMER_REAL, 51000000, 1000000);
	arm_timer(ITIMER_VIRTUAL, 52000000, 2000000);
	arm_timer(ITIMER_PROF, 53000000, 3000000);
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		CHECK_CALL(setitimer(which, &new, &old));
		CHECK_EQ(old.it_interval.tv_sec, which + 1);
		CHECK_RANGE(old.it_value.tv_sec, 40, 51 + which);
		CHECK_CALL(getitimer(which, &old));
		CHECK_EQ(old.it_value.tv_sec + old.it_value.tv_usec, 0);
		CHECK_EQ(old.it_interval.tv_sec, which == ITIMER_REAL ? 0 : 5);
	}
	CHECK_ERRNO(setitimer(ITIMER_PROF + 1, &new, NULL), EINVAL);
	CHECK_ERRNO(setitimer(ITIMER_PROF, (void *)8, NULL), EFAULT);
	CHECK_ERRNO(setitimer(ITIMER_PROF, &new, (void *)8), EFAULT);
	CHECK_ERRNO(getitimer(ITIMER_VIRTUAL, (void *)8), EFAULT);
}

static void has_none(void)
{
	CHECK_EQ(left_of(ITIMER_VIRTUAL), 0);
	CHECK_EQ(left_of(ITIMER_PROF), 0);
	burn(60 * MS); /* SIGVTALRM would end us */
}

static void not_inherited(void)
{
	arm_timer(ITIMER_VIRTUAL, 20000, 0);
	arm_timer(ITIMER_PROF, 50000000, 1000000);
	CHECK_EQ(check_in_child(has_none), 0);
	arm_timer(ITIMER_VIRTUAL, 0, 0);
	CHECK_RANGE(left_of(ITIMER_PROF), 40000000, 50000000 + TICK_US);
}

/* A new program finds them as they are. */
static void kept_by_exec(void)
{
	char path[256] = "";
	char *const argv[] = {path, "executed", NULL}, *const env[] = {NULL};
	pid_t pid;

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	pid = check_fork();
	if (pid == 0) {
		arm_timer(ITIMER_VIRTUAL, 90000000, 0);
		arm_timer(ITIMER_PROF, 80000000, 0);
		execve(path, argv, env);
		_exit(9);
	}
	CHECK_EQ(check_wait(pid), 0);
}

static int executed(void)
{
	CHECK_RANGE(left_of(ITIMER_VIRTUAL), 80000000, 90000000 + TICK_US);
	CHECK_RANGE(left_of(ITIMER_PROF), 70000000, 80000000 + TICK_US);
	fflush(stdout);
	return check_failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"virtual-timer", virtual_timer}, {"prof-timer", prof_timer},
		{"system-time", system_time},	  {"timer-of-threads", timer_of_threads},
		{"three-timers", three_timers},	  {"not-inherited", not_inherited},
		{"kept-by-exec", kept_by_exec},
	};

	if (argc == 2 && !strcmp(argv[1], "executed"))
		return executed();
	check_seconds = 10;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
