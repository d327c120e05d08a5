/* proctest: fork, exec, exit and wait. */
/* also on Linux */
#include <check.h>
#include <numbers.h>
#include <vectors.h>
#include <signal.h>
#include <sys/stat.h>

extern char **environ;

static void statuses(void)
{
	pid_t a = check_exits_with(7), b = check_exits_with(300), c = check_fork();
	int status = 0;

	if (c == 0) {
		raise(SIGTERM);
		_exit(0);
	}
	CHECK_EQ(waitpid(b, &status, 0), b);
	CHECK_EQ(status, (300 & 255) << 8);
	CHECK_EQ(waitpid(a, &status, 0), a);
	CHECK_EQ(status, 7 << 8);
	CHECK_EQ(waitpid(c, &status, 0), c);
	CHECK_EQ(status, SIGTERM);
	CHECK_ERRNO(wait(&status), ECHILD);
	CHECK_ERRNO(waitpid(1, &status, 0), ECHILD);
	CHECK_ERRNO(waitpid(-1, &status, 0x1000), EINVAL);
}

static void not_yet(void)
{
	int go[2], status;
	pid_t pid;

	CHECK_CALL(pipe(go));
	pid = check_fork();
	if (pid == 0) {
		check_take(go[0]);
		_exit(0);
	}
	CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
	CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
	check_give(go[1], 'g');
	CHECK_EQ(waitpid(0, &status, 0), pid); /* pid 0: of our process group */
	CHECK_EQ(status, 0);
	pid = check_exits_with(0);
	CHECK_ERRNO(check_syscall(SYS_wait4, pid, 8, 0, 0, 0, 0), EFAULT);
}

/* A process whose parent is gone has process 1 as parent. */
/* Numbers of processes and signals that cannot be. */
static void bad_numbers(void)
{
	CHECK_ERRNO(waitpid(-2147483647 - 1, NULL, 0), ESRCH);
	CHECK_ERRNO(waitpid(-2147483647, NULL, 0), ECHILD);
	CHECK_ERRNO(kill(getpid(), 65), EINVAL);
	CHECK_ERRNO(kill(getpid(), -1), EINVAL);
	CHECK_CALL(kill(getpid(), 0));
}

static void orphans(void)
{
	int ends[2];
	pid_t parent;

	CHECK_CALL(pipe(ends));
	parent = check_fork();
	if (parent == 0) {
		pid_t me = getpid();

		if (check_fork() == 0) {
			while (getppid() == me)
				check_sleep(1000000);
			check_give(ends[1], getppid() == 1 ? '1' : '?');
		}
		_exit(0);
	}
	CHECK_EQ(check_wait(parent), 0);
	CHECK_EQ(check_take(ends[0]), '1');
}

