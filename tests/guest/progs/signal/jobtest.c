/* jobtest: stops, orphaned groups, process groups and sessions. */
/* also on Linux */
#include <posix.h>

static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

/* --- stops and SIGCONT --- */

/* Each undoes the other when it is sent, blocked or not. */
static void cancel_each_other(void)
{
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

	BLOCK(SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU);
	handle_with(SIGCONT, on_signal, 0, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		tgkill(getpid(), gettid(), SIGCONT);
		CHECK(pending(SIGCONT));
		tgkill(getpid(), gettid(), stops[i]); /* to the thread; the other was, too */
		CHECK(pending(stops[i]) && !pending(SIGCONT));
		kill(getpid(), SIGCONT);
		CHECK(!pending(stops[i]) && pending(SIGCONT));
		kill(getpid(), stops[i]);
		CHECK(pending(stops[i]) && !pending(SIGCONT));
	}
	tgkill(getpid(), gettid(), SIGCONT);
	CHECK(!pending(SIGTSTP) && !pending(SIGTTIN) && !pending(SIGTTOU));
}

static void marks(int fd, int sig)
{
	handle_with(sig, on_signal, 0, NULL);
	for (;;) {
		sigset_t none = SET_OF(0);

		BLOCK(SIGUSR1, SIGCONT);
		while (!seen[sig])
			sigsuspend(&none);
		seen[sig] = 0;
		check_give(fd, 'm');
	}
}

/* What is sent to a stopped process waits for SIGCONT, and only SIGKILL does not. */
static void while_stopped(void)
{
	pid_t pid = sleeper();
	int status;

	kill(pid, SIGSTOP);
	process_gets(pid, 'T');
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	kill(pid, SIGTERM);
	check_sleep(10 * MS);
	CHECK_EQ(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	CHECK_EQ(thread_state(pid, pid), 'T');
	kill(pid, SIGSTOP); /* stopped already */
	CHECK_EQ(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	kill(pid, SIGCONT);
	CHECK_EQ(news_of(pid, &status, 0), pid);
	CHECK_EQ(status, SIGTERM);

	pid = sleeper();
	kill(pid, SIGSTOP);
	process_gets(pid, 'T');
	kill(pid, SIGKILL);
	CHECK_EQ(news_of(pid, &status, 0), pid);
	CHECK_EQ(status, SIGKILL);
}

/* A handler runs when the process goes on, not before. */
static void handled_when_it_goes_on(void)
{
	int ends[2];
	struct pollfd p;
	pid_t pid;

	CHECK_CALL(pipe(ends));
	p = (struct pollfd){ends[0], POLLIN, 0};
	BLOCK(SIGUSR1);
	pid = check_fork();
	if (pid == 0)
		marks(ends[1], SIGUSR1);
	process_gets(pid, 'S');
	kill(pid, SIGSTOP);
	process_gets(pid, 'T');
	kill(pid, SIGUSR1);
	CHECK_EQ(poll(&p, 1, 10), 0);
	kill(pid, SIGCONT);
	CHECK_EQ(check_take(ends[0]), 'm');
	finish(pid);
}

/* SIGCONT continues even who blocks it, and then its handler waits. */
static void continued_though_blocked(void)
{
	pid_t pid;

	BLOCK(SIGCONT);
	pid = sleeper();
	kill(pid, SIGSTOP);
	process_gets(pid, 'T');
	kill(pid, SIGCONT);
	process_gets(pid, 'S');
	finish(pid);
}

static void stopped_by(int sig, bool handler)
{
	sigset_t none = SET_OF(0);

	signal(SIGTERM, SIG_DFL);
	if (handler)
		handle_with(sig, on_signal, 0, NULL);
	while (!seen[sig])
		sigsuspend(&none);
	_exit(0);
}

/* SIGSTOP always stops; the terminal's not with a handler, and not in a group that nobody outside could
 * continue. */
static void who_stops(void)
{
	static const int stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		for (int orphan = 0; orphan < 2; orphan++) {
			pid_t pid = check_fork();

			if (pid == 0) {
				if (orphan)
					setsid();
				else
					setpgid(0, 0);
				stopped_by(SIGUSR1, true);
			}
			process_gets(pid, 'S');
			CHECK_CALL(kill(pid, stops[i]));
			if (!orphan || stops[i] == SIGSTOP) {
				CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
				CHECK_EQ(status, stops[i] << 8 | 0x7f);
			} else {
				kill(pid, SIGUSR1); /* it runs, and takes this */
				CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
				CHECK_EQ(status, 0);
				continue;
			}
			finish(pid);
		}
	for (size_t i = 1; i < ARRAY_SIZE(stops); i++) {
		pid_t pid = check_fork();

		if (pid == 0) {
			setpgid(0, 0);
			stopped_by(stops[i], true);
		}
		process_gets(pid, 'S');
		kill(pid, stops[i]);
		CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
		CHECK_EQ(status, 0);
	}
}

/*
 * SIGCONT that comes when the stop signal has been taken and the stop has not begun: the process must not be left
 * standing. The time between the two signals is swept.
 */
static void raced(void)
{
	volatile long *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = check_fork();

	if (pid == 0) {
		setpgid(0, 0);
		for (;;)
			++*count;
	}
	setpgid(pid, pid);
	for (int i = 0; i < 1000; i++) {
		long before, end;

		kill(pid, SIGTSTP);
		for (volatile int wait = 0; wait < i % 250 * 8; wait++)
			;
		kill(pid, SIGCONT);
		before = *count;
		end = check_now() + 20000 * MS;
		while (*count == before && check_now() < end)
			check_sleep(MS / 10);
		if (!CHECK(*count != before)) {
			printf("  SIGCONT left it in state %c, in round %d\n", thread_state(pid, pid), i);
			break;
		}
	}
	kill(pid, SIGKILL);
}

/* --- groups that lose who could continue them --- */

static int *shared;
enum { HUPS, CONTS, READY, PIDS = 8 };

static void count_hup(int sig, siginfo_t *info, void *context)
{
	__atomic_add_fetch(&shared[HUPS], 1, __ATOMIC_SEQ_CST);
}

static void count_cont(int sig, siginfo_t *info, void *context)
{
	__atomic_add_fetch(&shared[CONTS], 1, __ATOMIC_SEQ_CST);
}

/* A member of the group pgid (0: its first). */
static pid_t member(pid_t pgid)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		setpgid(0, pgid);
		handle_with(SIGHUP, count_hup, 0, NULL);
		handle_with(SIGCONT, count_cont, 0, NULL);
		__atomic_add_fetch(&shared[READY], 1, __ATOMIC_SEQ_CST);
		sleep_on();
	}
	setpgid(pid, pgid ? pgid : pid);
	return pid;
}

