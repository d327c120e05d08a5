/* oldcalls: the system calls that programs for older machines make; each against the newer call that our
 * library uses. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <numbers.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#ifdef __x86_64__
#define A "/tmp/oldcalls-a"
#define B "/tmp/oldcalls-b"

#define CALL(nr, a, b, c) check_syscall(SYS_##nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)

struct timeval_pair {
	long sec, usec;
};

static volatile sig_atomic_t seen;

/* Seconds since 1970. */
static long wall_clock(void)
{
	struct timespec now = {0};

	CHECK_CALL(clock_gettime(CLOCK_REALTIME, &now));
	return now.tv_sec;
}

static void on_signal(int sig)
{
	seen++;
}

static struct stat status(const char *path)
{
	struct stat st = {0};

	CHECK_CALL(lstat(path, &st));
	return st;
}

static void open_and_create(void)
{
	int fd = (int)CHECK_CALL(CALL(creat, A, 0640, 0));

	CHECK_EQ(status(A).st_mode, S_IFREG | 0640);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_WRONLY);
	CHECK_EQ(write(fd, "text", 4), 4);
	close(fd);
	fd = (int)CHECK_CALL(CALL(open, A, O_RDWR, 0));
	CHECK_EQ(lseek(fd, 0, SEEK_END), 4);
	close(fd);
	CHECK_ERRNO(CALL(open, A, O_CREAT | O_EXCL, 0600), EEXIST);
	CHECK_ERRNO(CALL(open, B, O_RDONLY, 0), ENOENT);
	close((int)CHECK_CALL(CALL(creat, A, 0600, 0)));
	CHECK_EQ(status(A).st_size, 0);
	CHECK_EQ(CALL(access, A, 4, 0), 0);
	CHECK_ERRNO(CALL(access, B, 0, 0), ENOENT);
	CHECK_CALL(CALL(unlink, A, 0, 0));
	CHECK_ERRNO(CALL(unlink, A, 0, 0), ENOENT);
}

static void names(void)
{
	char text[32] = "";
	struct stat st;

	CHECK_CALL(CALL(mkdir, A, 0750, 0));
	CHECK_EQ(status(A).st_mode, S_IFDIR | 0750);
	CHECK_ERRNO(CALL(mkdir, A, 0750, 0), EEXIST);
	CHECK_CALL(CALL(symlink, A, B, 0));
	CHECK_EQ(CALL(readlink, B, text, sizeof(text)), sizeof(A) - 1);
	CHECK(!strcmp(text, A));
	CHECK_CALL(CALL(newstat, B, &st, 0));
	CHECK(S_ISDIR(st.st_mode));
	CHECK_CALL(CALL(newlstat, B, &st, 0));
	CHECK(S_ISLNK(st.st_mode));
	CHECK_CALL(CALL(lchown, B, 3, 4));
	CHECK_CALL(CALL(chown, B, 5, 6));
	CHECK_EQ(status(B).st_uid, 3);
	CHECK_EQ(status(A).st_gid, 6);
	CHECK_CALL(CALL(chmod, B, 0700, 0));
	CHECK_EQ(status(A).st_mode, S_IFDIR | 0700);
	CHECK_CALL(CALL(unlink, B, 0, 0));
	CHECK_CALL(CALL(rename, A, B, 0));
	CHECK_CALL(CALL(rmdir, B, 0, 0));
	CHECK_CALL(CALL(mknod, A, S_IFIFO | 0600, 0));
	CHECK(S_ISFIFO(status(A).st_mode));
	CHECK_CALL(CALL(link, A, B, 0));
	CHECK_EQ(status(A).st_nlink, 2);
	CHECK_CALL(unlink(A));
	CHECK_CALL(unlink(B));
}

static void times_of_files(void)
{
	const long seconds[2] = {1000, 2000};
	const struct timeval_pair micro[2] = {{3000, 250000}, {4000, 999999}}, wrong[2] = {{1, 1000000}, {1, 0}};
	long now = wall_clock();

	close((int)CHECK_CALL(CALL(creat, A, 0600, 0)));
	CHECK_CALL(CALL(utime, A, seconds, 0));
	CHECK_EQ(status(A).st_atime, 1000);
	CHECK_EQ(status(A).st_mtime, 2000);
	CHECK_CALL(CALL(utimes, A, micro, 0));
	CHECK_EQ(status(A).st_atime, 3000);
	CHECK_EQ(status(A).st_atim.tv_nsec, 250000000);
	CHECK_EQ(status(A).st_mtim.tv_nsec, 999999000);
	CHECK_ERRNO(CALL(utimes, A, wrong, 0), EINVAL);
	CHECK_CALL(CALL(futimesat, AT_FDCWD, A, 0));
	CHECK_RANGE(status(A).st_mtime, now, now + 5);
	CHECK_ERRNO(CALL(utime, B, seconds, 0), ENOENT);
	CHECK_ERRNO(CALL(utimes, 0, micro, 0), EFAULT);
	CHECK_CALL(unlink(A));
}