static void groups(void)
{
	int status;
	pid_t pid = check_fork();

	if (pid == 0) {
		CHECK_EQ(setpgid(0, 0), 0);
		CHECK_EQ(getpgrp(), getpid());
		_exit(!!check_failures);
	}
	setpgid(pid, pid); /* whoever is first */
	CHECK_EQ(waitpid(-pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_ERRNO(setpgid(1, 1), ESRCH); /* not our child */
	CHECK_ERRNO(setpgid(0, -1), EINVAL);
}

/* Reads all that `argv` prints when it is executed with `env`; returns its status. */
static int run(const char *path, char *const argv[], char *const env[], char *out, size_t size)
{
	size_t used = 0;
	ssize_t n;
	int ends[2];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execve(path, argv, env);
		_exit(100 + (errno & 127));
	}
	close(ends[1]);
	while ((n = read(ends[0], out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	close(ends[0]);
	return check_wait(pid);
}

static void arguments(void)
{
	char *const argv[] = {"echo", "", "two words", "\xc3\xa4$*", "last", NULL};
	char *const env[] = {"A=1", "EMPTY=", "Z=a b", NULL};
	char *const envargv[] = {"env", NULL};
	char out[256];

	CHECK_EQ(run("/bin/echo", argv, env, out, sizeof(out)), 0);
	CHECK(!strcmp(out, " two words \xc3\xa4$* last\n"));
	CHECK_EQ(run("/bin/env", envargv, env, out, sizeof(out)), 0);
	CHECK(!strcmp(out, "A=1\nEMPTY=\nZ=a b\n"));
}

/* 100 KiB of arguments arrive; more than the stack may hold is refused. */
static void many_arguments(void)
{
	static char *argv[1002];
	static char text[101], out[110000], huge[140000];
	char *const one[] = {"echo", huge, NULL};

	memset(text, 'x', sizeof(text) - 1);
	argv[0] = "echo";
	for (int i = 1; i <= 1000; i++)
		argv[i] = text;
	CHECK_EQ(run("/bin/echo", argv, environ, out, sizeof(out)), 0);
	CHECK_EQ(strlen(out), 1000 * 101);
	memset(huge, 'y', sizeof(huge) - 1); /* one argument may have 128 KiB */
	CHECK_EQ(run("/bin/echo", one, environ, out, sizeof(out)), (100 + E2BIG) << 8);
}

static void write_program(const char *path, const char *text, int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd))
		vt_die_errno(2, path);
}

static void scripts(void)
{
	char *const argv[] = {"name", "arg", NULL};
	char out[256], script[40], wanted[80];

	snprintf(script, sizeof(script), "/tmp/script.%d", getpid());
	write_program(script, "#!/bin/echo one two\nnothing to see\n", 0755);
	CHECK_EQ(run(script, argv, environ, out, sizeof(out)), 0);
	snprintf(wanted, sizeof(wanted), "one two %s arg\n", script);
	CHECK(!strcmp(out, wanted));
	write_program(script, "#! /bin/sh\necho $0 $1; exit 5\n", 0755);
	CHECK_EQ(run(script, argv, environ, out, sizeof(out)), 5 << 8);
	snprintf(wanted, sizeof(wanted), "%s arg\n", script);
	CHECK(!strcmp(out, wanted));
	write_program(script, "#!/nowhere\n", 0755);
	CHECK_EQ(run(script, argv, environ, out, sizeof(out)), (100 + ENOENT) << 8);
	write_program(script, "#!\n", 0755);
	CHECK_EQ(run(script, argv, environ, out, sizeof(out)), (100 + ENOEXEC) << 8);
	snprintf(wanted, sizeof(wanted), "#!%s\n", script);
	write_program(script, wanted, 0755); /* itself, for ever */
	CHECK_EQ(run(script, argv, environ, out, sizeof(out)), (100 + ELOOP) << 8);
	unlink(script);
}

static void not_executable(void)
{
	char *const argv[] = {"x", NULL};
	char out[16];

	write_program("/tmp/plain", "hello\n", 0644);
	CHECK_EQ(run("/tmp/plain", argv, environ, out, sizeof(out)), (100 + EACCES) << 8);
	CHECK_CALL(chmod("/tmp/plain", 0755));
	CHECK_EQ(run("/tmp/plain", argv, environ, out, sizeof(out)), (100 + ENOEXEC) << 8);
	write_program("/tmp/plain", "", 0755);
	CHECK_EQ(run("/tmp/plain", argv, environ, out, sizeof(out)), (100 + ENOEXEC) << 8);
	CHECK_EQ(run("/tmp", argv, environ, out, sizeof(out)), (100 + EACCES) << 8);
	CHECK_EQ(run("/nothing", argv, environ, out, sizeof(out)), (100 + ENOENT) << 8);
	CHECK_EQ(run("/bin/true/x", argv, environ, out, sizeof(out)), (100 + ENOTDIR) << 8);
	CHECK_ERRNO(check_syscall(SYS_execve, 8, (long)argv, (long)environ, 0, 0, 0), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_execve, (long)"/bin/true", 8, (long)environ, 0, 0, 0), EFAULT);
	unlink("/tmp/plain");
}

/* Descriptors with close-on-exec are gone, the others stay; handlers are reset, ignored signals stay ignored.
 */
static void what_exec_keeps(void)
{
	char *const argv[] = {"sh", "-c", "echo here >&9; echo gone >&8; kill -USR1 $$; kill -USR2 $$; echo no", NULL};
	int ends[2], status;
	char buf[32] = "";
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0) {
		signal(SIGUSR1, SIG_IGN);
		signal(SIGUSR2, (sighandler_t)what_exec_keeps);
		dup2(ends[1], 9);
		dup2(ends[1], 8);
		fcntl(8, F_SETFD, FD_CLOEXEC);
		dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execve("/bin/sh", argv, environ);
		_exit(99);
	}
	close(ends[1]);
	status = check_wait(pid);
	CHECK_EQ(status, SIGUSR2);
	CHECK_EQ(read(ends[0], buf, sizeof(buf)), 5);
	CHECK(!strcmp(buf, "here\n"));
}

static void many_forks(void)
{
	for (int i = 0; i < 300; i++)
		if (!CHECK_EQ(check_wait(check_exits_with(i & 127)), (i & 127) << 8))
			return;
}

/* 200 at a time, all there at once. */
static void many_at_once(void)
{
	pid_t pids[200];
	int go[2];
	char c;

	CHECK_CALL(pipe(go));
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = check_fork();
		if (pids[i] == 0) {
			close(go[1]);
			_exit(read(go[0], &c, 1) == 0 ? 0 : 1);
		}
	}
	close(go[1]);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		CHECK_EQ(check_wait(pids[i]), 0);
}

/* They hold what we put there while another task puts something else there. */
static void vectors(long value, int rounds)
{
	vectors_set(value);
	for (int i = 0; i < rounds; i++)
		vt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	vectors_check(value);
}

static void vector_registers(void)
{
	pid_t pid;

	check_pin(0);
	pid = check_fork();
	vectors(pid ? 0x1111111111111111 : 0x2222222222222222, 2000);
	if (pid == 0)
		_exit(!!check_failures);
	CHECK_EQ(check_wait(pid), 0);
}

