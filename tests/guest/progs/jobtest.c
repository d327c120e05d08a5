/* jobtest: waiting for children, stops, orphans, process groups and sessions. */
/* also on Linux */
#include <posix.h>

static volatile sig_atomic_t seen[NSIG];
static siginfo_t infos[16];
static int n_infos;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
	infos[n_infos++ % 16] = *info;
}

static void sleep_on(void)
{
	for (;;)
		check_sleep(1000 * MS);
}

/* A child that sleeps until it is told otherwise. */
static pid_t sleeper(void)
{
	pid_t pid = check_fork();

	if (pid == 0)
		sleep_on();
	process_gets(pid, 'S');
	return pid;
}

static pid_t exits_with(int code)
{
	pid_t pid = check_fork();

	if (pid == 0)
		_exit(code);
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, SIGKILL);
}

/* --- wait statuses and options --- */

static void statuses(void)
{
	struct rlimit none = {0, 0};
	int status;

	CHECK_CALL(setrlimit(RLIMIT_CORE, &none));
	for (int code = -1; code < 259; code += 26)
		CHECK_EQ(check_wait(exits_with(code)), (code & 255) << 8);
	for (int sig = 1; sig < NSIG; sig++) {
		pid_t pid;

		if (sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH || sig == SIGSTOP ||
		    sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU || sig == 32 || sig == 33)
			continue; /* do nothing or stop; glibc has two of its own */
		pid = sleeper();
		CHECK_CALL(kill(pid, sig));
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFSIGNALED(status));
		CHECK_EQ(WTERMSIG(status), sig);
	}
}

/* Zombies are found by number and by group; with WNOWAIT they stay. */
static void which(void)
{
	pid_t a = sleeper(), b = sleeper(), c = sleeper(), other;
	siginfo_t info;
	int status;

	CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
	memset(&info, 0xff, sizeof(info));
	CHECK_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG), 0);
	CHECK_EQ(info.si_pid, 0);
	CHECK_EQ(info.si_signo, 0);
	CHECK_CALL(setpgid(c, c));
	CHECK_CALL(kill(b, SIGTERM));
	process_gets(b, 'Z');
	CHECK_CALL(kill(a, SIGINT));
	process_gets(a, 'Z');
	CHECK_EQ(waitpid(c, &status, WNOHANG), 0);
	CHECK_EQ(waitpid(-c, &status, WNOHANG), 0);
	CHECK_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
	CHECK(info.si_pid == a || info.si_pid == b); /* the order is nobody's promise */
	CHECK_EQ(waitid(P_PID, a, &info, WEXITED | WNOWAIT), 0);
	CHECK_EQ(info.si_signo, SIGCHLD);
	CHECK_EQ(info.si_code, CLD_KILLED);
	CHECK_EQ(info.si_status, SIGINT);
	CHECK_EQ(info.si_pid, a);
	CHECK_EQ(info.si_uid, getuid());
	other = waitpid(0, &status, 0);
	CHECK_EQ(status, other == a ? SIGINT : SIGTERM);
	CHECK_EQ(waitpid(-1, &status, 0), a + b - other);
	CHECK_EQ(status, other == b ? SIGINT : SIGTERM);
	CHECK_EQ(waitpid(0, &status, WNOHANG), -1); /* c is in another group */
	CHECK_ERRNO(waitpid(a, &status, 0), ECHILD);
	CHECK_CALL(kill(c, SIGHUP));
	CHECK_EQ(waitid(P_PGID, c, &info, WEXITED), 0);
	CHECK_EQ(info.si_pid, c);
	CHECK_ERRNO(waitid(P_PGID, c, &info, WEXITED), ECHILD);
	CHECK_ERRNO(waitid(P_ALL, 0, &info, WEXITED), ECHILD);
}

static void bad_waits(void)
{
	siginfo_t info;
	pid_t pid = exits_with(3);

	process_gets(pid, 'Z');
	CHECK_ERRNO(waitid(P_PID, pid, &info, WNOHANG), EINVAL); /* for what? */
	CHECK_ERRNO(waitid(P_PID, pid, &info, WEXITED | 0x100), EINVAL);
	CHECK_ERRNO(waitid(P_PID, 0, &info, WEXITED), EINVAL);
	CHECK_ERRNO(waitid(P_PGID, -1, &info, WEXITED), EINVAL);
	CHECK_ERRNO(waitid(17, pid, &info, WEXITED), EINVAL);
	CHECK_ERRNO(waitpid(pid, NULL, WNOWAIT), EINVAL); /* waitid's alone */
	CHECK_ERRNO(waitpid(pid, NULL, WEXITED), EINVAL);
	CHECK_ERRNO(waitpid(getppid(), NULL, WNOHANG), ECHILD);
	CHECK_ERRNO(waitpid(-getpgrp() - 1000000, NULL, WNOHANG), ECHILD);
	CHECK_ERRNO(waitid(P_PID, pid, &info, WSTOPPED), ECHILD); /* it can stop no more */
	CHECK_EQ(waitid(P_PID, pid, &info, WEXITED), 0);
	CHECK_EQ(info.si_code, CLD_EXITED);
	CHECK_EQ(info.si_status, 3);
}

