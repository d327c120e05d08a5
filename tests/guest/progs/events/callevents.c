/*
 * callevents: system calls whose events are special, each in a child of its own, whose pid is printed.
 * callevents barrier: one that interrupts all other CPUs.
 */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t seen;

static void on_signal(int sig)
{
	seen++;
}

/* No such numbers: one beyond all tables, one that is also what "no call" is. */
static void unknown(void)
{
	vt_syscall(9999, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66);
	vt_syscall(-1, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66);
}

static void handler(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	CHECK_EQ(seen, 1);
}

/* A read that a signal interrupts, and that goes on. */
static void restarted(void)
{
	int fds[2];
	pid_t child, self = getpid();

	CHECK_CALL(pipe(fds));
	signal(SIGUSR1, on_signal);
	child = check_fork();
	if (!child) {
		check_sleep(5000000);
		kill(self, SIGUSR1);
		check_sleep(5000000);
		check_give(fds[1], 'x');
		_exit(0);
	}
	CHECK_EQ(check_take(fds[0]), 'x');
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(seen, 1);
}

/* The last lines of its own fork, before anything else. */
static void forked(void)
{
	pid_t child = check_fork();

	if (!child)
		_exit(0);
	CHECK_EQ(check_wait(child), 0);
}

static void executed(void)
{
	char *const argv[] = {"callevents", "end", NULL};

	execve("/bin/callevents", argv, environ);
	CHECK(false);
}

/* Arguments that are easily told from others, with every bit that a register has. */
static void arguments(void)
{
	check_syscall(SYS_openat, AT_FDCWD, (long)"/tmp/callevents", O_RDWR | O_CREAT, 0642, 0, 0);
	check_syscall(SYS_lseek, 3, 0x1234567890, 0, 0, 0, 0);
	check_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
	check_syscall(SYS_close, 3, 0, 0, 0, 0, 0);
	check_syscall(SYS_close, 77, 0, 0, 0, 0, 0);
}

/* What only older machines have. */
static void older(void)
{
#ifdef __x86_64__
	check_syscall(SYS_open, (long)"/tmp/callevents", O_RDONLY, 0, 0, 0, 0);
	check_syscall(SYS_newlstat, (long)"/tmp/callevents", 0, 0, 0, 0, 0);
	if (!vt_syscall(SYS_vfork, 0, 0, 0, 0, 0, 0)) /* inline: the child uses this stack */
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
#endif
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"unknown", unknown},	{"handler", handler},	  {"restarted", restarted}, {"forked", forked},
		{"executed", executed}, {"arguments", arguments}, {"older", older},
	};

	if (argc > 1 && !strcmp(argv[1], "barrier")) /* MEMBARRIER_CMD_GLOBAL: a call on all CPUs at once */
		return check_syscall(SYS_membarrier, 1, 0, 0, 0, 0, 0) != 0;
	if (argc > 1)
		_exit(7);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child = check_fork();

		if (!child) {
			cases[i].run();
			_exit(check_failures != 0);
		}
		printf("%s %d %d\n", cases[i].name, child, check_wait(child));
	}
	return 0;
}
