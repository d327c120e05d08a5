/* futextimes: futex(2): when a wait ends by itself, and what a signal makes of it. */
/* also on Linux */
#include <sleepers.h>
#include <signal.h>
#include <thread.h>

#define MS   1000000L
#define WAIT (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)

static futex_t words[2];
static struct sleeper s[3];

/* --- times --- */

#define NS(t) ((t).tv_sec * 1000000000L + (t).tv_nsec)

static long clock_ns(int clock)
{
	struct timespec t = later_on(clock, 0);

	return NS(t);
}

/* One wait that nobody ends: how far beyond its time it came back, in ns. */
static long overslept(int op, int clock, long span)
{
	struct timespec end = later_on(clock, span), relative = {.tv_nsec = span};
	long began = clock_ns(clock), result;

	result = futex(words, op | FUTEX_PRIVATE_FLAG, 0, op == FUTEX_WAIT ? &relative : &end, NULL, FUTEX_BITSET_ANY);
	CHECK_EQ(result, -ETIMEDOUT);
	return clock_ns(clock) - (op == FUTEX_WAIT ? began + span : NS(end));
}

/* Not a nanosecond early, whichever clock it goes by; and not for ever. */
static void not_early(void)
{
	for (long i = 1; i <= 30; i++) {
		long span = i * 97 * 1000;

		CHECK_RANGE(overslept(FUTEX_WAIT, CLOCK_MONOTONIC, span), 0, SLEEPER_PATIENCE);
		CHECK_RANGE(overslept(FUTEX_WAIT_BITSET, CLOCK_MONOTONIC, span), 0, SLEEPER_PATIENCE);
		CHECK_RANGE(overslept(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, CLOCK_REALTIME, span), 0,
			    SLEEPER_PATIENCE);
	}
	/* About as long as the call itself takes, where an end that comes too early shows most. */
	for (long span = 200; span < 6000; span += 40)
		CHECK_RANGE(overslept(FUTEX_WAIT_BITSET, CLOCK_MONOTONIC, span), 0, SLEEPER_PATIENCE);
	CHECK_EQ(futex_wake(words, ALL), 0); /* nobody is left in the queue */
}

static void time_is_over(void)
{
	struct timespec zero = {0}, past = {.tv_nsec = 1}, future = later_on(CLOCK_REALTIME, 3600000 * MS);

	CHECK_EQ(futex(words, WAIT, 0, &zero, NULL, 0), -ETIMEDOUT);
	CHECK_EQ(futex(words, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &zero, NULL, FUTEX_BITSET_ANY), -ETIMEDOUT);
	CHECK_EQ(futex(words, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &past, NULL, FUTEX_BITSET_ANY), -ETIMEDOUT);
	/* The clock matters: what is past by one is far ahead by the other. */
	CHECK_EQ(futex(words, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, 0, &past, NULL,
		       FUTEX_BITSET_ANY),
		 -ETIMEDOUT);
	s[0] = (struct sleeper){.word = words,
				.op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME,
				.bitset = FUTEX_BITSET_ANY,
				.time = &future};
	sleeper_start(&s[0]);
	CHECK(sleepers_sleep(s, 1));
	CHECK_EQ(futex_wake(words, ALL), 1);
	CHECK(sleepers_woken(s, 1));
}

/* Times that no counter of nanoseconds can hold are ends that never come. */
static void time_without_end(void)
{
	static const struct timespec ever = {.tv_sec = 0x7fffffffffffffff, .tv_nsec = 999999999};

	s[0] = (struct sleeper){.word = words, .op = WAIT, .time = &ever};
	s[1] = (struct sleeper){
		.word = words, .op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, .bitset = 1, .time = &ever};
	s[2] = s[1];
	s[2].op |= FUTEX_CLOCK_REALTIME;
	for (int i = 0; i < 3; i++)
		sleeper_start(&s[i]);
	CHECK(sleepers_sleep(s, 3));
	CHECK_EQ(futex_wake(words, ALL), 3);
	CHECK(sleepers_woken(s, 3));
}

/* --- signals --- */

static volatile int handled;

static void on_signal(int sig)
{
	handled++;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&act.sa_mask);
	CHECK_CALL(sigaction(sig, &act, NULL));
}

/* A sleeper that a signal reaches in its sleep; waits until its handler has run. */
static void signalled(struct sleeper *one, int flags)
{
	int before = handled;
	long give_up = check_now() + SLEEPER_PATIENCE;

	handle(SIGUSR1, on_signal, flags);
	sleeper_start(one);
	CHECK(sleeper_sleeps(one));
	CHECK_CALL(kill(one->pid, SIGUSR1));
	while (handled == before && check_now() < give_up)
		check_sleep(200000);
	CHECK_EQ(handled, before + 1);
}

