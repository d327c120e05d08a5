/* sigthread: signals, exits and exec of a process that has threads. */
/* also on Linux */
#include <posix.h>
#include <thread.h>
#include <uapi/futex.h>

/*
 * Threads here have the libc's state of the first one, so they make bare system calls only. Each says in
 * `tids` who it is, and waits in one of these ways.
 */
static volatile int tids[THREAD_MAX], caught_by[NSIG], seen[NSIG], go;
static int word; /* stays 0: nobody is woken by it */

static long self(void)
{
	return vt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static long mask(int how, int sig)
{
	unsigned long set = 1UL << (sig - 1);

	return vt_syscall(SYS_rt_sigprocmask, how, (long)&set, 0, 8, 0, 0);
}

static bool is_pending(int sig)
{
	unsigned long set = 0;

	vt_syscall(SYS_rt_sigpending, (long)&set, 8, 0, 0, 0, 0);
	return set >> (sig - 1) & 1;
}

static void nap(void)
{
	struct timespec span = {.tv_nsec = MS};

	vt_syscall(SYS_nanosleep, (long)&span, 0, 0, 0, 0, 0);
}

static void wait_for_ever(void)
{
	for (;;)
		vt_syscall(SYS_futex, (long)&word, FUTEX_WAIT, 0, 0, 0, 0);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	caught_by[sig] = (int)self();
	seen[sig]++;
}

static void waiter(void *arg)
{
	tids[(long)arg] = (int)self();
	wait_for_ever();
}

static void blocks_usr1(void *arg)
{
	mask(SIG_BLOCK, SIGUSR1);
	waiter(arg);
}

/* Thread number i; back when it sleeps. */
static int begin(int i, void (*f)(void *arg))
{
	int tid = thread_start_in_group(f, (void *)(long)i);

	for (int n = 0; n < 5000 && !tids[i]; n++)
		check_sleep(MS);
	CHECK_EQ(tids[i], tid);
	thread_gets(getpid(), tid, 'S');
	return tid;
}

static void wait_seen(int sig, int n)
{
	for (int i = 0; i < 5000 && seen[sig] < n; i++)
		check_sleep(MS);
	CHECK_EQ(seen[sig], n);
}

/* A signal to the process goes to a thread that lets it in; one to a thread waits for that thread. */
static void directed(void)
{
	int a, b;

	handle_with(SIGUSR1, on_signal, 0, NULL);
	a = begin(0, blocks_usr1);
	b = begin(1, waiter);
	BLOCK(SIGUSR1);
	kill(getpid(), SIGUSR1);
	wait_seen(SIGUSR1, 1);
	CHECK_EQ(caught_by[SIGUSR1], b);
	kill(b, SIGUSR1); /* a thread's number stands for its process */
	wait_seen(SIGUSR1, 2);
	tgkill(getpid(), b, SIGUSR1);
	wait_seen(SIGUSR1, 3);
	CHECK_EQ(caught_by[SIGUSR1], b);
	tgkill(getpid(), a, SIGUSR1); /* blocked there, and b is not asked */
	CHECK(!pending(SIGUSR1));
	check_sleep(5 * MS);
	CHECK_EQ(seen[SIGUSR1], 3);
	tgkill(getpid(), gettid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	CHECK_EQ(seen[SIGUSR1], 3);
	UNBLOCK(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 4);
	CHECK_EQ(caught_by[SIGUSR1], getpid());
	CHECK_ERRNO(tgkill(getpid() + 1, b, 0), ESRCH);
	CHECK_ERRNO(tgkill(-1, b, 0), EINVAL);
	CHECK_ERRNO(tgkill(getpid(), 0, 0), EINVAL);
	CHECK_ERRNO(tgkill(getpid(), b, NSIG), EINVAL);
	CHECK_EQ(tgkill(getpid(), b, 0), 0);
}

static void lets_in(void *arg)
{
	mask(SIG_BLOCK, SIGUSR1);
	tids[(long)arg] = (int)self();
	while (!go)
		nap();
	go = is_pending(SIGUSR1) ? 2 : 3;
	mask(SIG_UNBLOCK, SIGUSR1);
	wait_for_ever();
}

/* Blocked by all it waits in the process, where each thread sees it; who lets it in first has it. */
static void blocked_by_all(void)
{
	int tid;

	handle_with(SIGUSR1, on_signal, 0, NULL);
	BLOCK(SIGUSR1);
	tid = begin(0, lets_in);
	kill(getpid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	go = 1;
	wait_seen(SIGUSR1, 1);
	CHECK_EQ(go, 2);
	CHECK_EQ(caught_by[SIGUSR1], tid);
	CHECK(!pending(SIGUSR1));
}

static void look_at_start(void *arg)
{
	unsigned long now = 0;

	go = is_pending(SIGUSR1) ? 2 : 3;
	vt_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&now, 8, 0, 0);
	go |= now >> (SIGUSR1 - 1) & 1 ? 16 : 0;
	waiter(arg);
}

/* A thread begins with its maker's mask and without what is pending for that. */
static void begins_with(void)
{
	BLOCK(SIGUSR1);
	tgkill(getpid(), gettid(), SIGUSR1);
	begin(0, look_at_start);
	CHECK_EQ(go, 16 + 3);
	CHECK(pending(SIGUSR1));
}

static void blocks_later(void *arg)
{
	tids[(long)arg] = (int)self();
	while (!go)
		; /* not asleep: a signal that comes is not taken before the next call */
	mask(SIG_BLOCK, SIGUSR1);
	mask(SIG_BLOCK, SIGUSR2);
	wait_for_ever();
}

/* --- the end of a process --- */

static void exits_all(void *arg)
{
	nap();
	vt_syscall(SYS_exit_group, 42, 0, 0, 0, 0, 0);
}

static void ends_alone(void *arg)
{
	tids[(long)arg] = (int)self();
	while (!go)
		nap();
	vt_syscall(SYS_exit, 9, 0, 0, 0, 0, 0);
}

static void group_exit(void)
{
	begin(0, waiter);
	begin(1, waiter);
	thread_start_in_group(exits_all, NULL);
	wait_for_ever();
}

static void leader_first(void)
{
	begin(0, ends_alone);
	go = 1;
	vt_syscall(SYS_exit, 5, 0, 0, 0, 0, 0);
}

static void thread_first(void)
{
	int tid = begin(0, ends_alone);

	go = 1;
	while (thread_state(getpid(), tid))
		check_sleep(MS);
	exit(check_failures ? 1 : 6);
}

static void dies_with_threads(void)
{
	begin(0, waiter);
	begin(1, blocks_usr1);
	BLOCK(SIGUSR1);
	kill(getpid(), SIGUSR1); /* no handler: the thread that lets it in takes all along */
	wait_for_ever();
}

static void killed_by_thread(void)
{
	int tid = begin(0, waiter);

	tgkill(getpid(), tid, SIGKILL);
	wait_for_ever();
}

/* The process's status is what exit_group() says, or the signal; else what its last thread says. */
static void ends(void)
{
	CHECK_EQ(check_in_child(group_exit), 42 << 8);
	CHECK_EQ(check_in_child(thread_first), 6 << 8);
	CHECK_EQ(check_in_child(leader_first), 9 << 8);
	CHECK_EQ(check_in_child(dies_with_threads), SIGUSR1);
	CHECK_EQ(check_in_child(killed_by_thread), SIGKILL);
}

/* While threads are left the process has not ended: its first thread is a zombie that nobody can wait for. */
static void lasts(void)
{
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t pid;

	BLOCK(SIGCHLD);
	pid = check_fork();
	if (pid == 0) {
		shared[0] = begin(0, waiter);
		vt_syscall(SYS_exit, 5, 0, 0, 0, 0, 0);
	}
	process_gets(pid, 'Z');
	CHECK_EQ(is_pending(SIGCHLD), false);
	CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
	CHECK_EQ(kill(pid, 0), 0);
	CHECK_CALL(kill(pid, SIGTERM)); /* its thread takes it */
	CHECK_EQ(news_of(pid, &status, 0), pid);
	CHECK_EQ(is_pending(SIGCHLD), true);
	CHECK_EQ(status, SIGTERM);
}

static void ends_soon(void *arg)
{
	for (int i = 0; i < 20; i++)
		nap();
	vt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* A thread ends while another one waits for a signal: that is no reason for the wait to end, whatever is blocked. */
static void ends_beside_a_wait(void)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);
	struct timespec span = {.tv_nsec = 100 * MS};

	BLOCK(SIGUSR1, SIGUSR2);
	for (int i = 0; i < 2; i++) {
		thread_start_in_group(ends_soon, NULL);
		CHECK_EQ(vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)&span, sizeof(set), 0, 0), -EAGAIN);
		kill(getpid(), SIGUSR1); /* the second time it is pending */
	}
}

