/* childtest: waiting for children, SIGCHLD, and whose children they become. */
/* also on Linux */
#include <posix.h>
#include <thread.h>

static volatile sig_atomic_t seen[NSIG];
static siginfo_t infos[16];
static int n_infos;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
	infos[n_infos++ % 16] = *info;
}

/* --- wait statuses and options --- */

static void statuses(void)
{
	struct rlimit none = {0, 0};
	int status;

	CHECK_CALL(setrlimit(RLIMIT_CORE, &none));
	for (int code = -1; code < 259; code += 26)
		CHECK_EQ(check_wait(check_exits_with(code)), (code & 255) << 8);
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
	CHECK(info.si_pid == a || info.si_pid == b); /* either child may be reported first */
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
	pid_t pid = check_exits_with(3);

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
	CHECK_ERRNO(waitid(P_PID, pid, &info, WSTOPPED | WNOHANG), ECHILD); /* it can stop no more */
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
		CHECK_EQ(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT | WNOHANG), 0);
		CHECK_EQ(info.si_code, CLD_STOPPED);
		CHECK_EQ(info.si_status, SIGSTOP);
		CHECK_EQ(info.si_pid, pid);
	}
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGSTOP << 8 | 0x7f);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0); /* once */
	CHECK_CALL(kill(pid, SIGCONT));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(waitid(P_PID, pid, &info, WCONTINUED | WNOWAIT | WNOHANG), 0);
		CHECK_EQ(info.si_code, CLD_CONTINUED);
		CHECK_EQ(info.si_status, SIGCONT);
	}
	CHECK_EQ(news_of(pid, &status, WCONTINUED), pid);
	CHECK(WIFCONTINUED(status));
	CHECK_EQ(waitpid(pid, &status, WCONTINUED | WNOHANG), 0);
	CHECK_CALL(kill(pid, SIGCONT)); /* it runs: no news */
	CHECK_EQ(waitpid(pid, &status, WCONTINUED | WNOHANG), 0);
	finish(pid);
}

/* A child that tells its end by another signal than SIGCHLD, or none, is not waited for without a flag for
 * it. */
static void clones(void)
{
	int status;
	long pid;

	handle_with(SIGCHLD, on_signal, 0, NULL);
	handle_with(SIGUSR1, on_signal, 0, NULL);
	for (int sig = 0; sig <= SIGUSR1; sig += SIGUSR1) {
		fflush(stdout);
		pid = vt_syscall(SYS_clone, sig, 0, 0, 0, 0, 0);
		if (pid == 0)
			vt_syscall(SYS_exit_group, 4, 0, 0, 0, 0, 0);
		process_gets((pid_t)pid, 'Z');
		CHECK_ERRNO(waitpid(-1, &status, 0), ECHILD);
		CHECK_EQ(
			check_syscall(SYS_wait4, sig ? pid : -1, (long)&status, sig ? __WALL : (long)__WCLONE, 0, 0, 0),
			pid);
		CHECK_EQ(status, 4 << 8);
	}
	CHECK_EQ(seen[SIGCHLD], 0);
	CHECK_EQ(seen[SIGUSR1], 1);
}

