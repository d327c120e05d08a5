/* ptracewho: whose tracee a task is: debuggers that are not the parent, or that end; rights; process_vm_readv. */
/* also on Linux */
#include <tracee.h>
#include <fcntl.h>
#include <sys/stat.h>

static volatile long word = 0x1122334455667788;
static volatile long *constant; /* memory that the program may only read */
static siginfo_t last;

static void nothing(void)
{
}

static void make_constant(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	constant = page;
	constant[0] = 0x5566;
	CHECK_CALL(check_syscall(SYS_mprotect, (long)page, 4096, PROT_READ, 0, 0, 0));
}

/* --- a debugger that is not the parent, and one that ends --- */

static void debugger_waits_first(void)
{
	pid_t pid = check_exits_with(0), debugger;
	int ready[2], go[2];

	CHECK_EQ(check_wait(pid), 0);
	CHECK_CALL(pipe(ready));
	CHECK_CALL(pipe(go));
	pid = sleeper();
	debugger = check_fork();
	if (debugger == 0) {
		CHECK_ERRNO(waitpid(-1, NULL, WNOHANG | ALL_CHILDREN), ECHILD);
		CHECK_CALL(pt(PT_SEIZE, pid, 0, 0));
		CHECK_EQ(waitpid(-1, NULL, WNOHANG | ALL_CHILDREN), 0); /* it has a tracee, if no child */
		check_give(ready[1], 1);
		CHECK_EQ(waitid(P_PID, pid, &last, WEXITED | WNOWAIT), 0);
		check_give(ready[1], 2);
		check_take(go[0]);
		CHECK_EQ(news(pid), SIGKILL);
		exit(check_failures ? 1 : 0);
	}
	check_take(ready[0]);
	CHECK_CALL(kill(pid, SIGKILL));
	check_take(ready[0]);
	CHECK_EQ(waitpid(pid, NULL, WNOHANG), 0); /* it has ended, but its debugger comes first */
	check_give(go[1], 1);
	CHECK_EQ(check_wait(debugger), 0);
	CHECK_EQ(news(pid), SIGKILL);
}

/* A debugger that ends: its tracee goes on, or with the option dies. One that is dead already goes to its parent. */
static void debugger_ends(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = sleeper(), debugger;
		int ready[2];

		CHECK_CALL(pipe(ready));
		debugger = check_fork();
		if (debugger == 0) {
			CHECK_CALL(pt(PT_SEIZE, pid, 0, i == 1 ? OPT_EXITKILL : 0));
			CHECK_CALL(pt(PT_INTERRUPT, pid, 0, 0));
			CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_STOP));
			if (i == 2) {
				kill(pid, SIGKILL);
				CHECK_EQ(waitid(P_PID, pid, &last, WEXITED | WNOWAIT), 0);
			}
			exit(check_failures ? 1 : 0);
		}
		CHECK_EQ(check_wait(debugger), 0);
		if (i == 0) {
			process_gets(pid, 'S');
			finish(pid);
		} else {
			CHECK_EQ(news(pid), SIGKILL);
		}
	}
}

/* The parent hears of a child that has ended under another's debugger when that one ends, and not before. */
static void parent_hears_of_a_zombie(void)
{
	sigset_t set = SET_OF(SIGCHLD);
	pid_t pid, debugger;
	siginfo_t info;
	int go[2];

	BLOCK(SIGCHLD);
	CHECK_CALL(pipe(go));
	pid = sleeper();
	debugger = check_fork();
	if (debugger == 0) {
		CHECK_CALL(pt(PT_SEIZE, pid, 0, 0));
		CHECK_CALL(kill(pid, SIGKILL));
		CHECK_EQ(waitid(P_PID, pid, &last, WEXITED | WNOWAIT), 0);
		check_take(go[0]);
		exit(check_failures ? 1 : 0);
	}
	process_gets(pid, 'Z');
	CHECK(!pending(SIGCHLD));
	check_give(go[1], 1);
	CHECK_EQ(taken(&set, &info), SIGCHLD);
	CHECK_EQ(info.si_pid, pid); /* the first of two: the debugger itself ends after it */
	CHECK_EQ(info.si_status, SIGKILL);
	CHECK_EQ(check_wait(debugger), 0);
	CHECK_EQ(news(pid), SIGKILL);
}

/* --- who may --- */

static pid_t of_our_parent;

static void asks_for_it(void)
{
	unsigned long w;

	CHECK_ERRNO(pt(PT_PEEK, of_our_parent, (unsigned long)&word, (unsigned long)&w), ESRCH);
	CHECK_ERRNO(pt(PT_CONT, of_our_parent, 0, 0), ESRCH);
	CHECK_ERRNO(pt(PT_KILL, of_our_parent, 0, 0), ESRCH);
}

/* A task that stands still for its debugger does not do so for others, though they had the right to attach. */
static void its_debugger_alone(void)
{
	of_our_parent = tracee(nothing, 0);
	CHECK_EQ(check_in_child(asks_for_it), 0);
	CHECK(thread_state(of_our_parent, of_our_parent) == 't');
	kill_tracee(of_our_parent);
}