static void stop_reports(void)
{
	pid_t pid = sleeper();
	siginfo_t info;
	int status;

	CHECK_CALL(kill(pid, SIGSTOP));
	process_gets(pid, 'T');
	CHECK_EQ(waitpid(pid, &status, WNOHANG), 0); /* not asked for */
	CHECK_EQ(waitpid(pid, &status, WNOHANG | WCONTINUED), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT), 0);
		CHECK_EQ(info.si_code, CLD_STOPPED);
		CHECK_EQ(info.si_status, SIGSTOP);
		CHECK_EQ(info.si_pid, pid);
	}
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGSTOP << 8 | 0x7f);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0); /* once */
	CHECK_CALL(kill(pid, SIGCONT));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(waitid(P_PID, pid, &info, WCONTINUED | WNOWAIT), 0);
		CHECK_EQ(info.si_code, CLD_CONTINUED);
		CHECK_EQ(info.si_status, SIGCONT);
	}
	CHECK_EQ(waitpid(pid, &status, WCONTINUED), pid);
	CHECK(WIFCONTINUED(status));
	CHECK_EQ(waitpid(pid, &status, WCONTINUED | WNOHANG), 0);
	CHECK_CALL(kill(pid, SIGCONT)); /* it runs: no news */
	CHECK_EQ(waitpid(pid, &status, WCONTINUED | WNOHANG), 0);
	finish(pid);
}

/* A child that tells its end by another signal than SIGCHLD, or none, is not waited for without a flag for it. */
static void clones(void)
{
	int status;
	long pid;

	handle_with(SIGCHLD, on_signal, 0, NULL);
	handle_with(SIGUSR1, on_signal, 0, NULL);
	for (int sig = 0; sig <= SIGUSR1; sig += SIGUSR1) {
		fflush(stdout);
		pid = vt_syscall(NR_clone, sig, 0, 0, 0, 0, 0);
		if (pid == 0)
			vt_syscall(NR_exit_group, 4, 0, 0, 0, 0, 0);
		process_gets((pid_t)pid, 'Z');
		CHECK_ERRNO(waitpid(-1, &status, 0), ECHILD);
		CHECK_EQ(check_syscall(NR_wait4, sig ? pid : -1, (long)&status, sig ? __WALL : (long)__WCLONE, 0, 0, 0), pid);
		CHECK_EQ(status, 4 << 8);
	}
	CHECK_EQ(seen[SIGCHLD], 0);
	CHECK_EQ(seen[SIGUSR1], 1);
}

/* --- SIGCHLD --- */

static void info_is(int i, pid_t pid, int code, int status)
{
	CHECK_EQ(infos[i].si_signo, SIGCHLD);
	CHECK_EQ(infos[i].si_pid, pid);
	CHECK_EQ(infos[i].si_code, code);
	CHECK_EQ(infos[i].si_status, status);
	CHECK_EQ(infos[i].si_uid, getuid());
}

static void wait_seen(int sig, int n)
{
	for (int i = 0; i < 2000 && seen[sig] < n; i++)
		check_sleep(MS);
	CHECK_EQ(seen[sig], n);
}

static void told(void)
{
	pid_t pid;

	handle_with(SIGCHLD, on_signal, 0, NULL);
	pid = sleeper();
	kill(pid, SIGSTOP);
	wait_seen(SIGCHLD, 1);
	kill(pid, SIGCONT);
	wait_seen(SIGCHLD, 2);
	kill(pid, SIGTERM);
	wait_seen(SIGCHLD, 3);
	info_is(0, pid, CLD_STOPPED, SIGSTOP);
	info_is(1, pid, CLD_CONTINUED, SIGCONT);
	info_is(2, pid, CLD_KILLED, SIGTERM);
	CHECK_EQ(check_wait(pid), SIGTERM);
	pid = exits_with(9);
	wait_seen(SIGCHLD, 4);
	info_is(3, pid, CLD_EXITED, 9);
	CHECK_EQ(check_wait(pid), 9 << 8);
}