/* A child that ends with SIGUSR1, when it is told by a byte in the pipe. */
static void clone_that_waits(const int ends[2])
{
	long pid;

	fflush(stdout);
	pid = vt_syscall(SYS_clone, SIGUSR1, 0, 0, 0, 0, 0);
	if (pid == 0) {
		check_take(ends[0]);
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	CHECK_CALL(pid);
}

/* The end of such a child, and what it sends: 1 SIGUSR1, 2 SIGCHLD. Both are blocked. */
static int sent_at_its_end(int tell)
{
	int status;

	check_give(tell, 'e');
	CHECK(check_syscall(SYS_wait4, -1, (long)&status, (long)__WALL, 0, 0, 0) > 0);
	return pending(SIGUSR1) + 2 * pending(SIGCHLD);
}

/*
 * The program that made the child chose the signal. The next one in the same process may have rights that its user does
 * not have, so it gets SIGCHLD whatever was chosen.
 */
static void after_exec(void)
{
	for (int exec = 0; exec < 2; exec++) {
		pid_t pid = check_fork();
		char fd[16];
		int ends[2];

		if (pid) {
			CHECK_EQ(check_wait(pid), (exec ? 2 : 1) << 8);
			continue;
		}
		CHECK_CALL(pipe(ends));
		BLOCK(SIGUSR1, SIGCHLD);
		clone_that_waits(ends);
		if (!exec)
			_exit(sent_at_its_end(ends[1]));
		sprintf(fd, "%d", ends[1]);
		execve("/proc/self/exe", (char *[]){"childtest", "sent-at-its-end", fd, NULL}, (char *[]){NULL});
		_exit(9);
	}
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
	for (int i = 0; i < 20000 && seen[sig] < n; i++)
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
	pid = check_exits_with(9);
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
	} while (news_of(pid, &status, WUNTRACED) < 0);
	CHECK(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	CHECK_EQ(news_of(pid, &status, WCONTINUED), pid);
	CHECK_EQ(seen[SIGCHLD], 0);
	kill(pid, SIGTERM);
	wait_seen(SIGCHLD, 1);
	info_is(0, pid, CLD_KILLED, SIGTERM);
	CHECK_EQ(check_wait(pid), SIGTERM);
}

static void gone(pid_t pid)
{
	for (int i = 0; i < 20000 && !kill(pid, 0); i++)
		check_sleep(MS);
	CHECK_ERRNO(kill(pid, 0), ESRCH);
}

/* Ignored, or with SA_NOCLDWAIT: children leave no zombies, and a wait lasts until the last of them has gone.
 */
static void no_zombies(void)
{
	pid_t pid, other;
	long start;

	pid = check_exits_with(1);
	process_gets(pid, 'Z');
	signal(SIGCHLD, SIG_IGN);
	CHECK_EQ(check_wait(pid), 1 << 8); /* it was dead before: it stays */
	gone(check_exits_with(2));
	start = check_now();
	other = check_fork();
	if (other == 0) {
		check_sleep(20 * MS);
		_exit(0);
	}
	gone(check_exits_with(2));
	CHECK_ERRNO(wait(NULL), ECHILD); /* not before its end, which it may yet be busy with */
	CHECK(check_now() - start >= 20 * MS);
	gone(other);
	handle_with(SIGCHLD, on_signal, SA_NOCLDWAIT, NULL);
	gone(check_exits_with(2));
	CHECK_EQ(seen[SIGCHLD], 1); /* the signal comes */
	info_is(0, infos[0].si_pid, CLD_EXITED, 2);
	CHECK_ERRNO(wait(NULL), ECHILD);
	signal(SIGCHLD, SIG_DFL); /* which does nothing, too, but keeps them */
	pid = check_exits_with(5);
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

static void asks_for_it(void *ready)
{
	vt_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGUSR2, 0, 0, 0, 0);
	*(volatile int *)ready = 1;
	for (;;)
		vt_syscall(SYS_nanosleep, (long)(long[2]){1, 0}, 0, 0, 0, 0, 0);
}

/* The signal that a child has asked for when its parent ends: by its first thread, or by another one. */
static void parent_ends_for(bool thread)
{
	static volatile int asked;
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
			if (thread)
				thread_start_in_group(asks_for_it, (void *)&asked);
			else
				CHECK_CALL(prctl(PR_SET_PDEATHSIG, SIGUSR2, 0, 0, 0));
			while (thread && !asked)
				check_sleep(MS);
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

static void parent_ends(void)
{
	parent_ends_for(false);
}

static void parent_of_thread_ends(void)
{
	parent_ends_for(true);
}

static int maker_ends[2], maker_ready[2];

/* A child that asks to be told, in a process that has no C library of its own; then this thread ends. */
static void makes_and_ends(void *arg)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);
	char byte;

	if (!vt_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0)) {
		vt_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof(set), 0, 0);
		vt_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGUSR2, 0, 0, 0, 0);
		vt_syscall(SYS_write, maker_ready[1], (long)"r", 1, 0, 0, 0);
		byte = vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)(long[2]){3, 0}, sizeof(set), 0, 0) ==
				       SIGUSR2
			       ? 'd'
			       : '?';
		vt_syscall(SYS_write, maker_ends[1], (long)&byte, 1, 0, 0, 0);
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	vt_syscall(SYS_read, maker_ready[0], (long)&byte, 1, 0, 0, 0);
}

/* The parent is the thread that has made the child, and not its whole process. */
static void maker_of_child_ends(void)
{
	CHECK_CALL(pipe(maker_ends));
	CHECK_CALL(pipe(maker_ready));
	thread_start_in_group(makes_and_ends, NULL);
	CHECK_EQ(check_take(maker_ends[0]), 'd');
	wait(NULL);
}

static volatile int ticks;

static void on_tick(int sig)
{
	if (++ticks == 30)
		_exit(3); /* the call begins again each time */
}

/* Signals that come faster than a process can be copied do not keep a fork from its end. */
static void fork_among_signals(void)
{
	struct itimerval every = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
	enum { AREAS = 15000 }; /* each of them is copied */
	char *memory = mmap(NULL, AREAS * 4096UL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	CHECK(memory != MAP_FAILED);
	for (int i = 0; i < AREAS; i += 2)
		CHECK_CALL(check_syscall(SYS_mprotect, (long)(memory + i * 4096UL), 4096, PROT_READ, 0, 0, 0));
	signal(SIGALRM, on_tick);
	CHECK_CALL(setitimer(ITIMER_REAL, &every, NULL));
	child = fork();
	CHECK_CALL(setitimer(ITIMER_REAL, &off, NULL));
	if (child == 0)
		_exit(0);
	CHECK_EQ(check_wait(child), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"statuses", statuses},
		{"which", which},
		{"bad-waits", bad_waits},
		{"stop-reports", stop_reports},
		{"clones", clones},
		{"after-exec", after_exec},
		{"told", told},
		{"not-of-stops", not_of_stops},
		{"no-zombies", no_zombies},
		{"to-init", to_init},
		{"to-subreaper", to_subreaper},
		{"parent-ends", parent_ends},
		{"parent-of-thread-ends", parent_of_thread_ends},
		{"maker-of-child-ends", maker_of_child_ends},
		{"fork-among-signals", fork_among_signals},
	};

	if (argc == 3 && !strcmp(argv[1], "sent-at-its-end"))
		return sent_at_its_end(atoi(argv[2]));
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
