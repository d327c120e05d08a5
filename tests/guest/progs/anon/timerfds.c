/* timerfds: timerfd_create(2): times that are read from a file. */
/* also on Linux */
#include <thread.h>
#include <posix.h>

#define NONBLOCK 04000

/* How often it has fired. */
static long take(int fd)
{
	long v = -1;

	CHECK_EQ(read(fd, &v, 8), 8);
	return v;
}

struct timer_spec {
	struct timespec interval, value;
};

static long set_timer(int fd, int flags, long interval, long value, struct timer_spec *old)
{
	struct timer_spec spec = {{interval / 1000000000, interval % 1000000000},
				  {value / 1000000000, value % 1000000000}};

	return check_syscall(SYS_timerfd_settime, fd, flags, (long)&spec, (long)old, 0, 0);
}

static volatile int others_end;

static void runs_meanwhile(void *arg)
{
	while (!others_end)
		;
}

/* An absolute time is that time, also where another task gets the CPU in the middle of the call. */
static void timer_is_exact(void)
{
	int fd = (int)CHECK_CALL(check_syscall(SYS_timerfd_create, 1, 0, 0, 0, 0, 0));
	long late = 0, end = check_now() + 2000 * MS;
	pid_t other;

	check_pin(0);
	other = thread_start(0, runs_meanwhile, NULL);
	while (check_now() < end) {
		struct timer_spec left;
		long at = check_now() + 10000 * MS, now, ends;

		set_timer(fd, 1, 0, at, NULL);
		now = check_now();
		check_syscall(SYS_timerfd_gettime, fd, (long)&left, 0, 0, 0, 0);
		ends = now + left.value.tv_sec * 1000000000 + left.value.tv_nsec;
		late = ends - at > late ? ends - at : late;
	}
	CHECK_EQ(late, 0);
	others_end = 1;
	CHECK(thread_join(&other, 1));
}

/* A time of the day becomes one of the monotonic clock. */
static void timer_of_the_day(void)
{
	int fd = (int)CHECK_CALL(check_syscall(SYS_timerfd_create, 0, NONBLOCK, 0, 0, 0, 0));
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timer_spec left;
	struct timespec day;
	long at;

	CHECK_CALL(clock_gettime(CLOCK_REALTIME, &day));
	at = day.tv_sec * 1000000000 + day.tv_nsec;
	CHECK_EQ(set_timer(fd, 1, 0, at + 5000 * MS, NULL), 0);
	CHECK_CALL(check_syscall(SYS_timerfd_gettime, fd, (long)&left, 0, 0, 0, 0));
	CHECK_RANGE(left.value.tv_sec * 1000000000 + left.value.tv_nsec, 1, 5000 * MS);
	CHECK_EQ(set_timer(fd, 1, 1000000000, at - 2500 * MS, NULL), 0); /* three times already */
	CHECK_EQ(poll(&p, 1, 10000), 1);
	CHECK_RANGE(take(fd), 3, 10000);
}

static void timers(void)
{
	int fd = (int)CHECK_CALL(check_syscall(SYS_timerfd_create, 1, NONBLOCK, 0, 0, 0, 0));
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timer_spec spec;
	long begin = check_now(), v;

	CHECK_ERRNO(read(fd, &v, 8), EAGAIN);
	CHECK_EQ(set_timer(fd, 0, 0, 30 * MS, NULL), 0);
	CHECK_EQ(poll(&p, 1, 10000), 1);
	CHECK(check_now() - begin >= 30 * MS);
	CHECK_EQ(take(fd), 1);
	CHECK_ERRNO(read(fd, &v, 8), EAGAIN);
	CHECK_CALL(check_syscall(SYS_timerfd_gettime, fd, (long)&spec, 0, 0, 0, 0));
	CHECK(spec.value.tv_sec == 0 && spec.value.tv_nsec == 0);
	CHECK_EQ(set_timer(fd, 0, 5 * MS, 10 * MS, &spec), 0);
	check_sleep(40 * MS);
	CHECK_RANGE(take(fd), 6, 1000000);
	CHECK_EQ(set_timer(fd, 1, 0, begin + 1000000 * MS, &spec), 0); /* absolute */
	CHECK_EQ(spec.interval.tv_nsec, 5 * MS);
	CHECK_RANGE(spec.value.tv_nsec, 1, 5 * MS);
	CHECK_CALL(check_syscall(SYS_timerfd_gettime, fd, (long)&spec, 0, 0, 0, 0));
	CHECK_RANGE(spec.value.tv_sec, 900, 1000);
	CHECK_EQ(set_timer(fd, 1, 0, 1, NULL), 0); /* long ago */
	CHECK_EQ(poll(&p, 1, 10000), 1);
	CHECK_EQ(set_timer(fd, 0, 0, 0, NULL), 0);
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_ERRNO(set_timer(fd, 8, 0, 1, NULL), EINVAL);
	CHECK_ERRNO(set_timer(0, 0, 0, 1, NULL), EINVAL);
	CHECK_ERRNO(set_timer(999, 0, 0, 1, NULL), EBADF);
	CHECK_ERRNO(set_timer(fd, 0, 0, -1, NULL), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_timerfd_create, 1234, 0, 0, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_timerfd_create, 1, 1, 0, 0, 0, 0), EINVAL);
	CHECK_EQ(set_timer(fd, 0, 1000, 1000, NULL), 0); /* goes while it fires */
	CHECK_CALL(close(fd));
}

#ifndef __linux__
/* Seconds more, or less, for the time of the day. */
static void move_clock(long seconds)
{
	struct timespec day;

	CHECK_CALL(clock_gettime(CLOCK_REALTIME, &day));
	day.tv_sec += seconds;
	CHECK_CALL(check_syscall(SYS_clock_settime, CLOCK_REALTIME, (long)&day, 0, 0, 0, 0));
}

/* With TFD_TIMER_CANCEL_ON_SET a clock that was set is told: by poll, by a read, and by a read that waits. */
static void clock_that_is_set(void)
{
	int fd = (int)CHECK_CALL(check_syscall(SYS_timerfd_create, 0, 0, 0, 0, 0, 0));
	struct pollfd p = {.fd = fd, .events = POLLIN};
	long far = 4000000000L * 1000000000, v;
	pid_t child;

	CHECK_EQ(set_timer(fd, 1, 0, far, NULL), 0);
	move_clock(100);
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_EQ(set_timer(fd, 3, 0, far, NULL), 0);
	CHECK_EQ(poll(&p, 1, 0), 0);
	move_clock(100);
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK_ERRNO(read(fd, &v, 8), ECANCELED);
	CHECK_EQ(poll(&p, 1, 0), 0);
	move_clock(100);
	CHECK_ERRNO(set_timer(fd, 3, 0, far, NULL), ECANCELED);
	CHECK_EQ(poll(&p, 1, 0), 0);
	child = check_fork();
	if (child == 0) {
		process_gets(getppid(), 'S');
		move_clock(-300);
		_exit(check_failures);
	}
	CHECK_ERRNO(read(fd, &v, 8), ECANCELED);
	CHECK_EQ(check_wait(child), 0);
}
#endif

static const struct check_case cases[] = {
	{"timers", timers},
	{"timer_is_exact", timer_is_exact},
	{"timer_of_the_day", timer_of_the_day},
#ifndef __linux__
	{"clock_that_is_set", clock_that_is_set},
#endif
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
