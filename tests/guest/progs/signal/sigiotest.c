/* sigiotest: signals that tell of open files: O_ASYNC, who gets them, and what they say. */
/* also on Linux */
#include <posix.h>
#include <fcntl.h>
#include <sys/ioctl.h>

/* fcntl(2) and ioctl(2), by numbers, since C libraries have them under different conditions. */
enum { SETOWN = 8, GETOWN, SETSIG, GETSIG, SETOWN_EX = 15, GETOWN_EX, ASYNC = 020000 };
enum { TID, PID, PGRP };
#define IOASYNC	 0x5452
#define IOSETOWN 0x8901
#define SPGRP	 0x8902
#define GPGRP	 0x8904
#define IN	 1
#define OUT	 2
#define IN_BAND	 0x41L
#define OUT_BAND 0x304L
#define RT	 40 /* a signal that queues */

struct owner {
	int type, pid;
};

/* siginfo as the kernel has it for files. */
struct told {
	int signo, error, code, pad;
	long band;
	int fd;
	char rest[100];
};

static long file_ctl(int fd, int cmd, long arg)
{
	return check_syscall(SYS_fcntl, fd, cmd, arg, 0, 0, 0);
}

static void owned_by(int fd, int type, int pid)
{
	struct owner is = {-1, -1};

	CHECK_EQ(file_ctl(fd, GETOWN_EX, (long)&is), 0);
	CHECK_EQ(is.type, type);
	CHECK_EQ(is.pid, pid);
}

static void own(int fd, int type, int pid)
{
	struct owner to = {type, pid};

	CHECK_EQ(file_ctl(fd, SETOWN_EX, (long)&to), 0);
	owned_by(fd, type, pid);
}

/* O_ASYNC with this process as the owner, and this signal. */
static void make_async(int fd, int sig)
{
	CHECK_EQ(file_ctl(fd, SETOWN, getpid()), 0);
	CHECK_EQ(file_ctl(fd, SETSIG, sig), 0);
	CHECK_EQ(file_ctl(fd, GETSIG, 0), sig);
	CHECK_EQ(file_ctl(fd, F_SETFL, file_ctl(fd, F_GETFL, 0) | ASYNC), 0);
	CHECK(file_ctl(fd, F_GETFL, 0) & ASYNC);
}

/* The signal comes, and says this. */
static void says(int sig, int code, long band, int fd)
{
	sigset_t set = SET_OF(sig);
	struct told t = {0};

	CHECK_EQ(taken(&set, (siginfo_t *)&t), sig);
	CHECK_EQ(t.code, code);
	CHECK_EQ(t.band, band);
	CHECK_EQ(t.fd, fd);
}

static void of_pipes(void)
{
	static char all[65536];
	int ends[2], full[2];

	BLOCK(SIGIO, RT, SIGTRAP, SIGUSR1);
	CHECK_CALL(pipe(ends));
	owned_by(ends[0], TID, 0);
	CHECK_EQ(file_ctl(ends[0], GETOWN, 0), 0);
	CHECK_EQ(file_ctl(ends[0], GETSIG, 0), 0);
	CHECK_EQ(file_ctl(ends[0], SETOWN, getpid()), 0);
	CHECK_EQ(write(ends[1], "a", 1), 1);
	CHECK(!pending(SIGIO));
	make_async(ends[0], 0);
	CHECK_EQ(write(ends[1], "b", 1), 1);
	says(SIGIO, 0x80, 0, 0);
	make_async(ends[0], RT);
	CHECK_EQ(write(ends[1], "c", 1), 1);
	CHECK_EQ(write(ends[1], "d", 1), 1);
	says(RT, IN, IN_BAND, ends[0]);
	says(RT, IN, IN_BAND, ends[0]);
	CHECK(!pending(RT) && !pending(SIGIO));
	make_async(ends[0], SIGUSR1);
	CHECK_EQ(write(ends[1], "e", 1), 1);
	says(SIGUSR1, IN, IN_BAND, ends[0]);
	make_async(ends[0], SIGTRAP); /* it has codes of its own */
	CHECK_EQ(write(ends[1], "f", 1), 1);
	says(SIGTRAP, -5, IN_BAND, ends[0]);
	CHECK_EQ(file_ctl(ends[0], F_SETFL, 0), 0);
	CHECK_EQ(write(ends[1], "g", 1), 1);
	CHECK(!pending(SIGTRAP));
	make_async(ends[0], RT);
	close(ends[1]);
	says(RT, IN, IN_BAND, ends[0]);
	CHECK_CALL(pipe(full));
	CHECK_EQ(write(full[1], all, sizeof(all)), sizeof(all));
	make_async(full[1], RT);
	CHECK_EQ(read(full[0], all, sizeof(all)), sizeof(all));
	says(RT, OUT, OUT_BAND, full[1]);
}