/*
 * A shell that starts a group of two and ends. `stop`: one of them is stopped then. What the two got: HUPS
 * and CONTS.
 */
static void shell_ends(bool stop)
{
	pid_t shell;

	memset(shared, 0, 4096);
	shell = check_fork();
	if (shell == 0) {
		setsid();
		if (check_fork() == 0) { /* in the session, not its leader, whose end would be another matter */
			setpgid(0, 0);
			shared[PIDS] = member(0);
			shared[PIDS + 1] = member(shared[PIDS]);
			while (shared[READY] < 2)
				check_sleep(MS);
			process_gets(shared[PIDS], 'S');
			process_gets(shared[PIDS + 1], 'S');
			if (stop) {
				kill(shared[PIDS], SIGSTOP);
				process_gets(shared[PIDS], 'T');
			}
			_exit(check_failures ? 1 : 0);
		}
		wait(NULL);
		for (int i = 0; stop && i < 20000 && shared[HUPS] + shared[CONTS] < 4; i++)
			check_sleep(MS);
		check_sleep(10 * MS);
		_exit(0);
	}
	CHECK_EQ(check_wait(shell), 0);
	CHECK_EQ(shared[HUPS], stop ? 2 : 0);
	CHECK_EQ(shared[CONTS], stop ? 2 : 0);
	kill(shared[PIDS], SIGKILL);
	kill(shared[PIDS + 1], SIGKILL);
}

/* The first of a group ends, and was the only one whose parent is outside of it: what it leaves stopped is
 * told. */
