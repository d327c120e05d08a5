/* sigexec: exec of a process that has threads, which exit, exec and get signals meanwhile. */
/* also on Linux */
#include "waiters.h"

static char *program[] = {NULL, "executed", NULL, NULL};
extern char **environ;

static void executes(void *arg)
{
	vt_syscall(SYS_execve, (long)program[0], (long)program, (long)environ, 0, 0, 0);
	vt_syscall(SYS_exit_group, 99, 0, 0, 0, 0, 0);
}

/* The new program finds a process of one thread with the old number, mask and pending signals. */
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

#define BUSY_SIZE (16L << 20)
static volatile int busy, changes;

/* While it is busy, the map of the process's memory is locked for many milliseconds at a time. */
static void changes_memory(void *area)
{
	for (int right = PROT_READ;; right ^= PROT_WRITE) {
		while (!busy)
			nap();
		vt_syscall(SYS_mprotect, (long)area, BUSY_SIZE, right, 0, 0, 0);
		changes++;
	}
}

static volatile int *exec_now; /* shared with the child */

static void executes_when_told(void *arg)
{
	while (!*exec_now)
		nap();
	executes(NULL);
}

/*
 * SIGKILL is sent while a thread that is not the first executes a program that sleeps. The sender has found the process
 * before, and is held up where it reads the siginfo: the page is not there, and changes_memory() has the map. The
 * process that it has found has another first thread now, and is killed all the same.
 */
static void exec_under_signal(int fd)
{
	siginfo_t *info = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	int status = 0, before = changes, pidfd;
	pid_t pid, got;
	long end;

	*exec_now = 0;
	pid = check_fork();
	if (pid == 0) {
		thread_start_in_group(executes_when_told, NULL);
		wait_for_ever();
	}
	process_gets(pid, 'S');
	pidfd = (int)CHECK_CALL(check_syscall(SYS_pidfd_open, pid, 0, 0, 0, 0, 0));
	busy = 1;
	while (changes == before)
		nap();
	*exec_now = 1;
	CHECK_EQ(vt_syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, (long)info, 0, 0, 0), 0);
	busy = 0;
	for (end = check_now() + 10000 * MS; !(got = waitpid(pid, &status, WNOHANG)) && check_now() < end;)
		check_sleep(MS);
	CHECK_EQ(got, pid);
	CHECK_EQ(status, SIGKILL);
	close(pidfd);
	munmap(info, 4096);
}

static void exec_and_signal(void)
{
	char *area = mmap(NULL, BUSY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[256] = "";
	siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
	char name[40];
	int fd;

	snprintf(name, sizeof(name), "/tmp/siginfo.%d", getpid());
	fd = (int)CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));
	CHECK_EQ(write(fd, &info, sizeof(info)), sizeof(info));
	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	program[0] = path;
	program[1] = "sleeps";
	exec_now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < BUSY_SIZE; i += 4096)
		area[i] = 1;
	thread_start_in_group(changes_memory, area);
	for (int i = 0; i < 3 && !check_failures; i++)
		exec_under_signal(fd);
	close(fd);
	unlink(name);
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

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"exec", execs},
		{"exec-and-signal", exec_and_signal},
		{"exec-against-exit", exec_against_exit},
	};

	if (argc == 3 && !strcmp(argv[1], "executed"))
		return executed((pid_t)strtol(argv[2], NULL, 10));
	if (argc == 2 && !strcmp(argv[1], "sleeps"))
		sleep_on();
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