static void of_other_files(void)
{
	int pair[2], on = 1, off = 0, who = getpid(), file, told;

	BLOCK(RT);
	CHECK_CALL(check_syscall(SYS_socketpair, 1, 1, 0, (long)pair, 0, 0));
	CHECK_CALL(ioctl(pair[0], IOSETOWN, &who));
	who = 0;
	CHECK_CALL(ioctl(pair[0], GPGRP, &who));
	CHECK_EQ(who, getpid());
	who = -getpgrp();
	CHECK_CALL(ioctl(pair[0], SPGRP, &who));
	owned_by(pair[0], PGRP, getpgrp());
	CHECK_EQ(file_ctl(pair[0], SETOWN, getpid()), 0);
	CHECK_EQ(file_ctl(pair[0], SETSIG, RT), 0);
	CHECK_CALL(ioctl(pair[0], IOASYNC, &on));
	CHECK_EQ(write(pair[1], "a", 1), 1);
	says(RT, IN, IN_BAND, pair[0]);
	CHECK_CALL(ioctl(pair[0], IOASYNC, &off));
	CHECK(!(file_ctl(pair[0], F_GETFL, 0) & ASYNC));
	CHECK_EQ(write(pair[1], "b", 1), 1);
	CHECK(!pending(RT));

	file = (int)CHECK_CALL(open("sigio.file", O_RDWR | O_CREAT, 0600));
	told = (int)CHECK_CALL(check_syscall(SYS_inotify_init1, 0, 0, 0, 0, 0, 0));
	CHECK_CALL(check_syscall(SYS_inotify_add_watch, told, (long)"sigio.file", 2, 0, 0, 0));
	make_async(told, RT);
	CHECK_EQ(write(file, "x", 1), 1);
	says(RT, IN, IN_BAND, told);
	/* A file of the tree never waits, and an eventfd sends no signals. */
	CHECK_ERRNO(ioctl(file, IOASYNC, &on), ENOTTY);
	CHECK_EQ(file_ctl(file, F_SETFL, O_RDWR | ASYNC), 0);
	CHECK(!(file_ctl(file, F_GETFL, 0) & ASYNC));
	told = (int)CHECK_CALL(check_syscall(SYS_eventfd2, 0, 0, 0, 0, 0, 0));
	CHECK_ERRNO(ioctl(told, IOASYNC, &on), ENOTTY);
	CHECK_CALL(unlink("sigio.file"));
}

