/* sigmask: calls that set the signal mask for as long as they last, and signals at each moment around them.
 */
/* also on Linux */
#include <posix.h>

static volatile sig_atomic_t seen[NSIG];
static int bytes[2];
static const struct timespec enough = {.tv_sec = 3};

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

static bool in_handler_blocked[NSIG];
static bool after_handler_blocked[NSIG];

static void note_mask(int sig, siginfo_t *info, void *context)
{
	for (int other = 1; other < 32; other++)
		in_handler_blocked[other] = blocked(other);
	seen[sig]++;
}

static long masked_ppoll(const sigset_t *mask, const struct timespec *limit)
{
	struct pollfd p = {bytes[0], POLLIN, 0};

	return ppoll(&p, 1, limit, mask);
}

static long masked_pselect(const sigset_t *mask, const struct timespec *limit)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(bytes[0], &set);
	return pselect(bytes[0] + 1, &set, NULL, NULL, limit, mask);
}

static long masked_epoll(const sigset_t *mask, const struct timespec *limit)
{
	struct {
		unsigned events, data[3]; /* machines pack it in different ways */
	} event = {.events = POLLIN};
	long ep = CHECK_CALL(check_syscall(SYS_epoll_create1, 0, 0, 0, 0, 0, 0)), ret;
	int ms = (int)(limit->tv_sec * 1000 + limit->tv_nsec / MS), err;

	CHECK_CALL(check_syscall(SYS_epoll_ctl, ep, 1, bytes[0], (long)&event, 0, 0));
	ret = check_syscall(SYS_epoll_pwait, ep, (long)&event, 1, ms, (long)mask, 8);
	err = errno;
	CHECK_CALL(close((int)ep));
	errno = err;
	return ret;
}

static long masked_sigsuspend(const sigset_t *mask, const struct timespec *limit)
{
	return sigsuspend(mask);
}

static const struct masked {
	const char *name;
	long (*call)(const sigset_t *mask, const struct timespec *limit);
} masked[] = {
	{"epoll_pwait", masked_epoll},
	{"ppoll", masked_ppoll},
	{"pselect", masked_pselect},
	{"sigsuspend", masked_sigsuspend},
};
#define ALL		 masked, masked + 3
#define WAIT_FOR_FILES	 masked, masked + 2
#define GO_ON_AFTER_STOP masked + 1, masked + 3 /* a stop ends a wait for epoll, as if there were a handler */

static const struct masked *now_masked;

static void masked_from(const struct masked *first, const struct masked *last, void (*f)(void))
{
	for (now_masked = first; now_masked <= last; now_masked++)
		if (!CHECK_EQ(check_in_child(f), 0))
			printf("  %s FAILED\n", now_masked->name);
}

/* After the call: what was blocked before it and nothing else. */
static void mask_is_back(void)
{
	for (int sig = 1; sig < 32; sig++)
		after_handler_blocked[sig] = blocked(sig);
	for (int sig = 1; sig < 32; sig++)
		if (after_handler_blocked[sig] != (sig == SIGUSR1 || sig == SIGTERM)) {
			check_failures++;
			printf("  %s leaves signal %d %s\n", now_masked->name, sig,
			       after_handler_blocked[sig] ? "blocked" : "not blocked");
		}
}

/*
 * The signal came before the call, and was blocked: the call must not sleep, since nothing more will come.
 * Its handler runs under the call's mask and its own, not the caller's.
 */
static void comes_before(void)
{
	sigset_t mask = SET_OF(SIGUSR2, SIGHUP);

	CHECK_CALL(pipe(bytes));
	handle_with(SIGUSR1, note_mask, SA_RESTART, NULL);
	BLOCK(SIGUSR1, SIGTERM);
	raise(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 0);
	CHECK_ERRNO(now_masked->call(&mask, &enough), EINTR);
	CHECK_EQ(seen[SIGUSR1], 1);
	for (int sig = 1; sig < 32; sig++)
		CHECK_EQ(in_handler_blocked[sig], sig == SIGUSR1 || sig == SIGUSR2 || sig == SIGHUP);
	mask_is_back();
}

/* It comes in the sleep. What the call's mask blocks stays for later. */
static void comes_in_sleep(void)
{
	sigset_t mask = SET_OF(SIGUSR2);
	pid_t helper, me = getpid();

	CHECK_CALL(pipe(bytes));
	handle_with(SIGUSR1, note_mask, 0, NULL);
	handle_with(SIGUSR2, on_signal, 0, NULL);
	BLOCK(SIGUSR1, SIGTERM);
	helper = check_fork();
	if (helper == 0) {
		process_gets(me, 'S');
		kill(me, SIGUSR2);
		check_sleep(5 * MS);
		CHECK_EQ(thread_state(me, me), 'S');
		kill(me, SIGUSR1);
		_exit(!!check_failures);
	}
	CHECK_ERRNO(now_masked->call(&mask, &enough), EINTR);
	CHECK_EQ(seen[SIGUSR1], 1);
	CHECK_EQ(seen[SIGUSR2], 1); /* unblocked with the mask that came back */
	mask_is_back();
	CHECK_EQ(check_wait(helper), 0);
}