/* --- stopping --- */

static void all_are(pid_t pid, const int *list, int n, char state)
{
	for (int i = 0; i < n; i++)
		thread_gets(pid, list[i], state);
}

/* A stop stands all threads still and is told once; SIGCONT has all go on; SIGKILL ends all. */
static void stops_all(void)
{
	int *list = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t pid = check_fork();

	if (pid == 0) {
		list[0] = getpid();
		list[1] = begin(0, waiter);
		list[2] = begin(1, blocks_usr1);
		wait_for_ever();
	}
	for (int i = 0; i < 5000 && !list[2]; i++)
		check_sleep(MS);
	process_gets(pid, 'S');
	tgkill(pid, list[1], SIGSTOP); /* to one of them: all the same */
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGSTOP << 8 | 0x7f);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(thread_state(pid, list[i]), 'T'); /* it is told when all stand, not before */
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	tgkill(pid, list[2], SIGCONT);
	CHECK_EQ(news_of(pid, &status, WCONTINUED), pid);
	CHECK(WIFCONTINUED(status));
	all_are(pid, list, 3, 'S');
	kill(pid, SIGSTOP);
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	tgkill(pid, list[1], SIGKILL);
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGKILL);
}

/* --- exec --- */

static char *program[] = {NULL, "executed", NULL, NULL};
extern char **environ;