/* A child begins with its parent's. */
static void inherited_registers(void)
{
	pid_t pid;

	vectors_set(0x3333333333333333);
	pid = (pid_t)vt_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
	vectors_check(0x3333333333333333);
	if (pid == 0)
		_exit(!!check_failures);
	CHECK_EQ(check_wait(pid), 0);
}

#ifdef __aarch64__
/* What AT_HWCAP says of the CPU: bit, name, and an instruction that is undefined where the bit is not. */
#define HWCAPS(F)                                                  \
	F(0, fp, 0x1e602800)	   /* fadd d0, d0, d0 */           \
	F(1, asimd, 0x4e60d400)	   /* fadd v0.2d, v0.2d, v0.2d */  \
	F(3, aes, 0x4e284800)	   /* aese v0.16b, v0.16b */       \
	F(4, pmull, 0x0ee0e000)	   /* pmull v0.1q, v0.1d, v0.1d */ \
	F(5, sha1, 0x5e280800)	   /* sha1h s0, s0 */              \
	F(6, sha2, 0x5e282800)	   /* sha256su0 v0.4s, v0.4s */    \
	F(7, crc32, 0x1ac04000)	   /* crc32b w0, w0, w0 */         \
	F(8, atomics, 0xb82003ff)  /* stadd w0, [sp] */            \
	F(9, fphp, 0x1ee02800)	   /* fadd h0, h0, h0 */           \
	F(10, asimdhp, 0x4e401400) /* fadd v0.8h, v0.8h, v0.8h */

#define HWCAP_TRY(bit, name, insn)                                           \
	static void try_##name(void)                                         \
	{                                                                    \
		__asm__ volatile(".inst " #insn : : : "v0", "x0", "memory"); \
	}
HWCAPS(HWCAP_TRY)

static unsigned long hwcap(void)
{
	unsigned long pair[2] = {1, 0};
	int fd = CHECK_CALL(open("/proc/self/auxv", O_RDONLY));

	while (pair[0] && pair[0] != 16 && read(fd, pair, sizeof(pair)) == sizeof(pair)) /* AT_HWCAP */
		;
	close(fd);
	return pair[0] == 16 ? pair[1] : 0;
}

/* A bit is set exactly if the instruction does not end the process that tries it. */
static void hardware_capabilities(void)
{
#define HWCAP_ROW(bit, name, insn) {bit, #name, try_##name},
	static const struct {
		int bit;
		const char *name;
		void (*f)(void);
	} rows[] = {HWCAPS(HWCAP_ROW)};
	unsigned long cap = hwcap();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		pid_t pid = check_fork();

		if (!pid) {
			rows[i].f();
			_exit(0);
		}
		if (!CHECK_EQ(cap >> rows[i].bit & 1, check_wait(pid) == 0))
			printf("  AT_HWCAP, %s\n", rows[i].name);
	}
}

static unsigned long thread_pointer(void)
{
	unsigned long tp;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

static void set_thread_pointer(unsigned long tp)
{
	__asm__ volatile("msr tpidr_el0, %0" ::"r"(tp));
}

/* A child has its parent's thread pointer; a program begins with none, and with empty vector registers. */
static void thread_pointers(void)
{
	static char *argv[] = {"proctest", "--begins", NULL}, *envp[] = {NULL};
	unsigned long was = thread_pointer(), got;
	long pid;

	set_thread_pointer(0x123456780);
	pid = vt_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
	got = thread_pointer();
	if (pid == 0 && got == 0x123456780) {
		vectors_set(0x4444444444444444);
		vt_syscall(SYS_execve, (long)"/proc/self/exe", (long)argv, (long)envp, 0, 0, 0);
	}
	set_thread_pointer(was);
	if (pid == 0)
		_exit(99);
	CHECK_EQ(got, 0x123456780);
	CHECK_EQ(check_wait((pid_t)pid), 0);
}

static int begins(void)
{
	vectors_check(0);
	CHECK_EQ(thread_pointer(), 0);
	return !!check_failures;
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"statuses", statuses},
		{"not-yet", not_yet},
		{"bad-numbers", bad_numbers},
		{"orphans", orphans},
		{"groups", groups},
		{"arguments", arguments},
		{"many-arguments", many_arguments},
		{"scripts", scripts},
		{"not-executable", not_executable},
		{"exec-keeps", what_exec_keeps},
		{"many-forks", many_forks},
		{"many-at-once", many_at_once},
		{"vector-registers", vector_registers},
		{"inherited-registers", inherited_registers},
#ifdef __aarch64__
		{"thread-pointers", thread_pointers},
		{"hardware-capabilities", hardware_capabilities},
#endif
	};

#ifdef __aarch64__
	if (argc > 1 && !strcmp(argv[1], "--begins"))
		return begins();
#endif
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
