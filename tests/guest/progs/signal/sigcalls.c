/* sigcalls: system calls that a signal interrupts: which start again and which do not. */
/* also on Linux */
#include <posix.h>
#include <sys/stat.h>
#include <uapi/futex.h>

static volatile sig_atomic_t seen[NSIG];
/* What a call waits for: bytes in a pipe, room in a full one, a child that waits for its end of a third, a
 * word. */
static int bytes[2], room[2], life[2];
static pid_t child;
static unsigned *word;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

static void prepare(void)
{
	static char page[4096];

	CHECK_CALL(pipe(bytes));
	CHECK_CALL(pipe(room));
	CHECK_CALL(pipe(life));
	CHECK_CALL(fcntl(room[1], F_SETFL, O_NONBLOCK));
	while (write(room[1], page, sizeof(page)) > 0)
		;
	CHECK_CALL(fcntl(room[1], F_SETFL, 0));
	word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(word != MAP_FAILED);
	child = check_fork();
	if (child == 0) {
		char c;

		close(life[1]);
		_exit(read(life[0], &c, 1) == 0 ? 7 : 8);
	}
}

static void end_prepared(void)
{
	kill(child, SIGKILL);
	check_wait(child);
}

/* --- the calls, and what makes each return --- */

static const struct timespec long_time = {.tv_sec = 20};

static long call_read(void)
{
	char c;

	return read(bytes[0], &c, 1);
}

static void give_byte(void)
{
	check_give(bytes[1], 'x');
}

static long call_write(void)
{
	return write(room[1], "x", 1);
}

static void make_room(void)
{
	static char page[4096];

	CHECK_EQ(read(room[0], page, sizeof(page)), sizeof(page));
}

static long call_wait(void)
{
	int status;
	pid_t got;

	close(life[1]); /* in us: the helper keeps its own */
	got = waitpid(child, &status, 0);
	return got == child && WEXITSTATUS(status) == 7 ? 0 : got;
}

static long call_waitid(void)
{
	siginfo_t info;

	close(life[1]);
	return waitid(P_PID, child, &info, WEXITED | WNOWAIT);
}

static void end_child(void)
{
	close(life[1]);
}

static long futex_wait(const struct timespec *limit)
{
	return check_syscall(SYS_futex, (long)word, FUTEX_WAIT, 0, (long)limit, 0, 0);
}

static long call_futex(void)
{
	return futex_wait(NULL);
}

static long call_futex_limit(void)
{
	return futex_wait(&long_time);
}

/* A sleeper may be seen on its way from one call to the next, where nobody can wake it. */
static void wake_word(void)
{
	long woken = 0;

	for (int i = 0; i < 20000 && !woken; i++) {
		woken = check_syscall(SYS_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
		check_sleep(woken ? 0 : MS);
	}
	CHECK_EQ(woken, 1);
}

static long call_nanosleep(void)
{
	return nanosleep(&long_time, NULL);
}

static long call_clock_nanosleep(void)
{
	return check_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&long_time, 0, 0, 0);
}

static long call_sleep_until(void)
{
	struct timespec end;

	CHECK_CALL(clock_gettime(CLOCK_MONOTONIC, &end));
	end.tv_sec += 20;
	return check_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&end, 0, 0, 0);
}

static long call_poll(void)
{
	struct pollfd p = {bytes[0], POLLIN, 0};

#ifdef __x86_64__
	return check_syscall(SYS_poll, (long)&p, 1, 20000, 0, 0, 0);
#else
	return poll(&p, 1, 20000);
#endif
}

static long call_poll_endless(void)
{
	struct pollfd p = {bytes[0], POLLIN, 0};

#ifdef __x86_64__
	return check_syscall(SYS_poll, (long)&p, 1, -1, 0, 0, 0);
#else
	return poll(&p, 1, -1);
#endif
}

static long call_ppoll(void)
{
	struct pollfd p = {bytes[0], POLLIN, 0};

	return ppoll(&p, 1, &long_time, NULL);
}

static long call_select(void)
{
	struct timeval limit = {.tv_sec = 20};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(bytes[0], &set);
#ifdef __x86_64__
	return check_syscall(SYS_select, bytes[0] + 1, (long)&set, 0, 0, (long)&limit, 0);
#else
	return select(bytes[0] + 1, &set, NULL, NULL, &limit);
#endif
}

