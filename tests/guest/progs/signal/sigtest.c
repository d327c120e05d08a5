/* sigtest: signals as POSIX and Linux have them. */
#include <check.h>
#include <numbers.h>
#include <vectors.h>
#include <signal.h>

#define BIT_OF(sig) (1UL << ((sig)-1))

static volatile sig_atomic_t seen[NSIG], depth, deepest;

static void on_signal(int sig)
{
	seen[sig]++;
}

static void handle(int sig, void (*handler)(int), unsigned long flags, sigset_t mask)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags, .sa_mask = mask};

	CHECK_CALL(sigaction(sig, &act, NULL));
}

static void handler_runs(void)
{
	struct sigaction old;

	handle(SIGUSR1, on_signal, 0, 0);
	CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(seen[SIGUSR1], 1);
	CHECK_CALL(sigaction(SIGUSR1, NULL, &old));
	CHECK(old.sa_handler == on_signal);
	handle(SIGUSR1, on_signal, SA_RESETHAND, 0);
	raise(SIGUSR1);
	CHECK_CALL(sigaction(SIGUSR1, NULL, &old));
	CHECK(old.sa_handler == SIG_DFL);
	CHECK_EQ(seen[SIGUSR1], 2);
}

static void masked_waits(void)
{
	sigset_t mask = BIT_OF(SIGUSR1), old, pending = 0;

	handle(SIGUSR1, on_signal, 0, 0);
	CHECK_CALL(sigprocmask(SIG_BLOCK, &mask, &old));
	raise(SIGUSR1);
	raise(SIGUSR1); /* the same standard signal is pending once */
	CHECK_EQ(seen[SIGUSR1], 0);
	CHECK_CALL(check_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0));
	CHECK_EQ(pending, BIT_OF(SIGUSR1));
	CHECK_CALL(sigprocmask(SIG_SETMASK, &old, NULL));
	CHECK_EQ(seen[SIGUSR1], 1);
	mask = ~0UL; /* these two cannot be blocked */
	CHECK_CALL(sigprocmask(SIG_SETMASK, &mask, NULL));
	CHECK_CALL(sigprocmask(SIG_SETMASK, NULL, &old));
	CHECK_EQ(old & (BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)), 0);
}

static void nest(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	seen[sig]++;
	if (sig == SIGUSR1 && seen[SIGUSR1] == 1) {
		raise(SIGUSR1); /* blocked until we return */
		CHECK_EQ(seen[SIGUSR1], 1);
		raise(SIGUSR2); /* not blocked: comes inside */
		CHECK_EQ(seen[SIGUSR2], 1);
	}
	depth--;
}

static void nested(void)
{
	handle(SIGUSR1, nest, 0, 0);
	handle(SIGUSR2, nest, 0, 0);
	raise(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 2);
	CHECK_EQ(deepest, 2);
}

static void once_more(int sig)
{
	if (++seen[sig] < 5)
		raise(sig);
}

static void not_deferred(void)
{
	handle(SIGUSR1, once_more, SA_NODEFER, 0);
	raise(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 5);
}

/* By a child: the parent sleeps, in the call that is to be interrupted. */
static void wait_asleep(pid_t pid)
{
	while (thread_state(pid, pid) != 'S')
		check_sleep(1000000);
}

static int handled[2]; /* a pipe */

static void on_signal_tell(int sig)
{
	seen[sig]++;
	check_give(handled[1], 'h');
}

/* A child that signals us while we wait in read(), and writes when the handler has run. Returns what read() gave. */
static ssize_t interrupted_read(unsigned long flags, int *error)
{
	int ends[2];
	pid_t pid, parent = getpid();
	ssize_t n;
	char c = 0;

	seen[SIGUSR1] = 0;
	handle(SIGUSR1, on_signal_tell, flags, 0);
	CHECK_CALL(pipe(ends));
	CHECK_CALL(pipe(handled));
	pid = check_fork();
	if (pid == 0) {
		wait_asleep(parent);
		kill(parent, SIGUSR1);
		check_take(handled[0]);
		wait_asleep(parent); /* in read() again, or waiting for us */
		check_give(ends[1], 'x');
		_exit(0);
	}
	n = read(ends[0], &c, 1);
	*error = errno;
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(seen[SIGUSR1], 1);
	return n;
}

static void restart(void)
{
	int error;

	CHECK_EQ(interrupted_read(SA_RESTART, &error), 1);
	CHECK_EQ(interrupted_read(0, &error), -1);
	CHECK_EQ(error, EINTR);
}

static void sleep_interrupted(void)
{
	struct timespec span = {.tv_sec = 5}, left = {0};
	pid_t parent = getpid(), pid;

	handle(SIGUSR1, on_signal, 0, 0);
	pid = check_fork();
	if (pid == 0) {
		wait_asleep(parent);
		kill(parent, SIGUSR1);
		_exit(0);
	}
	CHECK_ERRNO(nanosleep(&span, &left), EINTR);
	CHECK_RANGE(left.tv_sec, 1, 4);
	CHECK_EQ(check_wait(pid), 0);
}

static void child_ends(void)
{
	pid_t pid;

	handle(SIGCHLD, on_signal, 0, 0);
	pid = check_fork();
	if (pid == 0)
		_exit(0);
	while (!seen[SIGCHLD])
		check_sleep(1000000);
	CHECK_EQ(check_wait(pid), 0);
	/* Ignored: children vanish by themselves. */
	handle(SIGCHLD, SIG_IGN, 0, 0);
	pid = check_fork();
	if (pid == 0)
		_exit(3);
	CHECK_ERRNO(waitpid(pid, NULL, 0), ECHILD);
}

