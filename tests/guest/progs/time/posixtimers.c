/* posixtimers: timer_create and its relatives, clocks of CPU time, CLOCK_TAI. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <thread.h>

#define TAI	     11
#define BOOTTIME     7
#define MONO_COARSE  6
#define MONO_RAW     4
#define ABSOLUTE     1
#define NOTIFY_NONE  1
#define NOTIFY_TID   4
#define OVER_TIMER   (-2) /* SI_TIMER */
#define LIMIT_QUEUED 11	  /* RLIMIT_SIGPENDING */
#define SIGFD_BYTES  128

/* As the kernels have them. */
struct event {
	long value;
	int signo, notify, tid, pad[11];
};
struct spec {
	struct timespec interval, value;
};
struct timer_info {
	int signo, error, code, pad, timer, overrun;
	long value, rest[12];
};

static int clock_timer(int clock, int signo, int notify, int tid, long value)
{
	struct event event = {.value = value, .signo = signo, .notify = notify, .tid = tid};
	int id = -1;

	CHECK_CALL(CALL(timer_create, clock, &event, &id));
	return id;
}

static struct timespec time_of(long ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static long ns_of(struct timespec t)
{
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void arm(int id, int flags, long first, long every)
{
	struct spec new = {time_of(every), time_of(first)};

	CHECK_CALL(CALL(timer_settime, id, flags, &new, 0));
}

static long left_of(int id)
{
	struct spec now;

	CHECK_CALL(CALL(timer_gettime, id, &now));
	return ns_of(now.value);
}

static long clock_ns(int clock)
{
	struct timespec now = {0};

	CHECK_CALL(CALL(clock_gettime, clock, &now));
	return ns_of(now);
}

/* The signal of a timer, within 3 seconds: its siginfo is checked. */
static struct timer_info take(int sig, int id, long value)
{
	struct timer_info info;
	sigset_t set = SET_OF(sig);

	memset(&info, 0, sizeof(info));
	CHECK_EQ(taken(&set, (siginfo_t *)&info), sig);
	CHECK_EQ(info.signo, sig);
	CHECK_EQ(info.code, OVER_TIMER);
	CHECK_EQ(info.timer, id);
	CHECK_EQ(info.value, value);
	CHECK_EQ(CALL(timer_getoverrun, id), info.overrun);
	return info;
}

static void one_shot(void)
{
	static const int clocks[] = {0, 1, BOOTTIME, TAI};

	BLOCK(SIGUSR1);
	for (unsigned i = 0; i < ARRAY_SIZE(clocks); i++) {
		int id = clock_timer(clocks[i], SIGUSR1, 0, 0, 0x123456789abL);
		long start;

		CHECK_EQ(left_of(id), 0);
		arm(id, 0, 20000 * MS, 0);
		CHECK_RANGE(left_of(id), 1, 20000 * MS);
		CHECK(!pending(SIGUSR1));
		start = clock_ns(1);
		arm(id, 0, 30 * MS, 0);
		CHECK_EQ(take(SIGUSR1, id, 0x123456789abL).overrun, 0);
		CHECK(clock_ns(1) - start >= 30 * MS);
		CHECK_EQ(left_of(id), 0);
		/* At a moment of the clock; one that is over expires at once. */
		start = clock_ns(clocks[i]);
		arm(id, ABSOLUTE, start + 20 * MS, 0);
		take(SIGUSR1, id, 0x123456789abL);
		CHECK(clock_ns(clocks[i]) >= start + 20 * MS);
		arm(id, ABSOLUTE, 1, 0);
		take(SIGUSR1, id, 0x123456789abL);
		/* Switched off. Should we be held up before for so long that it expires, that signal is forgotten. */
		arm(id, 0, 20 * MS, 10 * MS);
		arm(id, 0, 0, 0);
		signal(SIGUSR1, SIG_IGN);
		signal(SIGUSR1, SIG_DFL);
		check_sleep(40 * MS);
		CHECK(!pending(SIGUSR1));
		CHECK_CALL(CALL(timer_delete, id));
		CHECK_ERRNO(CALL(timer_delete, id), EINVAL);
	}
}

/* The overrun is the number of intervals that the taker was late by, no more and no less. */
static void overruns(void)
{
	int id;
	long start, before, after;
	struct timer_info info;

	BLOCK(SIGRTMIN);
	id = clock_timer(1, SIGRTMIN, 0, 0, 7);
	for (int round = 0; round < 3; round++) {
		start = clock_ns(1) + 10 * MS;
		arm(id, ABSOLUTE, start, 3 * MS);
		while (clock_ns(1) < start + 100 * MS)
			check_sleep(10 * MS);
		before = (clock_ns(1) - start) / (3 * MS);
		info = take(SIGRTMIN, id, 7);
		after = (clock_ns(1) - start) / (3 * MS);
		CHECK_RANGE(info.overrun, before, after);
		CHECK_RANGE(left_of(id), 1, 3 * MS);
		start += (info.overrun + 1) * 3 * MS; /* the next one */
		info = take(SIGRTMIN, id, 7);
		CHECK(clock_ns(1) >= start);
		CHECK_RANGE(info.overrun, 0, (clock_ns(1) - start) / (3 * MS));
	}
	/* Intervals of a nanosecond: what goes by between two takes is counted. */
	arm(id, 0, 1, 1);
	for (int i = 0; i < 50; i++)
		CHECK_RANGE(take(SIGRTMIN, id, 7).overrun, 0, 2147483647);
	check_sleep(20 * MS);
	CHECK_RANGE(take(SIGRTMIN, id, 7).overrun, 20 * MS - 1, 2147483647);
	arm(id, 0, 0, 0);
}

static volatile int handled, handled_by;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	handled_by = (int)check_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	handled++;
}

static void wait_for_handled(int n)
{
	for (int ms = 0; ms < 5000 && handled < n; ms++)
		check_sleep(MS);
	CHECK(handled >= n);
}

/* Nobody takes an ignored signal: the timer goes on by itself, and its signals come again when they are wanted. */
static void ignored(void)
{
	int id, short_one;

	signal(SIGUSR1, SIG_IGN);
	id = clock_timer(1, SIGUSR1, 0, 0, 0);
	short_one = clock_timer(1, SIGUSR1, 0, 0, 0);
	arm(id, 0, 5 * MS, 5 * MS);
	arm(short_one, 0, 1, 1);
	check_sleep(50 * MS);
	CHECK_RANGE(left_of(id), 1, 5 * MS);
	CHECK_CALL(CALL(timer_delete, short_one));
	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	wait_for_handled(3);
	/* One that is pending when it becomes ignored. */
	BLOCK(SIGUSR1);
	for (int ms = 0; ms < 5000 && !pending(SIGUSR1); ms++)
		check_sleep(MS);
	CHECK(pending(SIGUSR1));
	signal(SIGUSR1, SIG_IGN);
	CHECK(!pending(SIGUSR1));
	UNBLOCK(SIGUSR1);
	handled = 0;
	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	wait_for_handled(2);
	CHECK_CALL(CALL(timer_delete, id));
}

/* A signal that is thrown away, because it is ignored for a time, counts for the overrun of the next. */
static void thrown_away(void)
{
	int id;
	long start, before, after;
	struct timer_info info;

	BLOCK(SIGUSR2);
	handle_with(SIGUSR2, on_signal, SA_RESTART, NULL);
	id = clock_timer(1, SIGUSR2, 0, 0, 5);
	start = clock_ns(1) + 10 * MS;
	arm(id, ABSOLUTE, start, 3 * MS);
	check_sleep(40 * MS);
	signal(SIGUSR2, SIG_IGN);
	check_sleep(40 * MS);
	handle_with(SIGUSR2, on_signal, SA_RESTART, NULL);
	check_sleep(40 * MS);
	before = (clock_ns(1) - start) / (3 * MS);
	info = take(SIGUSR2, id, 5);
	after = (clock_ns(1) - start) / (3 * MS);
	CHECK_RANGE(info.overrun, before, after);
}

/* Two timers with one standard signal, and one whose signal was sent by kill() as well: each is taken. */
static void share_a_signal(void)
{
	int a, b;
	siginfo_t info;
	sigset_t set = SET_OF(SIGUSR2);
	long values = 0;

	BLOCK(SIGUSR2);
	a = clock_timer(1, SIGUSR2, 0, 0, 1);
	b = clock_timer(1, SIGUSR2, 0, 0, 2);
	CHECK(a != b);
	CHECK_CALL(kill(getpid(), SIGUSR2));
	arm(a, 0, 1, 0);
	arm(b, 0, 1, 0);
	check_sleep(30 * MS);
	CHECK_EQ(taken(&set, &info), SIGUSR2);
	CHECK_EQ(info.si_code, SI_USER);
	for (int i = 0; i < 2; i++) {
		struct timer_info timer;

		CHECK_EQ(taken(&set, (siginfo_t *)&timer), SIGUSR2);
		values += timer.value;
	}
	CHECK_EQ(values, 3);
	CHECK(!pending(SIGUSR2));
}

static volatile int thread_id, thread_stop;

static void thread_waits(void *arg)
{
	thread_id = (int)check_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	while (!thread_stop)
		check_sleep(MS);
}

static void to_a_thread(void)
{
	struct event event = {.signo = SIGUSR1, .notify = NOTIFY_TID};
	int id;

	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	thread_start_in_group(thread_waits, NULL);
	while (!thread_id)
		check_sleep(MS);
	id = clock_timer(1, SIGUSR1, NOTIFY_TID, thread_id, 0);
	for (int i = 1; i <= 5; i++) {
		arm(id, 0, 2 * MS, 0);
		wait_for_handled(i);
		CHECK_EQ(handled_by, thread_id);
	}
	thread_stop = 1;
	while (thread_state(getpid(), thread_id))
		check_sleep(MS);
	arm(id, 0, MS, MS); /* it has ended: nobody gets it */
	check_sleep(20 * MS);
	CHECK_EQ(handled, 5);
	event.tid = getppid();
	CHECK_ERRNO(CALL(timer_create, 1, &event, &id), EINVAL);
}

static void silent(void)
{
	int id = clock_timer(1, 0, NOTIFY_NONE, 0, 0);

	arm(id, 0, 20000 * MS, 0);
	CHECK_RANGE(left_of(id), 1, 20000 * MS);
	arm(id, 0, 20 * MS, 0);
	check_sleep(25 * MS);
	CHECK_EQ(left_of(id), 0);
	arm(id, 0, 20 * MS, 7 * MS);
	check_sleep(25 * MS);
	CHECK_RANGE(left_of(id), 1, 7 * MS);
	CHECK_EQ(CALL(timer_getoverrun, id), 0);
}

static void burn_until(volatile int *flag, int wanted)
{
	long end = check_now() + 8000 * MS;

	while (*flag < wanted && check_now() < end)
		;
	CHECK(*flag >= wanted);
}

/* A computer that holds a CPU of the guest up does so on the account of the task that it runs: then once more. */
static long armed_asleep(int clock, int id)
{
	long start, used, left;
	int caught;

	for (int tries = 0; tries < 30; tries++) {
		arm(id, 0, 0, 0);
		handled = 0;
		start = clock_ns(clock);
		arm(id, 0, 40 * MS, 30 * MS);
		check_sleep(100 * MS); /* no CPU time */
		caught = handled;
		left = left_of(id);
		used = clock_ns(clock) - start;
		if (used < 40 * MS)
			break;
	}
	CHECK(used < 40 * MS);
	CHECK_EQ(caught, 0);
	CHECK_RANGE(left, 40 * MS - used, 40 * MS);
	return start;
}

static void cpu_time(int clock, int id)
{
	long start, used;

	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	start = armed_asleep(clock, id);
	for (int n = 1; n <= 3; n++) {
		burn_until(&handled, n);
		used = clock_ns(clock) - start;
		CHECK(used >= (40 + 30 * (n - 1)) * MS); /* never early */
	}
	arm(id, 0, 0, 0);
	arm(id, ABSOLUTE, 1, 0); /* over already */
	wait_for_handled(4);
	CHECK_CALL(CALL(timer_delete, id));
}

static void process_time(void)
{
	cpu_time(2, clock_timer(2, SIGUSR1, 0, 0, 0));
	cpu_time(2, clock_timer((int)(~(unsigned)getpid() << 3 | 2), SIGUSR1, 0, 0, 0));
}

static void thread_time(void)
{
	cpu_time(3, clock_timer(3, SIGUSR1, 0, 0, 0));
}

static void thread_burns(void *arg)
{
	while (!thread_stop)
		;
}

/* The process's time is that of all threads, a thread's is its alone: we sleep. */
static void time_of_threads(void)
{
	int own = clock_timer(3, SIGUSR2, 0, 0, 0), all = clock_timer(2, SIGUSR1, 0, 0, 0);
	long left;

	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	arm(own, 0, 2000 * MS, 0);
	arm(all, 0, 30 * MS, 0);
	left = left_of(own);
	thread_start_in_group(thread_burns, NULL);
	wait_for_handled(1);
	CHECK_RANGE(left_of(own), left - 1000 * MS, left);
	thread_stop = 1;
}

/* A timer of CPU time that is over when it is set goes on, too, while its signal is ignored. */
static void ignored_at_once(void)
{
	int id;

	signal(SIGUSR1, SIG_IGN);
	id = clock_timer(2, SIGUSR1, 0, 0, 0);
	arm(id, ABSOLUTE, 1, 10 * MS);
	handled = 0;
	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	burn_until(&handled, 2);
	CHECK_CALL(CALL(timer_delete, id));
}

/* Clocks with the number of a process or thread in them. */
static void numbered_clocks(void)
{
	pid_t pid = sleeper();
	int child = (int)(~(unsigned)pid << 3), self = (int)(~(unsigned)getpid() << 3);
	struct timespec res = {1, 1}, blink = {0, 1};
	long now;

	now = clock_ns(self | 2);
	CHECK_RANGE(clock_ns(2) - now, 0, 3000 * MS);
	now = clock_ns(self | 6);
	CHECK_RANGE(clock_ns(3) - now, 0, 3000 * MS);
	CHECK(clock_ns(child | 2) < 3000 * MS);
	CHECK_CALL(CALL(clock_getres, child | 2, &res));
	CHECK_EQ(ns_of(res), 1);
	CHECK_ERRNO(CALL(clock_gettime, child | 6, &res), EINVAL); /* a thread of another process */
	CHECK_ERRNO(CALL(clock_gettime, child | 3, &res), EINVAL);
	CHECK_ERRNO(CALL(clock_gettime, (int)(~0x0fffffffU << 3 | 2), &res), EINVAL);
	finish(pid);
	CHECK_ERRNO(CALL(clock_gettime, child | 2, &res), EINVAL);
	now = clock_ns(0);
	CHECK_RANGE(clock_ns(TAI) - now, 0, 100000 * MS); /* 37 s, where it was set */
	CHECK_CALL(CALL(clock_nanosleep, TAI, 0, &blink, 0));
}

static void refused(void)
{
	struct event event = {.signo = SIGUSR1};
	struct spec spec = {{0, 0}, {1, 1000000000}};
	int id = 0;

	CHECK_ERRNO(CALL(timer_create, 99, &event, &id), EINVAL);
	CHECK_ERRNO(CALL(timer_create, MONO_COARSE, &event, &id), EOPNOTSUPP);
	CHECK_ERRNO(CALL(timer_create, MONO_RAW, &event, &id), EOPNOTSUPP);
	CHECK_ERRNO(CALL(timer_create, 1, 8, &id), EFAULT);
	CHECK_ERRNO(CALL(timer_create, 1, &event, 8), EFAULT);
	event.signo = 65;
	CHECK_ERRNO(CALL(timer_create, 1, &event, &id), EINVAL);
	event.signo = 0;
	CHECK_ERRNO(CALL(timer_create, 1, &event, &id), EINVAL);
	event.signo = SIGUSR1;
	event.notify = 3;
	CHECK_ERRNO(CALL(timer_create, 1, &event, &id), EINVAL);
	CHECK_ERRNO(CALL(timer_gettime, 1234, &spec), EINVAL);
	CHECK_ERRNO(CALL(timer_getoverrun, 1234), EINVAL);
	CHECK_ERRNO(CALL(timer_gettime, -1, &spec), EINVAL);
	CHECK_CALL(CALL(timer_create, 1, 0, &id)); /* SIGALRM */
	CHECK_ERRNO(CALL(timer_settime, id, 0, &spec, 0), EINVAL);
	CHECK_ERRNO(CALL(timer_settime, id, 0, 0, 0), EINVAL);
	CHECK_ERRNO(CALL(timer_settime, id, 0, 8, 0), EFAULT);
	spec.value = time_of(100000 * MS);
	CHECK_ERRNO(CALL(timer_settime, 1234, 0, &spec, 0), EINVAL);
	CHECK_ERRNO(CALL(timer_settime, id, 0, &spec, 8), EFAULT);
	CHECK_RANGE(left_of(id), 90000 * MS, 100000 * MS); /* and it is set */
	CHECK_ERRNO(CALL(timer_gettime, id, 8), EFAULT);
	BLOCK(SIGALRM);
	arm(id, 0, 1, 0);
	take(SIGALRM, id, id);
}

/* Each counts as a signal that is pending. */
static void too_many(void)
{
	struct rlimit limit = {20, 20};
	struct event event = {.notify = NOTIFY_NONE};
	int id, n = 0;

	CHECK_CALL(setrlimit(LIMIT_QUEUED, &limit));
	while (n < 30 && CALL(timer_create, 1, &event, &id) == 0)
		n++;
	CHECK_EQ(errno, EAGAIN);
	CHECK_RANGE(n, 0, 20); /* others of the same user may have some */
	if (n) {
		CHECK_CALL(CALL(timer_delete, id));
		CHECK_CALL(CALL(timer_create, 1, &event, &id));
	}
}

static int kept;

static void has_none(void)
{
	struct spec spec;

	CHECK_ERRNO(CALL(timer_gettime, kept, &spec), EINVAL);
	check_sleep(60 * MS); /* SIGUSR1 would end us */
}

static void not_inherited(void)
{
	char path[256] = "", number[16];
	char *const argv[] = {path, "executed", number, NULL}, *const env[] = {NULL};
	pid_t pid;

	BLOCK(SIGUSR1);
	kept = clock_timer(1, SIGUSR1, 0, 0, 0);
	arm(kept, 0, 30 * MS, 0);
	pid = check_fork();
	if (pid == 0) {
		UNBLOCK(SIGUSR1);
		has_none();
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(check_wait(pid), 0);
	take(SIGUSR1, kept, 0);
	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	pid = check_fork();
	if (pid == 0) {
		UNBLOCK(SIGUSR1);
		kept = clock_timer(1, SIGUSR1, 0, 0, 0);
		arm(kept, 0, 10000 * MS, 1);
		sniprintf(number, sizeof(number), "%d", kept);
		execve(path, argv, env);
		_exit(9);
	}
	CHECK_EQ(check_wait(pid), 0);
}

/* A file of signals tells the same of a timer. */
static void by_signalfd(void)
{
	unsigned words[SIGFD_BYTES / sizeof(unsigned)];
	sigset_t set = SET_OF(SIGUSR1);
	int id, fd;

	BLOCK(SIGUSR1);
	id = clock_timer(1, SIGUSR1, 0, 0, 77);
	id = clock_timer(1, SIGUSR1, 0, 0, 78); /* so that its number is not 0 */
	fd = (int)CHECK_CALL(CALL(signalfd4, -1, &set, 8, 0));
	arm(id, 0, 1, 1);
	check_sleep(5 * MS);
	CHECK_EQ(read(fd, words, sizeof(words)), SIGFD_BYTES);
	CHECK_EQ(words[0], SIGUSR1);
	CHECK_EQ((int)words[2], OVER_TIMER);
	CHECK_EQ(words[3], 0);
	CHECK_EQ((int)words[6], id);
	CHECK(words[8] > 1000000);
	CHECK_EQ(words[11], 78);
}

/* Timers that expire while others are made, set and deleted, by threads at once; at the end all are still there. */
static void thread_deletes(void *arg)
{
	struct event event = {.signo = SIGUSR1};
	struct spec soon = {{0, 200000}, {0, 1}}, later = {{0, 200000}, {0, 50000}};
	int id;

	for (int i = 0; i < 300; i++) {
		vt_syscall(SYS_timer_create, i & 1 ? 1 : 3, (long)&event, (long)&id, 0, 0, 0);
		vt_syscall(SYS_timer_settime, id, 0, (long)&soon, 0, 0, 0);
		vt_syscall(SYS_timer_settime, id, 0, (long)&later, 0, 0, 0);
		vt_syscall(SYS_timer_delete, id, 0, 0, 0, 0, 0);
	}
	__atomic_add_fetch(&thread_stop, 1, __ATOMIC_SEQ_CST);
}

static void storm(void)
{
	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	for (int i = 0; i < 3; i++)
		thread_start_in_group(thread_deletes, NULL);
	while (thread_stop < 3)
		check_sleep(MS);
	one_shot();
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"one-shot", one_shot},
		{"overruns", overruns},
		{"ignored", ignored},
		{"thrown-away", thrown_away},
		{"share-a-signal", share_a_signal},
		{"to-a-thread", to_a_thread},
		{"silent", silent},
		{"process-time", process_time},
		{"thread-time", thread_time},
		{"time-of-threads", time_of_threads},
		{"ignored-at-once", ignored_at_once},
		{"numbered-clocks", numbered_clocks},
		{"refused", refused},
		{"too-many", too_many},
		{"not-inherited", not_inherited},
		{"by-signalfd", by_signalfd},
		{"storm", storm},
	};

	if (argc == 3 && !strcmp(argv[1], "executed")) {
		kept = (int)strtol(argv[2], NULL, 10);
		has_none();
		fflush(stdout);
		return check_failures ? 1 : 0;
	}
	check_seconds = 15;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