/* struct linux_dirent: type and name have changed places since. */
static void directory(void)
{
	char buf[2048];
	int fd = (int)CHECK_CALL(open("/proc/self", O_RDONLY | O_DIRECTORY)), found = 0;
	long n, calls = 0;

	CHECK_ERRNO(CALL(getdents, fd, buf, 20), EINVAL);
	while ((n = CHECK_CALL(CALL(getdents, fd, buf, 120))) > 0) {
		calls++;
		for (long at = 0; at < n;) {
			unsigned short len = *(unsigned short *)(buf + at + 16);
			const char *name = buf + at + 18;
			char type = buf[at + len - 1];

			CHECK_EQ(len % 8, 0);
			if (!strcmp(name, "fd"))
				found += type == DT_DIR;
			if (!strcmp(name, "exe"))
				found += type == DT_LNK;
			if (!strcmp(name, "."))
				found += type == DT_DIR;
			at += len;
		}
	}
	CHECK_EQ(found, 3);
	CHECK_RANGE(calls, 3, 100);
	close(fd);
}

static void descriptors(void)
{
	int ends[2];

	CHECK_CALL(CALL(pipe, ends, 0, 0));
	CHECK_EQ(fcntl(ends[0], F_GETFD), 0);
	CHECK_EQ(CALL(dup2, ends[1], 77, 0), 77);
	CHECK_EQ(CALL(dup2, 77, 77, 0), 77);
	CHECK_EQ(write(77, "x", 1), 1);
	CHECK_EQ(check_take(ends[0]), 'x');
	CHECK_ERRNO(CALL(dup2, 78, 78, 0), EBADF);
	CHECK_ERRNO(CALL(dup2, ends[0], -1, 0), EBADF);
}

static void waiting(void)
{
	unsigned long sets[2] = {0, 0};
	struct timeval_pair limit = {0, 1020000}; /* more microseconds than a second has */
	struct pollfd fds = {.events = 1};
	long start = check_now();
	int ends[2];

	CHECK_CALL(pipe(ends));
	fds.fd = ends[0];
	CHECK_EQ(CALL(poll, &fds, 1, 20), 0);
	CHECK_RANGE(check_now() - start, 20000000, 2000000000);
	sets[0] = 1UL << ends[0];
	sets[1] = 1UL << ends[1];
	CHECK_EQ(check_syscall(SYS_select, ends[1] + 1, (long)&sets[0], (long)&sets[1], 0, (long)&limit, 0), 1);
	CHECK_EQ(sets[0], 0);
	CHECK_EQ(sets[1], 1UL << ends[1]);
	CHECK_RANGE(limit.sec * 1000000 + limit.usec, 500000, 1020000);
	check_give(ends[1], 'x');
	CHECK_EQ(CALL(poll, &fds, 1, -1), 1);
	CHECK_EQ(fds.revents, 1);
	sets[0] = 1UL << ends[0];
	CHECK_EQ(check_syscall(SYS_select, ends[0] + 1, (long)&sets[0], 0, 0, 0, 0), 1);
	limit = (struct timeval_pair){0, -1};
	CHECK_ERRNO(check_syscall(SYS_select, 0, 0, 0, 0, (long)&limit, 0), EINVAL);
	limit = (struct timeval_pair){0, 20000};
	start = check_now();
	CHECK_EQ(check_syscall(SYS_select, 0, 0, 0, 0, (long)&limit, 0), 0);
	CHECK_RANGE(check_now() - start, 20000000, 2000000000);
	CHECK_EQ(limit.sec * 1000000 + limit.usec, 0);
}

/* Until the process sleeps in a call: what is sent to it then interrupts that. */
static void wait_asleep(pid_t pid)
{
	char path[32], *text;
	bool asleep;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		check_sleep(1000000);
		text = vt_read_file(path, NULL);
		asleep = text && strstr(text, ") S ");
		free(text);
	} while (!asleep);
}

/* A poll that is stopped for longer than it takes is over when it is continued; one whose handler runs ends at once. */
static void interrupted_poll(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pid_t pid = check_fork(), parent = getpid();
	long start;
	int state;

	if (!pid)
		_exit((int)CALL(poll, 0, 0, 2000));
	wait_asleep(pid);
	CHECK_CALL(kill(pid, SIGSTOP));
	CHECK_EQ(waitpid(pid, &state, WUNTRACED), pid);
	check_sleep(2000000000);
	start = check_now();
	CHECK_CALL(kill(pid, SIGCONT));
	CHECK_EQ(check_wait(pid), 0);
	CHECK_RANGE(check_now() - start, 0, 1900000000);
	CHECK_CALL(sigaction(SIGUSR1, &act, NULL));
	pid = check_fork();
	if (!pid) {
		wait_asleep(parent);
		kill(parent, SIGUSR1);
		_exit(0);
	}
	CHECK_ERRNO(CALL(poll, 0, 0, 60000), EINTR);
	CHECK_EQ(check_wait(pid), 0);
}