static void spin(void)
{
	for (;;)
		;
}

static void stop_and_continue(void)
{
	int status = 0;
	pid_t pid = check_fork();

	if (pid == 0)
		spin();
	CHECK_CALL(kill(pid, SIGSTOP));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(WSTOPSIG(status), SIGSTOP);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	CHECK_CALL(kill(pid, SIGCONT));
	CHECK_EQ(waitpid(pid, &status, WCONTINUED), pid);
	CHECK(WIFCONTINUED(status));
	CHECK_CALL(kill(pid, SIGTERM));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WTERMSIG(status), SIGTERM);
}

/* A stopped task can be killed. */
static void kill_stopped(void)
{
	int status = 0;
	pid_t pid = check_fork();

	if (pid == 0)
		spin();
	CHECK_CALL(kill(pid, SIGSTOP));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK_CALL(kill(pid, SIGKILL));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WTERMSIG(status), SIGKILL);
}

static void bad_arguments(void)
{
	struct sigaction act = {.sa_handler = on_signal};

	CHECK_ERRNO(sigaction(SIGKILL, &act, NULL), EINVAL);
	CHECK_ERRNO(sigaction(SIGSTOP, &act, NULL), EINVAL);
	CHECK_ERRNO(sigaction(0, &act, NULL), EINVAL);
	CHECK_ERRNO(sigaction(NSIG, &act, NULL), EINVAL);
	CHECK_CALL(sigaction(NSIG - 1, &act, NULL)); /* the last signal of all */
	CHECK_CALL(signal(NSIG - 1, SIG_DFL) == SIG_ERR ? -1 : 0);
	CHECK_ERRNO(kill(getpid(), -1), EINVAL);
	CHECK_ERRNO(kill(getpid(), NSIG), EINVAL);
	CHECK_ERRNO(kill(0x3ffffff, 0), ESRCH);
	CHECK_EQ(kill(getpid(), 0), 0);
	CHECK_ERRNO(sigprocmask(17, &act.sa_mask, NULL), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_rt_sigaction, SIGUSR1, (long)&act, 0, 4, 0, 0), EINVAL);
}

/* What the compiler keeps in registers across a signal is what it was: sums under a rain of signals. */
static void registers_survive(void)
{
	pid_t parent = getpid(), pid;
	unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, n = 0;

	handle(SIGUSR1, on_signal, 0, 0);
	pid = check_fork();
	if (pid == 0)
		for (;;)
			if (kill(parent, SIGUSR1))
				_exit(1);
	while (seen[SIGUSR1] < 300 || n < 100000) {
		a += 1, b += 2, c += 3, d += 4, e += 5, f += 6, n++;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(n));
	}
	CHECK_CALL(kill(pid, SIGKILL));
	check_wait(pid);
	CHECK_EQ(a, 1 + n);
	CHECK_EQ(b, 2 + 2 * n);
	CHECK_EQ(c, 3 + 3 * n);
	CHECK_EQ(d, 4 + 4 * n);
	CHECK_EQ(e, 5 + 5 * n);
	CHECK_EQ(f, 6 + 6 * n);
}

static void spoil_vectors(int sig)
{
	vectors_set(0x5555555555555555);
	seen[sig]++;
}

/* Vector registers too are as before when the handler returns. */
static void vectors_survive(void)
{
	handle(SIGUSR1, spoil_vectors, 0, 0);
	vectors_set(0x1234567812345678);
	CHECK_EQ(vt_syscall(SYS_kill, getpid(), SIGUSR1, 0, 0, 0, 0), 0);
	vectors_check(0x1234567812345678);
	CHECK_EQ(seen[SIGUSR1], 1);
}

static void on_alarm_stack(int sig)
{
	seen[sig]++;
}

/* No room for the frame: the task dies of SIGSEGV, whatever handler it has for that. */
static void no_stack(void)
{
	handle(SIGSEGV, on_alarm_stack, 0, 0);
	handle(SIGUSR1, on_alarm_stack, 0, 0);
#ifdef __aarch64__
	__asm__ volatile(
		"mov x9, #64\n mov x8, %0\n mov x0, %1\n mov x1, %2\n mov sp, x9\n svc #0" ::"r"((long)SYS_kill),
		"r"((long)getpid()), "r"((long)SIGUSR1)
		: "x0", "x1", "x8", "x9");
#else
	__asm__ volatile("mov $64, %%rsp\n syscall" ::"a"(SYS_kill), "D"(getpid()), "S"(SIGUSR1) : "rcx", "r11");
#endif
	_exit(0);
}

static void no_room_for_frame(void)
{
	int status = check_in_child(no_stack);

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGSEGV);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"handler", handler_runs},
		{"masked", masked_waits},
		{"nested", nested},
		{"not-deferred", not_deferred},
		{"restart", restart},
		{"sleep", sleep_interrupted},
		{"sigchld", child_ends},
		{"stop-continue", stop_and_continue},
		{"kill-stopped", kill_stopped},
		{"bad-arguments", bad_arguments},
		{"registers", registers_survive},
		{"vectors", vectors_survive},
		{"no-room", no_room_for_frame},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