static void first_ends(void)
{
	pid_t shell;

	memset(shared, 0, 4096);
	shell = check_fork();
	if (shell == 0) {
		pid_t first;

		setsid();
		first = check_fork();
		if (first == 0) {
			setpgid(0, 0);
			shared[PIDS] = member(getpid());
			while (shared[READY] < 1)
				check_sleep(MS);
			process_gets(shared[PIDS], 'S');
			kill(shared[PIDS], SIGSTOP);
			process_gets(shared[PIDS], 'T');
			_exit(check_failures ? 1 : 0);
		}
		CHECK_EQ(check_wait(first), 0);
		for (int i = 0; i < 20000 && shared[HUPS] + shared[CONTS] < 2; i++)
			check_sleep(MS);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(check_wait(shell), 0);
	CHECK_EQ(shared[HUPS], 1);
	CHECK_EQ(shared[CONTS], 1);
	kill(shared[PIDS], SIGKILL);
}

static void orphaned(void)
{
	pid_t bystander = sleeper();

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shell_ends(true);
	first_ends();
	shell_ends(false);
	kill(bystander, SIGSTOP); /* another group's stop is another matter */
	process_gets(bystander, 'T');
	shell_ends(false);
	finish(bystander);
}

/* --- numbers of groups and sessions --- */

static void numbers(void)
{
	pid_t pid, other, me = getpid();
	int go[2];

	CHECK_EQ(getpgrp(), me);
	CHECK_EQ(getpgid(0), me);
	CHECK_EQ(getsid(0), getsid(getppid()));
	CHECK_ERRNO(setsid(), EPERM); /* it leads a group */
	CHECK_ERRNO(getpgid(-5), ESRCH);
	CHECK_ERRNO(getsid(-5), ESRCH);
	CHECK_ERRNO(setpgid(0, -1), EINVAL);
	CHECK_ERRNO(setpgid(getppid(), 0), ESRCH);
	pid = sleeper();
	CHECK_EQ(getpgid(pid), me);
	CHECK_ERRNO(setpgid(pid, 0x3ffffff), EPERM); /* no such group */
	CHECK_ERRNO(setpgid(pid, getpgid(getppid()) + 0x100000), EPERM);
	CHECK_CALL(setpgid(pid, 0));
	CHECK_EQ(getpgid(pid), pid);
	CHECK_EQ(getsid(pid), getsid(0));
	other = sleeper();
	CHECK_CALL(setpgid(other, pid));
	CHECK_EQ(getpgid(other), pid);
	finish(pid);
	CHECK_CALL(kill(-pid, 0)); /* the group lives on without who it is named for */
	CHECK_CALL(kill(-pid, SIGKILL));
	CHECK_EQ(check_wait(other), SIGKILL);
	CHECK_ERRNO(kill(-pid, 0), ESRCH);

	CHECK_CALL(pipe(go));
	pid = check_fork();
	if (pid == 0) {
		CHECK_EQ(setsid(), getpid());
		CHECK_EQ(getsid(0), getpid());
		CHECK_EQ(getpgrp(), getpid());
		CHECK_ERRNO(setpgid(0, 0), EPERM); /* a session's leader stays */
		CHECK_ERRNO(setpgid(0, me), EPERM);
		CHECK_ERRNO(setsid(), EPERM);
		if (check_fork() == 0) {
			CHECK_ERRNO(setpgid(0, me), EPERM); /* a group of another session */
			check_give(go[1], check_failures ? 'b' : 'g');
			_exit(0);
		}
		sleep_on();
	}
	CHECK_EQ(check_take(go[0]), 'g');
	CHECK_EQ(getsid(pid), pid);
	CHECK_ERRNO(setpgid(pid, me), EPERM); /* our child, not of our session */
	finish(pid);
}

/* One that we have inherited from another session is our child, but has another session's groups. */
static void inherited(void)
{
	int ends[2];
	pid_t pid, child;

	CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	CHECK_CALL(pipe(ends));
	child = check_fork();
	if (child == 0) {
		setsid();
		signal(SIGHUP, SIG_IGN);
		pid = sleeper();
		CHECK_EQ(write(ends[1], &pid, sizeof(pid)), sizeof(pid));
		_exit(0);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	CHECK_ERRNO(setpgid(pid, 0), EPERM);
	CHECK_EQ(getpgid(pid), child);
	finish(pid);
}

/* A child that has started a program has a say of its own about its group. */
static void after_exec(void)
{
	char *const argv[] = {"/proc/self/exe", "sleep", NULL};
	char *const env[] = {NULL};
	pid_t pid = check_fork();

	if (pid == 0) {
		execve(argv[0], argv, env);
		_exit(1);
	}
	for (int i = 0; i < 20000 && setpgid(pid, getpgrp()) == 0; i++)
		check_sleep(MS);
	CHECK_ERRNO(setpgid(pid, pid), EACCES);
	finish(pid);
}

/* kill() of a group, its own, all. */
static void to_groups(void)
{
	pid_t a = sleeper(), b = sleeper(), c = sleeper();
	int status;

	CHECK_CALL(setpgid(a, 0));
	CHECK_CALL(setpgid(b, a));
	CHECK_CALL(kill(-a, SIGTERM));
	CHECK_EQ(check_wait(a), SIGTERM);
	CHECK_EQ(check_wait(b), SIGTERM);
	CHECK_EQ(waitpid(c, &status, WNOHANG), 0);
	finish(c);
}

static void own_group(void)
{
	pid_t pid = check_fork(), child;
	int status;

	if (pid == 0) {
		setpgid(0, 0);
		child = sleeper();
		signal(SIGTERM, SIG_IGN);
		CHECK_CALL(kill(0, SIGTERM));
		CHECK_EQ(check_wait(child), SIGTERM);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(news_of(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_ERRNO(kill(-0x3ffffff, SIGTERM), ESRCH);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"cancel-each-other", cancel_each_other},
		{"while-stopped", while_stopped},
		{"handled-when-it-goes-on", handled_when_it_goes_on},
		{"continued-though-blocked", continued_though_blocked},
		{"who-stops", who_stops},
		{"raced", raced},
		{"orphaned", orphaned},
		{"numbers", numbers},
		{"inherited", inherited},
		{"after-exec", after_exec},
		{"to-groups", to_groups},
		{"own-group", own_group},
	};

	if (argc == 2 && !strcmp(argv[1], "sleep"))
		sleep_on();
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