static void owners(void)
{
	struct owner bad = {3, 1}, none = {PID, 0};
	pid_t child = sleeper();
	int ends[2];

	CHECK_CALL(pipe(ends));
	own(ends[0], TID, (int)gettid());
	CHECK_EQ(file_ctl(ends[0], GETOWN, 0), gettid());
	own(ends[0], PGRP, getpgrp());
	CHECK_EQ(file_ctl(ends[0], SETOWN, -getpgrp()), 0);
	owned_by(ends[0], PGRP, getpgrp());
	CHECK_EQ(file_ctl(ends[0], SETOWN, child), 0);
	owned_by(ends[0], PID, child);
	finish(child);
	CHECK_EQ(file_ctl(ends[0], GETOWN, 0), 0);
	owned_by(ends[0], PID, 0);
	CHECK_ERRNO(file_ctl(ends[0], SETOWN, child), ESRCH);
	CHECK_ERRNO(file_ctl(ends[0], SETOWN, -child), ESRCH);
	own(ends[0], PID, getpid());
	CHECK_EQ(file_ctl(ends[0], SETOWN_EX, (long)&none), 0);
	CHECK_EQ(file_ctl(ends[0], GETOWN, 0), 0);
	CHECK_ERRNO(file_ctl(ends[0], SETOWN_EX, (long)&bad), EINVAL);
	CHECK_ERRNO(file_ctl(ends[0], SETOWN_EX, 8), EFAULT);
	CHECK_ERRNO(file_ctl(ends[0], GETOWN_EX, 8), EFAULT);
	CHECK_ERRNO(file_ctl(ends[0], SETOWN, -0x7fffffffL - 1), EINVAL);
	CHECK_ERRNO(file_ctl(ends[0], SETSIG, 65), EINVAL);
	CHECK_ERRNO(file_ctl(ends[0], SETSIG, -1), EINVAL);
}

/* A group of another process: it is told, and this one is not. */
static void groups(void)
{
	int ends[2];
	pid_t child;

	BLOCK(RT);
	CHECK_CALL(pipe(ends));
	child = check_fork();
	if (child == 0) {
		says(RT, IN, IN_BAND, ends[0]);
		_exit(check_failures);
	}
	CHECK_CALL(setpgid(child, child));
	make_async(ends[0], RT);
	CHECK_EQ(file_ctl(ends[0], SETOWN, -child), 0);
	CHECK_EQ(write(ends[1], "a", 1), 1);
	CHECK_EQ(check_wait(child), 0);
	CHECK(!pending(RT));
}

/* What a user names as the owner gets nothing that the user may not send. */
static void rights(void)
{
	int ends[2];
	pid_t child;

	if (getuid())
		return;
	BLOCK(RT, SIGIO);
	CHECK_CALL(pipe(ends));
	child = check_fork();
	if (child == 0) {
		CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
		CHECK_EQ(file_ctl(ends[0], SETOWN, getppid()), 0);
		_exit(check_failures);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(file_ctl(ends[0], SETSIG, RT), 0);
	CHECK_EQ(file_ctl(ends[0], F_SETFL, ASYNC), 0);
	CHECK_EQ(write(ends[1], "a", 1), 1);
	CHECK(!pending(RT) && !pending(SIGIO));
	own(ends[0], PID, getpid());
	CHECK_EQ(write(ends[1], "a", 1), 1);
	says(RT, IN, IN_BAND, ends[0]);
}

/* As signalfd(2) tells it. */
static void by_a_file(void)
{
	int ends[2], fd, info[32];
	sigset_t set = SET_OF(RT);

	BLOCK(RT);
	CHECK_CALL(pipe(ends));
	fd = (int)CHECK_CALL(check_syscall(SYS_signalfd4, -1, (long)&set, 8, 0, 0, 0));
	make_async(ends[0], RT);
	CHECK_EQ(write(ends[1], "a", 1), 1);
	CHECK_EQ(read(fd, info, sizeof(info)), sizeof(info));
	CHECK_EQ(info[0], RT);
	CHECK_EQ(info[2], IN);
	CHECK_EQ(info[5], ends[0]); /* ssi_fd */
	CHECK_EQ(info[7], IN_BAND); /* ssi_band */
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"of-pipes", of_pipes}, {"of-other-files", of_other_files}, {"owners", owners}, {"groups", groups},
		{"rights", rights},	{"by-a-file", by_a_file},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