static void executes(void *arg)
{
	vt_syscall(SYS_execve, (long)program[0], (long)program, (long)environ, 0, 0, 0);
	vt_syscall(SYS_exit_group, 99, 0, 0, 0, 0, 0);
}

/* What the new program finds: a process of one thread with the old number, mask and pending signals. */
static int executed(pid_t pid)
{
	stack_t stack;
	struct sigaction now;
	int status;

	CHECK_EQ(getpid(), pid);
	CHECK_EQ(gettid(), pid);
	CHECK_EQ(kill(getpid(), 0), 0);
	CHECK(pending(SIGUSR1));
	CHECK(blocked(SIGUSR1));
	CHECK_CALL(sigaction(SIGUSR1, NULL, &now));
	CHECK(now.sa_handler == SIG_DFL);
	CHECK_EQ(now.sa_flags & (SA_NODEFER | SA_SIGINFO), 0);
	CHECK(!sigismember(&now.sa_mask, SIGTERM));
	CHECK_CALL(sigaction(SIGUSR2, NULL, &now));
	CHECK(now.sa_handler == SIG_IGN);
	CHECK_CALL(sigaltstack(NULL, &stack));
	CHECK_EQ(stack.ss_flags, SS_DISABLE);
	if (getenv("CHILD")) { /* it ended before exec, and is still the process's */
		CHECK_EQ(waitpid(-1, &status, 0), atoi(getenv("CHILD")));
		CHECK_EQ(status, 5 << 8);
		return check_failures ? 1 : 18;
	}
	check_sleep(5 * MS);
	fflush(stdout);
	return check_failures ? 1 : 17;
}

static void before_exec(void)
{
	static char number[16], path[256], stack[65536];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	sigset_t term = SET_OF(SIGTERM);

	/* By its own name: /proc/self is empty when the first thread has ended. */
	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	program[0] = path;
	snprintf(number, sizeof(number), "%d", (int)getpid());
	program[2] = number;
	CHECK_CALL(sigaltstack(&other, NULL));
	handle_with(SIGUSR1, on_signal, SA_NODEFER, &term);
	signal(SIGUSR2, SIG_IGN);
	BLOCK(SIGUSR1);
	kill(getpid(), SIGUSR1);
}

static void exec_alone(void)
{
	before_exec();
	executes(NULL);
}

static void exec_by_leader(void)
{
	before_exec();
	begin(0, waiter);
	begin(1, blocks_usr1);
	executes(NULL);
}

static void exec_by_thread(void)
{
	before_exec();
	begin(0, waiter);
	thread_start_in_group(executes, NULL);
	wait_for_ever();
}