static long call_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(bytes[0], &set);
	return pselect(bytes[0] + 1, &set, NULL, NULL, &long_time, NULL);
}

static long call_sigtimedwait(void)
{
	sigset_t set = SET_OF(SIGUSR2);

	return sigtimedwait(&set, NULL, &long_time);
}

static long call_sigwaitinfo(void)
{
	sigset_t set = SET_OF(SIGUSR2);
	siginfo_t info;

	return sigwaitinfo(&set, &info);
}

static void send_usr2(void)
{
	CHECK_CALL(kill(getppid(), SIGUSR2));
}

static long call_pause(void)
{
#ifdef __x86_64__
	return check_syscall(SYS_pause, 0, 0, 0, 0, 0, 0);
#else
	return pause();
#endif
}

static long call_sigsuspend(void)
{
	sigset_t set = SET_OF(SIGUSR2);

	return sigsuspend(&set);
}

enum { STARTS_AGAIN = 1, NOT_AFTER_STOP = 2 };
static const struct call {
	const char *name;
	long (*call)(void);
	void (*finish)(void); /* done by another process; NULL: only a signal ends it */
	long result;	      /* when it was finished */
	int flags;
} calls[] = {
	{"read", call_read, give_byte, 1, STARTS_AGAIN},
	{"write", call_write, make_room, 1, STARTS_AGAIN},
	{"waitpid", call_wait, end_child, 0, STARTS_AGAIN},
	{"waitid", call_waitid, end_child, 0, STARTS_AGAIN},
	{"futex", call_futex, wake_word, 0, STARTS_AGAIN},
	{"futex with a limit", call_futex_limit, wake_word, 0, 0},
	{"nanosleep", call_nanosleep, NULL, 0, 0},
	{"clock_nanosleep", call_clock_nanosleep, NULL, 0, 0},
	{"clock_nanosleep until", call_sleep_until, NULL, 0, 0},
	{"poll", call_poll, give_byte, 1, 0},
	{"poll without end", call_poll_endless, give_byte, 1, 0},
	{"ppoll", call_ppoll, give_byte, 1, 0},
	{"select", call_select, give_byte, 1, 0},
	{"pselect", call_pselect, give_byte, 1, 0},
	{"sigtimedwait", call_sigtimedwait, send_usr2, SIGUSR2, NOT_AFTER_STOP},
	{"sigwaitinfo", call_sigwaitinfo, send_usr2, SIGUSR2, NOT_AFTER_STOP},
	{"pause", call_pause, NULL, 0, 0},
	{"sigsuspend", call_sigsuspend, NULL, 0, 0},
};

/* What happens to the call while it sleeps, by a helper that looks when it does. */
enum event { SIGNAL_HANDLED, SIGNAL_IGNORED, STOP_AND_GO };

/* Whether what happens ends the call with EINTR. */
static bool is_interrupted(const struct call *c, enum event event, int flags)
{
	if (event == SIGNAL_HANDLED)
		return !(c->flags & STARTS_AGAIN) || !(flags & SA_RESTART);
	return event == STOP_AND_GO && (c->flags & NOT_AFTER_STOP);
}

/* The helper's part: the call's process sleeps, has something happen, sleeps again if the call goes on, is
 * let go. */
static void disturb(const struct call *c, enum event event)
{
	pid_t whom = getppid();

	process_gets(whom, 'S');
	if (event == STOP_AND_GO) {
		CHECK_CALL(kill(whom, SIGSTOP));
		process_gets(whom, 'T');
		CHECK_CALL(kill(whom, SIGCONT));
	} else {
		CHECK_CALL(kill(whom, event == SIGNAL_HANDLED ? SIGUSR1 : SIGURG));
	}
	process_gets(whom, 'S');
	if (c->finish)
		c->finish();
	else
		CHECK_CALL(kill(whom, SIGUSR1));
	_exit(!!check_failures);
}

/* One call in the process that check_in_child has made, so that what it leaves behind goes with it. */
static const struct call *now_call;
static enum event now_event;
static int now_flags;