static void interrupted(void)
{
	static const struct timespec minute = {.tv_sec = 60};

	s[0] = (struct sleeper){.word = words, .op = WAIT};
	signalled(&s[0], 0);
	CHECK_EQ(sleeper_join(&s[0]), -EINTR);
	CHECK_EQ(futex_wake(words, ALL), 0);
	/* With a time-out it is not begun again behind a handler, whatever that says. */
	for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
		s[0].time = &minute;
		signalled(&s[0], flags);
		CHECK_EQ(sleeper_join(&s[0]), -EINTR);
		CHECK_EQ(futex_wake(words, ALL), 0);
	}
}

static void restarted(void)
{
	s[0] = (struct sleeper){.word = words, .op = WAIT};
	signalled(&s[0], SA_RESTART);
	CHECK(sleepers_sleep(s, 1));
	CHECK_EQ(futex_wake(words, ALL), 1);
	CHECK(sleepers_woken(s, 1));
	/* The call looks at the word again. */
	s[0] = (struct sleeper){.word = words, .op = WAIT};
	handle(SIGUSR1, on_signal, SA_RESTART);
	sleeper_start(&s[0]);
	words[0] = 1;
	CHECK_CALL(kill(s[0].pid, SIGUSR1));
	CHECK_EQ(sleeper_join(&s[0]), -EAGAIN);
}

static void stop(struct sleeper *one)
{
	int status = 0;

	CHECK_CALL(kill(one->pid, SIGSTOP));
	CHECK_EQ(waitpid(one->pid, &status, WUNTRACED), one->pid);
	CHECK(WIFSTOPPED(status));
}

/*
 * A stop interrupts the wait without anybody noticing: it goes on with the same end. Stopped beyond its end
 * it is back before a fresh wait of half the length; stopped twice it has not forgotten how to go on.
 */
static void stopped(void)
{
	static const struct timespec second = {.tv_sec = 1}, half = {.tv_nsec = 500 * MS}, minute = {.tv_sec = 60};
	struct timespec end;

	s[0] = (struct sleeper){.word = words, .op = WAIT, .time = &second};
	sleeper_start(&s[0]);
	stop(&s[0]);
	check_sleep(1010 * MS);
	CHECK_CALL(kill(s[0].pid, SIGCONT));
	s[1] = (struct sleeper){.word = words, .op = WAIT, .time = &half};
	sleeper_start(&s[1]);
	CHECK_EQ(sleeper_join(&s[0]), -ETIMEDOUT);
	CHECK_EQ(sleeper_join(&s[1]), -ETIMEDOUT);
	CHECK_RANGE(s[0].end - s[0].began, 1000 * MS, 1L << 62);
	CHECK(s[0].end < s[1].end);

	end = later(60000 * MS);
	s[0] = (struct sleeper){.word = words, .op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, .bitset = 2, .time = &end};
	s[1] = (struct sleeper){.word = words, .op = WAIT, .time = &minute};
	for (int i = 0; i < 2; i++)
		sleeper_start(&s[i]);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 2; i++) {
			stop(&s[i]);
			CHECK_CALL(kill(s[i].pid, SIGCONT));
			CHECK(sleepers_sleep(&s[i], 1));
		}
	CHECK_EQ(futex(words, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, ALL, NULL, NULL, ~2u),
		 1); /* the bits are the same, too */
	CHECK(sleepers_woken(s + 1, 1));
	CHECK_EQ(futex_wake(words, ALL), 1);
	CHECK(sleepers_woken(s, 1));
}

/* Stopped and continued first, it is interrupted by a handler as if it had not been. */
static void stopped_then_interrupted(void)
{
	static const struct timespec minute = {.tv_sec = 60};

	handle(SIGUSR1, on_signal, SA_RESTART);
	s[0] = (struct sleeper){.word = words, .op = WAIT, .time = &minute};
	sleeper_start(&s[0]);
	stop(&s[0]);
	CHECK_CALL(kill(s[0].pid, SIGCONT));
	CHECK(sleepers_sleep(s, 1));
	CHECK_CALL(kill(s[0].pid, SIGUSR1));
	CHECK_EQ(sleeper_join(&s[0]), -EINTR);
	CHECK_EQ(futex_wake(words, ALL), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"not-early", not_early},
		{"time-is-over", time_is_over},
		{"time-without-end", time_without_end},
		{"interrupted", interrupted},
		{"restarted", restarted},
		{"stopped", stopped},
		{"stopped-then-interrupted", stopped_then_interrupted},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
