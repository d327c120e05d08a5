/*
 * timelimits: the longest and the shortest times that user space can ask for, and what the wall clock can be
 * set to; with them membarrier and clone3, whose arguments have bounds as well.
 */
#include <check.h>
#include <numbers.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <uapi/futex.h>

#define MILLION	  1000000L
#define CENTURIES (200L * 365 * 24 * 3600) /* what is left of "for ever" is more, in seconds */

struct timeval_pair {
	long sec, usec;
};
struct itimer {
	struct timeval_pair interval, value;
};
static const struct timespec for_ever = {LONG_MAX, 999999999};
static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
}

static void catch_alarms(void)
{
	struct sigaction act = {.sa_handler = on_alarm};

	CHECK_CALL(sigaction(SIGALRM, &act, NULL));
}

static void set_timer(long interval_sec, long interval_usec, long usec)
{
	struct itimer timer = {{interval_sec, interval_usec}, {0, usec}};

	CHECK_CALL(check_syscall(SYS_setitimer, 0, (long)&timer, 0, 0, 0, 0));
}

static struct itimer get_timer(void)
{
	struct itimer timer = {{-1, -1}, {-1, -1}};

	CHECK_CALL(check_syscall(SYS_getitimer, 0, (long)&timer, 0, 0, 0, 0));
	return timer;
}

static void wait_alarms(int n)
{
	sigset_t alarm = 1UL << (SIGALRM - 1), old;

	CHECK_CALL(sigprocmask(SIG_BLOCK, &alarm, &old));
	while (alarms < n)
		check_syscall(SYS_rt_sigsuspend, (long)&old, sizeof(old), 0, 0, 0, 0);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &old, NULL));
}

/* One alarm after a millisecond, the next in 292 years: neither at once nor in the past. */
static void longest_interval(void)
{
	static const long seconds[] = {LONG_MAX, LONG_MAX / 1000000000, LONG_MAX / 1000000000 - 1};
	struct itimer left;

	catch_alarms();
	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		alarms = 0;
		set_timer(seconds[i], 0, 1000);
		wait_alarms(1);
		left = get_timer();
		CHECK_RANGE(left.value.sec, CENTURIES, seconds[i]);
		CHECK_EQ(alarms, 1);
	}
	set_timer(0, 0, 0);
	CHECK_EQ(get_timer().value.sec, 0);
}

/* A timer goes on when its signal is taken. While that is blocked it stands, however short the interval is.
 */
static void shortest_interval(void)
{
	sigset_t alarm = 1UL << (SIGALRM - 1), old, pending = 0;
	struct itimer left;

	catch_alarms();
	CHECK_CALL(sigprocmask(SIG_BLOCK, &alarm, &old));
	set_timer(0, 1, 1);
	while (!(pending & alarm))
		CHECK_CALL(check_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0));
	left = get_timer();
	CHECK_EQ(left.value.sec, 0);
	CHECK_EQ(left.value.usec, 0);
	CHECK_EQ(left.interval.usec, 1);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &old, NULL));
	wait_alarms(100);
	set_timer(0, 0, 0);
}

static void wait_nanosleep(void)
{
	struct timespec left = {0, 0};

	CHECK_ERRNO(check_syscall(SYS_nanosleep, (long)&for_ever, (long)&left, 0, 0, 0, 0), EINTR);
	CHECK_RANGE(left.tv_sec, CENTURIES, LONG_MAX / 1000000000);
}

static void wait_until_monotonic(void)
{
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &for_ever, NULL), EINTR);
}

static void wait_until_real(void)
{
	CHECK_EQ(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &for_ever, NULL), EINTR);
}

static void wait_futex(void)
{
	unsigned word = 0;

	CHECK_ERRNO(check_syscall(SYS_futex, (long)&word, 0, 0, (long)&for_ever, 0, 0), EINTR);
}

static void wait_futex_until(void)
{
	unsigned word = 0;

	int op = FUTEX_WAIT_BITSET;

	CHECK_ERRNO(check_syscall(SYS_futex, (long)&word, op, 0, (long)&for_ever, 0, -1), EINTR);
	op |= FUTEX_CLOCK_REALTIME;
	CHECK_ERRNO(check_syscall(SYS_futex, (long)&word, op, 0, (long)&for_ever, 0, -1), EINTR);
}

static void wait_ppoll(void)
{
	struct timespec span = for_ever;

	CHECK_ERRNO(check_syscall(SYS_ppoll, 0, 0, (long)&span, 0, 0, 0), EINTR);
}

static void wait_poll(void)
{
	CHECK_ERRNO(poll(NULL, 0, INT_MAX), EINTR);
}