static void as_nobody(void)
{
	pid_t parent = getppid(), child;
	unsigned long w;
	struct iov local = {&w, sizeof(w)}, remote = {(void *)&word, sizeof(w)};

	CHECK_CALL(check_syscall(SYS_setresuid, 12345, 12345, 12345, 0, 0, 0));
	CHECK_ERRNO(pt(PT_ATTACH, parent, 0, 0), EPERM);
	CHECK_ERRNO(pt(PT_SEIZE, parent, 0, 0), EPERM);
	CHECK_ERRNO(pt(PT_ATTACH, 1, 0, 0), EPERM);
	CHECK_ERRNO(check_syscall(SYS_process_vm_readv, parent, (long)&local, 1, (long)&remote, 1, 0), EPERM);
	child = check_fork();
	if (child == 0) {
		prctl(4, 0, 0, 0, 0); /* PR_SET_DUMPABLE */
		sleep_on();
	}
	process_gets(child, 'S');
	CHECK_ERRNO(pt(PT_ATTACH, child, 0, 0), EPERM);
	finish(child);
}

static void permissions(void)
{
	if (getuid() == 0)
		CHECK_EQ(check_in_child(as_nobody), 0);
}

static void process_vm(void)
{
	static long here[4], there[3] = {5, 6, 7};
	struct iov local[] = {{here, 8}, {NULL, 0}, {here + 1, 24}}, remote[] = {{there, 4}, {(char *)there + 4, 20}};
	struct iov hole[] = {{there, 8}, {(void *)16, 8}};
	pid_t pid;

	make_constant();
	pid = sleeper();
#define VM(what, l, nl, r, nr, flags) check_syscall(SYS_process_vm_##what, pid, (long)(l), nl, (long)(r), nr, flags)
	CHECK_EQ(VM(readv, local, 3, remote, 2, 0), 24);
	CHECK(here[0] == 5 && here[1] == 6 && here[2] == 7 && here[3] == 0);
	here[0] = 8;
	CHECK_EQ(VM(writev, local, 1, remote, 2, 0), 8);
	here[0] = 0;
	CHECK_EQ(VM(readv, local, 1, remote, 2, 0), 8);
	CHECK_EQ(here[0], 8);
	CHECK_EQ(there[0], 5);
	CHECK_EQ(VM(readv, local, 3, hole, 2, 0), 8);
	CHECK_ERRNO(VM(readv, local, 3, hole + 1, 1, 0), EFAULT);
	CHECK_ERRNO(VM(readv, hole + 1, 1, remote, 1, 0), EFAULT);
	CHECK_ERRNO(VM(readv, local, 3, remote, 2, 1), EINVAL);
	CHECK_ERRNO(VM(readv, local, 1025, remote, 2, 0), EINVAL);
	remote[0] = (struct iov){(void *)(unsigned long)constant, 8};
	CHECK_ERRNO(VM(writev, local, 1, remote, 1, 0), EFAULT); /* no force here */
	CHECK_CALL(check_syscall(SYS_mprotect, (long)constant, 4096, 0, 0, 0, 0));
	remote[0].len = 8;
	CHECK_ERRNO(check_syscall(SYS_process_vm_readv, getpid(), (long)local, 1, (long)remote, 1, 0), EFAULT);
	CHECK_CALL(check_syscall(SYS_mprotect, (long)constant, 4096, 1, 0, 0, 0));
	CHECK_EQ(VM(readv, local, 0, remote, 1, 0), 0);
	finish(pid);
	CHECK_ERRNO(VM(readv, local, 1, remote, 1, 0), ESRCH);
}

/* --- set-user-id programs --- */

static int program; /* of root, with the set-user-id bit: a copy of this very program */

static void make_program(void)
{
	char buf[4096];
	int from = open("/proc/self/exe", O_RDONLY), to = open("ptracewho-suid", O_RDWR | O_CREAT, 0755);
	long n;

	CHECK(from >= 0 && to >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		CHECK_EQ(write(to, buf, n), n);
	CHECK_CALL(check_syscall(SYS_fchmod, to, 04755, 0, 0, 0, 0));
	CHECK_CALL(close(to));
	program = open("ptracewho-suid", O_RDONLY);
	CHECK_CALL(unlink("ptracewho-suid"));
}

static void execs_program(void)
{
	char *argv[] = {"ptracewho", "--", NULL}, *envp[] = {NULL};

	check_syscall(SYS_execveat, program, (long)"", (long)argv, (long)envp, 0x1000, 0); /* AT_EMPTY_PATH */
	_exit(9);
}

/* It gets root's rights, but not under a debugger that is not root: that one could make it do anything. */
static void runs_program(void)
{
	pid_t pid;

	CHECK_CALL(check_syscall(SYS_setresuid, 12345, 12345, 12345, 0, 0, 0));
#ifndef __linux__ /* there the file may lie where the bit does not count */
	pid = check_fork();
	if (pid == 0)
		execs_program();
	CHECK_EQ(check_wait(pid), 1 << 8);
#endif
	pid = tracee(execs_program, 0);
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGTRAP));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 2 << 8);
}

static void no_rights_under_a_debugger(void)
{
	if (getuid() != 0)
		return;
	make_program();
	CHECK_EQ(check_in_child(runs_program), 0);
}

static const struct check_case cases[] = {
	{"debugger_waits_first", debugger_waits_first},
	{"debugger_ends", debugger_ends},
	{"parent_hears_of_a_zombie", parent_hears_of_a_zombie},
	{"its_debugger_alone", its_debugger_alone},
	{"permissions", permissions},
	{"process_vm", process_vm},
	{"no_rights_under_a_debugger", no_rights_under_a_debugger},
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--"))
		return geteuid() == 0 ? 1 : 2;
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