/* Without a signal the mask comes back with the result. */
static void ends_by_itself(void)
{
	sigset_t mask = SET_OF(SIGUSR2);
	struct timespec soon = {.tv_nsec = MS};

	CHECK_CALL(pipe(bytes));
	BLOCK(SIGUSR1, SIGTERM);
	CHECK_EQ(now_masked->call(&mask, &soon), 0);
	mask_is_back();
	check_give(bytes[1], 'x');
	CHECK_EQ(now_masked->call(&mask, &enough), 1);
	mask_is_back();
}

/* What is ready counts for more than a signal: that stays pending, and its handler does not run. */
static void ready_and_signal(void)
{
	sigset_t mask = SET_OF(SIGUSR2);

	CHECK_CALL(pipe(bytes));
	handle_with(SIGUSR1, on_signal, 0, NULL);
	BLOCK(SIGUSR1, SIGTERM);
	raise(SIGUSR1);
	check_give(bytes[1], 'x');
	CHECK_EQ(now_masked->call(&mask, &enough), 1);
	CHECK_EQ(seen[SIGUSR1], 0);
	CHECK(pending(SIGUSR1));
	mask_is_back();
}

/* Over a stop the call waits on under its own mask, and gives the caller's back in the end. */
static void masked_over_a_stop(void)
{
	sigset_t mask = SET_OF(SIGUSR2);
	pid_t helper, me = getpid();

	CHECK_CALL(pipe(bytes));
	handle_with(SIGUSR1, note_mask, 0, NULL);
	BLOCK(SIGUSR1, SIGTERM);
	helper = check_fork();
	if (helper == 0) {
		process_gets(me, 'S');
		kill(me, SIGSTOP);
		process_gets(me, 'T');
		kill(me, SIGCONT);
		process_gets(me, 'S');
		kill(me, SIGUSR1);
		_exit(!!check_failures);
	}
	CHECK_ERRNO(now_masked->call(&mask, &enough), EINTR);
	CHECK_EQ(seen[SIGUSR1], 1);
	CHECK(in_handler_blocked[SIGUSR2] && !in_handler_blocked[SIGTERM]);
	mask_is_back();
	CHECK_EQ(check_wait(helper), 0);
}

static void before(void)
{
	masked_from(ALL, comes_before);
}

static void in_sleep(void)
{
	masked_from(ALL, comes_in_sleep);
}

static void by_itself(void)
{
	masked_from(WAIT_FOR_FILES, ends_by_itself);
}

static void ready(void)
{
	masked_from(WAIT_FOR_FILES, ready_and_signal);
}

static void mask_over_a_stop(void)
{
	masked_from(GO_ON_AFTER_STOP, masked_over_a_stop);
}

/*
 * Between the look at what is pending and the sleep: an alarm at each moment from before the call to behind
 * that. It is let in by the call alone, so each call must end. Where a nanosecond is an instruction, all
 * moments are tried.
 */
static void sweep(void)
{
	struct itimerval when = {{0, 0}, {0, 0}};
	sigset_t none = SET_OF(0);

	CHECK_CALL(pipe(bytes));
	handle_with(SIGALRM, on_signal, 0, NULL);
	BLOCK(SIGALRM);
	for (int us = 1; us <= 60; us++)
		for (int again = 0; again < 4; again++) {
			when.it_value.tv_usec = us;
			CHECK_CALL(setitimer(ITIMER_REAL, &when, NULL));
			for (volatile int wait = 0; wait < again * 40; wait++)
				; /* a part of a microsecond */
			if (!CHECK_ERRNO(now_masked->call(&none, &enough), EINTR))
				return;
		}
	CHECK_EQ(seen[SIGALRM], 240);
}

static void at_each_moment(void)
{
	masked_from(ALL, sweep);
}

/* sigtimedwait at each moment: it takes the alarm itself. */
static void taken_at_each_moment(void)
{
	struct itimerval when = {{0, 0}, {0, 0}};
	sigset_t set = SET_OF(SIGALRM);

	BLOCK(SIGALRM);
	for (int us = 1; us <= 200; us++) {
		when.it_value.tv_usec = us % 50 + 1;
		CHECK_CALL(setitimer(ITIMER_REAL, &when, NULL));
		if (!CHECK_EQ(sigtimedwait(&set, NULL, NULL), SIGALRM))
			return;
	}
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"mask-before", before},
		{"mask-in-sleep", in_sleep},
		{"mask-by-itself", by_itself},
		{"mask-ready", ready},
		{"mask-over-a-stop", mask_over_a_stop},
		{"at-each-moment", at_each_moment},
		{"taken-at-each-moment", taken_at_each_moment},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
