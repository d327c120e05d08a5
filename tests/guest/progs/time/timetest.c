/* timetest: clocks and sleeping. To be run with -icount, where a nanosecond is an instruction. */
#include <check.h>
#include <signal.h>

#define LATE 100000 /* instructions that waking up may take */

static struct timespec spec(long ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void relative(void)
{
	static const long spans[] = {1000, 50000, 1000000, 3333333, 10000000, 123456789, 1000000000};

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
		struct timespec span = spec(spans[i]);
		long start = check_now();

		CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL), 0);
		CHECK_RANGE(check_now() - start, spans[i], spans[i] + LATE);
	}
}

static void absolute(void)
{
	long at = check_now() + 5000000;

	for (int i = 0; i < 50; i++, at += 700000) {
		struct timespec when = spec(at);

		CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL), 0);
		CHECK_RANGE(check_now() - at, 0, LATE);
	}
	/* What has passed returns at once. */
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){.tv_sec = 0, .tv_nsec = 1}, NULL),
		 0);
}

static void monotonic(void)
{
	long last = check_now();

	for (int i = 0; i < 20000; i++) {
		long now = check_now();

		if (now < last) {
			CHECK_RANGE(now, last, last + 1000000000);
			return;
		}
		last = now;
	}
}

/* Twenty sleepers with different ends wake in the order of these. */
static void in_order(void)
{
	enum { N = 20 };
	long base;
	int ends[2];
	pid_t pids[N];

	CHECK_CALL(pipe(ends));
	base = check_now() + 100000000;
	for (int i = 0; i < N; i++) {
		int place = i * 7 % N; /* started in another order */
		struct timespec when = spec(base + place * 2000000L);

		pids[i] = check_fork();
		if (pids[i] == 0) {
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
			check_give(ends[1], (char)('A' + place));
			_exit(0);
		}
	}
	CHECK(check_now() < base);
	for (int i = 0; i < N; i++)
		CHECK_EQ(check_take(ends[0]), 'A' + i);
	for (int i = 0; i < N; i++)
		check_wait(pids[i]);
}

static void bad_arguments(void)
{
	struct timespec bad = {.tv_nsec = 1000000000}, negative = {.tv_sec = -1}, zero = {0};

	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL);
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &negative, NULL), EINVAL);
	CHECK_EQ(clock_nanosleep(1234, 0, &zero, NULL), EINVAL);
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, (void *)8, NULL), EFAULT);
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &zero, NULL), 0);
	CHECK_ERRNO(clock_gettime(1234, &zero), EINVAL);
}

static void on_usr1(int sig)
{
}

/* Interrupted, the rest is what is missing; slept as well, it makes the whole. */
static void the_rest(void)
{
	struct sigaction act = {.sa_handler = on_usr1};
	struct timespec span = spec(200000000), left = {0};
	long start = check_now();
	pid_t parent = getpid(), pid;

	CHECK_CALL(sigaction(SIGUSR1, &act, NULL));
	pid = check_fork();
	if (pid == 0) {
		check_sleep(50000000);
		kill(parent, SIGUSR1);
		_exit(0);
	}
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &span, &left), EINTR);
	CHECK_RANGE(check_now() - start + left.tv_nsec, 200000000 - LATE, 200000000 + 5 * LATE);
	CHECK_EQ(check_wait(pid), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"relative", relative}, {"absolute", absolute},		  {"monotonic", monotonic},
		{"in-order", in_order}, {"bad-arguments", bad_arguments}, {"the-rest", the_rest},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