/* SA_NOCLDSTOP: of ends only; waiting shows stops all the same. */
static void not_of_stops(void)
{
	pid_t pid;
	int status;

	handle_with(SIGCHLD, on_signal, SA_NOCLDSTOP, NULL);
	pid = sleeper();
	kill(pid, SIGSTOP);
	do {
	} while (waitpid(pid, &status, WUNTRACED) < 0);
	CHECK(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	CHECK_EQ(waitpid(pid, &status, WCONTINUED), pid);
	CHECK_EQ(seen[SIGCHLD], 0);
	kill(pid, SIGTERM);
	wait_seen(SIGCHLD, 1);
	info_is(0, pid, CLD_KILLED, SIGTERM);
	CHECK_EQ(check_wait(pid), SIGTERM);
}

static void gone(pid_t pid)
{
	for (int i = 0; i < 2000 && !kill(pid, 0); i++)
		check_sleep(MS);
	CHECK_ERRNO(kill(pid, 0), ESRCH);
}

/* Ignored, or with SA_NOCLDWAIT: children leave no zombies, and a wait lasts until the last of them has gone. */
static void no_zombies(void)
{
	pid_t pid, other;
	long start;

	pid = exits_with(1);
	process_gets(pid, 'Z');
	signal(SIGCHLD, SIG_IGN);
	CHECK_EQ(check_wait(pid), 1 << 8); /* it was dead before: it stays */
	gone(exits_with(2));
	start = check_now();
	other = check_fork();
	if (other == 0) {
		check_sleep(20 * MS);
		_exit(0);
	}
	gone(exits_with(2));
	CHECK_ERRNO(wait(NULL), ECHILD); /* not before its end, which it may yet be busy with */
	CHECK(check_now() - start >= 20 * MS);
	gone(other);
	handle_with(SIGCHLD, on_signal, SA_NOCLDWAIT, NULL);
	gone(exits_with(2));
	CHECK_EQ(seen[SIGCHLD], 1); /* the signal comes */
	info_is(0, infos[0].si_pid, CLD_EXITED, 2);
	CHECK_ERRNO(wait(NULL), ECHILD);
	signal(SIGCHLD, SIG_DFL); /* which does nothing, too, but keeps them */
	pid = exits_with(5);
	process_gets(pid, 'Z');
	CHECK_EQ(check_wait(pid), 5 << 8);
}

/* --- whose children they become --- */

/* Its child's child is handed over through a pipe. */
static pid_t grandchild(void (*middle)(pid_t pid), int *how)
{
	int ends[2], status;
	pid_t child, pid = 0;

	CHECK_CALL(pipe(ends));
	child = check_fork();
	if (child == 0) {
		pid = check_fork();
		if (pid == 0) {
			if (*how >= 0)
				_exit(*how);
			sleep_on();
		}
		CHECK_EQ(write(ends[1], &pid, sizeof(pid)), sizeof(pid));
		middle(pid);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void when_dead(pid_t pid)
{
	process_gets(pid, 'Z');
}

static void when_asleep(pid_t pid)
{
	process_gets(pid, 'S');
}

/* Of a dead child that nobody waited for: process 1 does. */
static void to_init(void)
{
	int code = 7;

	gone(grandchild(when_dead, &code));
	CHECK_ERRNO(wait(NULL), ECHILD);
}

/* A subreaper inherits the living and the dead, is told of the dead, and waits for them. */
static void to_subreaper(void)
{
	int code = 7, status, is = 0;
	sigset_t set = SET_OF(SIGCHLD);
	struct timespec now = {0};
	siginfo_t info;
	pid_t pid;

	CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	CHECK_CALL(prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)&is, 0, 0, 0));
	CHECK_EQ(is, 1);
	pid = grandchild(when_dead, &code);
	CHECK_EQ(waitpid(-1, &status, 0), pid);
	CHECK_EQ(status, 7 << 8);
	code = -1;
	pid = grandchild(when_asleep, &code);
	CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
	change_mask(SIG_BLOCK, set);
	while (sigtimedwait(&set, &info, &now) > 0)
		;
	kill(pid, SIGTERM);
	CHECK_EQ(taken(&set, &info), SIGCHLD);
	CHECK_EQ(info.si_pid, pid);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, SIGTERM);
	/* It tells of one that was dead when it came, and does not keep it when it wants none. */
	code = 9;
	signal(SIGCHLD, SIG_IGN);
	{
		int ends[2];
		pid_t child;

		CHECK_CALL(pipe(ends));
		child = check_fork();
		if (child == 0) {
			signal(SIGCHLD, SIG_DFL);
			pid = check_fork();
			if (pid == 0)
				_exit(9);
			process_gets(pid, 'Z');
			CHECK_EQ(write(ends[1], &pid, sizeof(pid)), sizeof(pid));
			_exit(0);
		}
		CHECK_EQ(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
		gone(pid);
		CHECK_ERRNO(wait(NULL), ECHILD);
	}
	if (check_fork() == 0) { /* a child is none by itself */
		prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)&is, 0, 0, 0);
		_exit(is);
	}
	wait(NULL);
}