static void one_call(void)
{
	const struct call *c = now_call;
	bool interrupted = is_interrupted(c, now_event, now_flags);
	pid_t helper;
	long got;
	int error;

	prepare();
	BLOCK(SIGUSR2);
	handle_with(SIGUSR1, on_signal, now_flags, NULL);
	helper = check_fork();
	if (helper == 0)
		disturb(c, now_event);
	errno = 0;
	got = c->call();
	error = errno;
	if (interrupted || !c->finish) {
		if (check_equal(got, -1, c->name, __FILE__, __LINE__))
			CHECK_EQ(error, EINTR);
	} else {
		check_equal(got, c->result, c->name, __FILE__, __LINE__);
		CHECK_EQ(seen[SIGUSR1], now_event == SIGNAL_HANDLED);
	}
	/* The helper finishes what is over, too: a futex has no sleeper then, and the call below is another.
	 */
	if (interrupted)
		kill(helper, SIGKILL);
	else
		CHECK_EQ(check_wait(helper), 0);
	end_prepared();
}

static void all_calls(enum event event, int flags)
{
	now_event = event;
	now_flags = flags;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		now_call = &calls[i];
		if (!CHECK_EQ(check_in_child(one_call), 0))
			printf("  that was %s\n", calls[i].name);
	}
}

/* Handlers with SA_RESTART: the calls that Linux starts again wait on and return what they would have. */
static void with_restart(void)
{
	all_calls(SIGNAL_HANDLED, SA_RESTART);
}

static void without_restart(void)
{
	all_calls(SIGNAL_HANDLED, 0);
}

/* No handler: a process that was stopped and goes on does not notice. Signals are taken at the end of the
 * stop only. */
static void over_a_stop(void)
{
	all_calls(STOP_AND_GO, 0);
}

/* A signal whose default is to do nothing wakes nobody. */
static void not_by_ignored(void)
{
	all_calls(SIGNAL_IGNORED, 0);
}

/* --- sleeping --- */

/* As long as two readings of the clock around it say, and what is left is the rest of the span. */
static void remaining(void)
{
	const long span = 20000 * MS;
	struct timespec left = {0};
	long start, end, rest;
	pid_t helper, me = getpid();

	handle_with(SIGUSR1, on_signal, SA_RESTART, NULL);
	helper = check_fork();
	if (helper == 0) {
		process_gets(me, 'S');
		check_sleep(20 * MS);
		kill(me, SIGUSR1);
		_exit(0);
	}
	start = check_now();
	CHECK_ERRNO(nanosleep(&long_time, &left), EINTR);
	end = check_now();
	rest = left.tv_sec * 1000000000 + left.tv_nsec;
	CHECK(end - start >= 20 * MS);
	/* Told before `end` was read, of an end that was set after `start` was read. */
	CHECK_RANGE(rest, span - (end - start), span - 20 * MS);
	CHECK_EQ(check_wait(helper), 0);
}

/* A sleep that is stopped over its end is over when it goes on: it does not begin again. */
static void stopped_over_the_end(void)
{
	struct timespec span = {.tv_sec = 2};
	pid_t helper, me = getpid();
	long gone_on = 0, end;
	int ends[2];

	CHECK_CALL(pipe(ends));
	helper = check_fork();
	if (helper == 0) {
		process_gets(me, 'S');
		kill(me, SIGSTOP);
		process_gets(me, 'T');
		check_sleep(2100 * MS);
		gone_on = check_now();
		kill(me, SIGCONT);
		CHECK_EQ(write(ends[1], &gone_on, sizeof(gone_on)), sizeof(gone_on));
		_exit(!!check_failures);
	}
	CHECK_EQ(nanosleep(&span, NULL), 0);
	end = check_now();
	CHECK_EQ(read(ends[0], &gone_on, sizeof(gone_on)), sizeof(gone_on));
	CHECK_RANGE(end - gone_on, 0, 1900 * MS);
	CHECK_EQ(check_wait(helper), 0);
}

/* Called by a program without an interrupted call, restart_syscall says EINTR. */
static void nothing_to_restart(void)
{
	CHECK_ERRNO(check_syscall(SYS_restart_syscall, 0, 0, 0, 0, 0, 0), EINTR);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"restart", with_restart},
		{"no-restart", without_restart},
		{"over-a-stop", over_a_stop},
		{"ignored", not_by_ignored},
		{"remaining", remaining},
		{"stopped-over-the-end", stopped_over_the_end},
		{"nothing-to-restart", nothing_to_restart},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