/* The first thread has a child that has ended: the thread that takes its place by exec inherits the zombie. */
static void exec_with_zombie(void)
{
	char number[16];
	pid_t pid;

	before_exec();
	pid = check_fork();
	if (pid == 0)
		vt_syscall(SYS_exit_group, 5, 0, 0, 0, 0, 0);
	while (thread_state(pid, pid) != 'Z')
		check_sleep(MS);
	snprintf(number, sizeof(number), "%d", (int)pid);
	CHECK_EQ(setenv("CHILD", number, 1), 0);
	thread_start_in_group(executes, NULL);
	wait_for_ever();
}

static void exec_by_last(void)
{
	before_exec();
	thread_start_in_group(executes, NULL);
	vt_syscall(SYS_exit, 3, 0, 0, 0, 0, 0); /* before or after it asks */
}

static void execs(void)
{
	CHECK_EQ(check_in_child(exec_alone), 17 << 8);
	CHECK_EQ(check_in_child(exec_by_leader), 17 << 8);
	CHECK_EQ(check_in_child(exec_by_thread), 17 << 8);
	CHECK_EQ(check_in_child(exec_by_last), 17 << 8);
	CHECK_EQ(check_in_child(exec_with_zombie), 18 << 8);
}

/* Each of several threads that exit, die and exec at once: one way or another the process ends, with one
 * status. */
static void exec_against_exit(void)
{
	for (int i = 0; i < 20; i++) {
		int status;
		pid_t pid = check_fork();

		if (pid == 0) {
			before_exec();
			thread_start_in_group(executes, NULL);
			if (i % 2)
				thread_start_in_group(executes, NULL); /* status 2 when the first was quicker */
			for (volatile int n = 0; n < i * 2000; n++)
				;
			vt_syscall(SYS_exit_group, 23, 0, 0, 0, 0, 0);
		}
		status = check_wait(pid);
		if (!CHECK(status == 23 << 8 || status == 17 << 8 || (i % 2 && status == 2 << 8)))
			printf("  status 0x%x\n", status);
	}
}

/* A thread that is about to be given a signal blocks it: another one takes it. None is lost over many tries.
 */
static void handed_over(void)
{
	int first, second;

	if (check_cpus() < 2)
		return;
	handle_with(SIGUSR1, on_signal, 0, NULL);
	BLOCK(SIGUSR1, SIGUSR2);
	for (int i = 0; i < 2; i++)
		tids[i] = 0;
	UNBLOCK(SIGUSR1);
	first = thread_start_in_group(blocks_later, (void *)0L);
	second = thread_start_in_group(blocks_later, (void *)1L);
	BLOCK(SIGUSR1);
	while (!tids[0] || !tids[1])
		check_sleep(MS);
	kill(getpid(), SIGUSR1);
	wait_seen(SIGUSR1, 1);
	CHECK(caught_by[SIGUSR1] == first || caught_by[SIGUSR1] == second);
	go = 1;
	thread_gets(getpid(), first, 'S');
	thread_gets(getpid(), second, 'S');
	kill(getpid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	UNBLOCK(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 2);
	CHECK_EQ(caught_by[SIGUSR1], getpid());
}

/* Takes SIGUSR2 whenever it is there, and never sleeps. */
static void takes(void *arg)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);
	struct timespec none = {0};

	while (!go)
		vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)&none, sizeof(set), 0, 0);
}

static void sends(void *arg)
{
	for (; !go; nap())
		vt_syscall(SYS_kill, vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGUSR2, 0, 0, 0, 0);
}

/* A wait without a time that was woken in vain, as another thread has taken the signal, has not timed out. */
static void taken_by_another(void)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);

	BLOCK(SIGUSR2);
	thread_start_in_group(takes, NULL);
	thread_start_in_group(sends, NULL);
	for (int i = 0; i < 500; i++) {
		long got = vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, 0, sizeof(set), 0, 0);

		if (!CHECK(got == SIGUSR2 || got == -EINTR))
			break;
	}
	go = 1;
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"directed", directed},
		{"blocked-by-all", blocked_by_all},
		{"begins-with", begins_with},
		{"ends", ends},
		{"ends-beside-a-wait", ends_beside_a_wait},
		{"lasts", lasts},
		{"stops-all", stops_all},
		{"exec", execs},
		{"exec-against-exit", exec_against_exit},
		{"handed-over", handed_over},
		{"taken-by-another", taken_by_another},
	};

	if (argc == 3 && !strcmp(argv[1], "executed"))
		return executed((pid_t)strtol(argv[2], NULL, 10));
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