static void processes(void)
{
	static volatile int shared;
	pid_t pid = (pid_t)CHECK_CALL(CALL(fork, 0, 0, 0));

	if (!pid)
		vt_syscall(SYS_exit, 3, 0, 0, 0, 0, 0);
	CHECK_EQ(WEXITSTATUS(check_wait(pid)), 3);
	pid = (pid_t)vt_syscall(SYS_vfork, 0, 0, 0, 0, 0, 0); /* in this very frame: we stand still until it ends */
	if (!pid) {
		shared = 1;
		vt_syscall(SYS_exit, 4, 0, 0, 0, 0, 0);
	}
	CHECK_EQ(shared, 1);
	CHECK_EQ(WEXITSTATUS(check_wait(pid)), 4);
	CHECK_EQ(CALL(getpgrp, 0, 0, 0), getpgid(0));
}

static void clocks(void)
{
	struct sigaction act = {.sa_handler = on_signal};
	long now = wall_clock(), told = 0, start = check_now();

	CHECK_RANGE(CALL(time, &told, 0, 0), now, now + 2);
	CHECK_RANGE(told, now, now + 2);
	CHECK_ERRNO(CALL(time, 8, 0, 0), EFAULT);
	CHECK_CALL(sigaction(SIGALRM, &act, NULL));
	CHECK_EQ(CALL(alarm, 100, 0, 0), 0);
	CHECK_EQ(CALL(alarm, 1, 0, 0), 100);
	CHECK_ERRNO(CALL(pause, 0, 0, 0), EINTR);
	CHECK_EQ(seen, 1);
	CHECK_RANGE(check_now() - start, 1000000000, 3000000000);
	CHECK_EQ(CALL(alarm, 0, 0, 0), 0);
}

#define SET_GS 0x1001
#define SET_FS 0x1002
#define GET_FS 0x1003
#define GET_GS 0x1004

/* Bases of segments: kept over switches, inherited, and only of user addresses. */
static void segments(void)
{
	static const unsigned long words[2] = {0x1111, 0x2222};
	unsigned long value = 0, parent = (unsigned long)&words[0], child = (unsigned long)&words[1];
	pid_t pid;

	CHECK_CALL(CALL(arch_prctl, SET_FS, parent, 0));
	CHECK_CALL(CALL(arch_prctl, SET_GS, child, 0));
	pid = check_fork();
	if (!pid) {
		CHECK_CALL(CALL(arch_prctl, SET_FS, child, 0));
		for (int i = 0; i < 100; i++) {
			__asm__ volatile("mov %%fs:0, %0" : "=r"(value));
			CHECK_EQ(value, 0x2222);
			check_sleep(10000);
		}
		_exit(check_failures);
	}
	for (int i = 0; i < 100; i++) {
		__asm__ volatile("mov %%fs:0, %0" : "=r"(value));
		CHECK_EQ(value, 0x1111);
		__asm__ volatile("mov %%gs:0, %0" : "=r"(value));
		CHECK_EQ(value, 0x2222);
		check_sleep(10000);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_CALL(CALL(arch_prctl, GET_FS, &value, 0));
	CHECK_EQ(value, parent);
	CHECK_CALL(CALL(arch_prctl, GET_GS, &value, 0));
	CHECK_EQ(value, child);
	/* A null selector takes the base with it, and the kernel says so. */
	__asm__ volatile("mov %0, %%gs" : : "r"(0));
	CHECK_CALL(CALL(arch_prctl, GET_GS, &value, 0));
	CHECK_EQ(value, 0);
	CHECK_ERRNO(CALL(arch_prctl, SET_FS, 0x8000000000000000, 0), EPERM);
	CHECK_ERRNO(CALL(arch_prctl, SET_GS, 0xffffffff80000000, 0), EPERM);
	CHECK_ERRNO(CALL(arch_prctl, GET_FS, 8, 0), EFAULT);
	CHECK_ERRNO(CALL(arch_prctl, 0x1234, 0, 0), EINVAL);
}
#endif

/* A number that no machine has: -ENOSYS, and counted. */
static long unknown_calls(void)
{
	char text[32] = "";
	int fd = (int)CHECK_CALL(open("/proc/unknown_syscalls", O_RDONLY));

	CHECK_RANGE(read(fd, text, sizeof(text) - 1), 2, 31);
	close(fd);
	return atol(text);
}

static void unknown(void)
{
	long before = unknown_calls();

	CHECK_ERRNO(check_syscall(5000, 0, 0, 0, 0, 0, 0), ENOSYS);
	CHECK_ERRNO(check_syscall(-1, 0, 0, 0, 0, 0, 0), ENOSYS);
	CHECK_EQ(unknown_calls(), before + 2);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
#ifdef __x86_64__
		{"open", open_and_create},
		{"names", names},
		{"times", times_of_files},
		{"directory", directory},
		{"descriptors", descriptors},
		{"waiting", waiting},
		{"interrupted-poll", interrupted_poll},
		{"processes", processes},
		{"clocks", clocks},
		{"segments", segments},
#endif
		{"unknown", unknown},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