static void wait_select(void)
{
	struct timespec span = for_ever;

	CHECK_ERRNO(check_syscall(SYS_pselect6, 0, 0, 0, 0, (long)&span, 0), EINTR);
#ifdef __x86_64__
	struct timeval_pair longest = {LONG_MAX, LONG_MAX};

	CHECK_ERRNO(check_syscall(SYS_select, 0, 0, 0, 0, (long)&longest, 0), EINTR);
	longest = (struct timeval_pair){LONG_MAX, -1};
	CHECK_ERRNO(check_syscall(SYS_select, 0, 0, 0, 0, (long)&longest, 0), EINVAL);
#endif
}

static void wait_signal(void)
{
	sigset_t usr1 = 1UL << (SIGUSR1 - 1);

	CHECK_ERRNO(check_syscall(SYS_rt_sigtimedwait, (long)&usr1, 0, (long)&for_ever, sizeof(usr1), 0, 0), EINTR);
}

/* None of them is over at once: an alarm ends it. More follow, should the first come before the wait begins.
 */
static void longest_waits(void)
{
	static void (*const waits[])(void) = {
		wait_nanosleep, wait_until_monotonic, wait_until_real, wait_futex, wait_futex_until, wait_ppoll,
		wait_poll,	wait_select,	      wait_signal,
	};

	catch_alarms();
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		set_timer(0, 5000, 5000);
		waits[i]();
		set_timer(0, 0, 0);
	}
}

/* The time of a file stops at the end of what the kernel's clock can say. */
static void latest_file(void)
{
	struct timespec times[2] = {for_ever, for_ever};
	struct stat st;
	int fd = CHECK_CALL(open("/tmp/latest", O_CREAT | O_RDWR, 0600));

	CHECK_CALL(check_syscall(SYS_utimensat, fd, 0, (long)times, 0, 0, 0));
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_mtime, LONG_MAX / 1000000000);
	CHECK_CALL(close(fd));
	CHECK_CALL(unlink("/tmp/latest"));
}

static long set_clock(long sec, long nsec)
{
	struct timespec ts = {sec, nsec};

	return check_syscall(SYS_clock_settime, CLOCK_REALTIME, (long)&ts, 0, 0, 0, 0);
}

static long set_day(long sec, long usec)
{
	struct timeval_pair tv = {sec, usec};

	return check_syscall(SYS_settimeofday, (long)&tv, 0, 0, 0, 0, 0);
}

static long seconds_now(void)
{
	struct timespec now;

	CHECK_CALL(clock_gettime(CLOCK_REALTIME, &now));
	return now.tv_sec;
}

/* Linux's bounds: from the machine's start to 30 years before the clock would overflow. */
static void wall_clock(void)
{
	long last = LONG_MAX / 1000000000 - 30L * 365 * 24 * 3600, now = seconds_now();
	static const struct timespec wrong[] = {{LONG_MAX, 0}, {-1, 0}, {1000000000, -1}, {1000000000, 1000000000}};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK_ERRNO(set_clock(wrong[i].tv_sec, wrong[i].tv_nsec), EINVAL);
	CHECK_ERRNO(set_day(LONG_MAX, 0), EINVAL);
	CHECK_ERRNO(set_day(-1, 0), EINVAL);
	CHECK_ERRNO(set_day(1000000000, -1), EINVAL);
	CHECK_ERRNO(set_day(1000000000, MILLION), EINVAL);
	CHECK_ERRNO(set_day(1000000000, MILLION + 1), EINVAL);
	CHECK_ERRNO(set_day(last, 0), EINVAL);
	CHECK_ERRNO(set_clock(last, 0), EINVAL);
	CHECK_ERRNO(set_day(0, 0), EINVAL); /* the machine has been up for longer */
	CHECK_RANGE(seconds_now(), now, now + 60);
	CHECK_CALL(set_clock(last - 1, 999999999));
	CHECK_RANGE(seconds_now(), last - 1, last + 60);
	CHECK_CALL(set_day(now, 999999));
	CHECK_RANGE(seconds_now(), now, now + 60);
}

static void as_user(void)
{
	long now = seconds_now();

	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	CHECK_ERRNO(set_clock(now, 0), EPERM);
	CHECK_ERRNO(set_day(now, 0), EPERM);
	CHECK_ERRNO(set_day(-1, 0), EINVAL); /* asked first, as on Linux */
	CHECK_ERRNO(check_syscall(SYS_settimeofday, 0, 0, 0, 0, 0, 0), EPERM);
}

static void wall_clock_of_users(void)
{
	CHECK_EQ(check_in_child(as_user), 0);
}

struct zone {
	int minutes_west, dst;
};