/* The signal that a child has asked for when its parent ends. */
static void parent_ends(void)
{
	int ends[2], ready[2];
	pid_t child;

	CHECK_CALL(pipe(ends));
	CHECK_CALL(pipe(ready));
	child = check_fork();
	if (child == 0) {
		if (check_fork() == 0) {
			sigset_t set = SET_OF(SIGUSR2);
			siginfo_t info;

			BLOCK(SIGUSR2);
			CHECK_CALL(prctl(PR_SET_PDEATHSIG, SIGUSR2, 0, 0, 0));
			check_give(ready[1], 'r');
			CHECK_EQ(taken(&set, &info), SIGUSR2);
			check_give(ends[1], check_failures ? '?' : 'd');
			_exit(0);
		}
		check_take(ready[0]);
		_exit(0);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(check_take(ends[0]), 'd');
}

/* --- stops and SIGCONT --- */

/* Each undoes the other when it is sent, blocked or not. */
static void cancel_each_other(void)
{
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

	BLOCK(SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU);
	handle_with(SIGCONT, on_signal, 0, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		raise(SIGCONT);
		CHECK(pending(SIGCONT));
		raise(stops[i]); /* to the thread; the other was, too */
		CHECK(pending(stops[i]) && !pending(SIGCONT));
		kill(getpid(), SIGCONT);
		CHECK(!pending(stops[i]) && pending(SIGCONT));
		kill(getpid(), stops[i]);
		CHECK(pending(stops[i]) && !pending(SIGCONT));
	}
	raise(SIGCONT);
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
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	kill(pid, SIGTERM);
	check_sleep(10 * MS);
	CHECK_EQ(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	CHECK_EQ(thread_state(pid, pid), 'T');
	kill(pid, SIGSTOP); /* stopped already */
	CHECK_EQ(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	kill(pid, SIGCONT);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, SIGTERM);

	pid = sleeper();
	kill(pid, SIGSTOP);
	process_gets(pid, 'T');
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
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

/* SIGSTOP always stops; the terminal's not with a handler, and not in a group that nobody outside could continue. */
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
				CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
				CHECK_EQ(status, stops[i] << 8 | 0x7f);
			} else {
				kill(pid, SIGUSR1); /* it runs, and takes this */
				CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
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
		CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
		CHECK_EQ(status, 0);
	}
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
 * A shell that starts a group of two and ends. `stop`: one of them is stopped then. What the two got: HUPS and CONTS.
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
		for (int i = 0; stop && i < 2000 && shared[HUPS] + shared[CONTS] < 4; i++)
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

/* The first of a group ends, and was the only one whose parent is outside of it: what it leaves stopped is told. */
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
		for (int i = 0; i < 2000 && shared[HUPS] + shared[CONTS] < 2; i++)
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
	for (int i = 0; i < 2000 && setpgid(pid, getpgrp()) == 0; i++)
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
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_ERRNO(kill(-0x3ffffff, SIGTERM), ESRCH);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"statuses", statuses},
		{"which", which},
		{"bad-waits", bad_waits},
		{"stop-reports", stop_reports},
		{"clones", clones},
		{"told", told},
		{"not-of-stops", not_of_stops},
		{"no-zombies", no_zombies},
		{"to-init", to_init},
		{"to-subreaper", to_subreaper},
		{"parent-ends", parent_ends},
		{"cancel-each-other", cancel_each_other},
		{"while-stopped", while_stopped},
		{"handled-when-it-goes-on", handled_when_it_goes_on},
		{"continued-though-blocked", continued_though_blocked},
		{"who-stops", who_stops},
		{"orphaned", orphaned},
		{"numbers", numbers},
		{"after-exec", after_exec},
		{"to-groups", to_groups},
		{"own-group", own_group},
	};

	if (argc == 2 && !strcmp(argv[1], "sleep"))
		sleep_on();
	check_seconds = 10;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