static long set_zone(int minutes_west, const struct timeval_pair *tv)
{
	struct zone zone = {minutes_west, 1};

	return check_syscall(SYS_settimeofday, (long)tv, (long)&zone, 0, 0, 0, 0);
}

static void holds_zone(int minutes_west, int dst)
{
	struct zone zone = {-1, -1};

	CHECK_CALL(check_syscall(SYS_gettimeofday, 0, (long)&zone, 0, 0, 0, 0));
	CHECK_EQ(zone.minutes_west, minutes_west);
	CHECK_EQ(zone.dst, dst);
}

/* The first zone that comes without a time moves a clock that ran on local time to UTC; later ones do not. */
static void time_zone(void)
{
	long now = seconds_now();

	holds_zone(0, 0);
	CHECK_ERRNO(set_zone(15 * 60 + 1, NULL), EINVAL);
	CHECK_ERRNO(set_zone(-15 * 60 - 1, NULL), EINVAL);
	holds_zone(0, 0);
	CHECK_CALL(set_zone(60, NULL));
	holds_zone(60, 1);
	CHECK_RANGE(seconds_now(), now + 3600, now + 3660);
	CHECK_CALL(set_zone(-120, &(struct timeval_pair){now, 0}));
	holds_zone(-120, 1);
	CHECK_RANGE(seconds_now(), now, now + 60);
	CHECK_CALL(set_zone(0, NULL));
	CHECK_RANGE(seconds_now(), now, now + 60);
	holds_zone(0, 1);
}

static long membarrier(int command)
{
	return check_syscall(SYS_membarrier, command, 0, 0, 0, 0, 0);
}

static void barriers(void)
{
	enum { QUERY = 0, GLOBAL = 1, GLOBAL_NOW = 2, REGISTER_GLOBAL = 4, PRIVATE = 8, REGISTER = 16, ASK = 512 };

	CHECK_EQ(membarrier(QUERY), GLOBAL | GLOBAL_NOW | REGISTER_GLOBAL | PRIVATE | REGISTER | ASK);
	CHECK_EQ(membarrier(ASK), 0);
	CHECK_ERRNO(membarrier(PRIVATE), EPERM);
	CHECK_EQ(membarrier(GLOBAL), 0);
	CHECK_EQ(membarrier(GLOBAL_NOW), 0);
	CHECK_EQ(membarrier(REGISTER), 0);
	CHECK_EQ(membarrier(PRIVATE), 0);
	CHECK_EQ(membarrier(ASK), REGISTER);
	CHECK_EQ(membarrier(REGISTER_GLOBAL), 0);
	CHECK_EQ(membarrier(ASK), REGISTER | REGISTER_GLOBAL);
	for (int bit = 0; bit < 31; bit++)
		if (!(membarrier(QUERY) & 1 << bit))
			CHECK_ERRNO(membarrier(1 << bit), EINVAL);
	CHECK_ERRNO(membarrier(GLOBAL | PRIVATE), EINVAL);
	CHECK_ERRNO(membarrier(-1), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_membarrier, GLOBAL, 1, 0, 0, 0, 0), EINVAL);
	pid_t pid = check_fork();
	if (pid == 0)
		_exit(membarrier(ASK) != (REGISTER | REGISTER_GLOBAL)); /* a fork inherits it */
	CHECK_EQ(check_wait(pid), 0);
}

static long clone3(void *args, size_t size)
{
	return check_syscall(SYS_clone3, (long)args, (long)size, 0, 0, 0, 0);
}

/* A longer structure is a newer program's: fine as long as what nobody knows here is zero. */
static void longer_clone3(void)
{
	static unsigned long args[512] = {[4] = SIGCHLD}; /* a page: the longest there is */
	static const size_t sizes[] = {64, 80, 88, 96, 4096};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		pid_t pid = CHECK_CALL(clone3(args, sizes[i]));

		if (pid == 0)
			_exit(3);
		CHECK_EQ(check_wait(pid), 3 << 8);
	}
	CHECK_ERRNO(clone3(args, 63), EINVAL);
	CHECK_ERRNO(clone3(args, 4097), E2BIG);
	((char *)args)[4095] = 1;
	CHECK_ERRNO(clone3(args, 4096), E2BIG);
	((char *)args)[4095] = 0;
	((char *)args)[88] = 1;
	CHECK_ERRNO(clone3(args, 96), E2BIG);
	CHECK_ERRNO(clone3((void *)8, 96), EFAULT);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"longest-interval", longest_interval},
		{"shortest-interval", shortest_interval},
		{"longest-waits", longest_waits},
		{"latest-file", latest_file},
		{"wall-clock", wall_clock},
		{"wall-clock-of-users", wall_clock_of_users},
		{"time-zone", time_zone},
		{"membarrier", barriers},
		{"longer-clone3", longer_clone3},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
