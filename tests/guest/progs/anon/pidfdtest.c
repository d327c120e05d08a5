/* pidfdtest: processes as files, and signals by signalfd. */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>

#define NONBLOCK 04000
#define P_FD	 3

static int pidfd(pid_t pid, int flags)
{
	return (int)check_syscall(SYS_pidfd_open, pid, flags, 0, 0, 0, 0);
}

static long fd_kill(int fd, int sig, siginfo_t *info, int flags)
{
	return check_syscall(SYS_pidfd_send_signal, fd, sig, (long)info, flags, 0, 0);
}

static bool is_ready(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

static void opens(void)
{
	pid_t pid = sleeper();
	int fd = (int)CHECK_CALL(pidfd(pid, 0)), other = (int)CHECK_CALL(pidfd(pid, NONBLOCK));
	siginfo_t info;

	CHECK_ERRNO(pidfd(pid, 1), EINVAL);
	CHECK_ERRNO(pidfd(-1, 0), EINVAL);
	CHECK_ERRNO(pidfd(0, 0), EINVAL);
	CHECK_ERRNO(pidfd(0x3fffffff, 0), ESRCH);
	CHECK(!is_ready(fd, 0));
	CHECK_EQ(fd_kill(fd, 0, NULL, 0), 0);
	CHECK_ERRNO(fd_kill(fd, 65, NULL, 0), EINVAL);
	CHECK_ERRNO(fd_kill(fd, 0, NULL, 64), EINVAL);
	CHECK_ERRNO(fd_kill(0, 0, NULL, 0), EBADF);
	CHECK_ERRNO(fd_kill(999, 0, NULL, 0), EBADF);
	memset(&info, 0, sizeof(info));
	info.si_signo = SIGTERM;
	CHECK_ERRNO(fd_kill(fd, SIGTERM, &info, 0), EPERM);
	info.si_code = SI_QUEUE;
	CHECK_ERRNO(fd_kill(fd, SIGINT, &info, 0), EINVAL);
	CHECK_ERRNO(waitid(P_FD, other, &info, WEXITED), EAGAIN);
	CHECK_EQ(waitid(P_FD, fd, &info, WEXITED | WNOHANG), 0);
	CHECK_EQ(info.si_pid, 0);
	memset(&info, 0, sizeof(info));
	info.si_signo = SIGTERM;
	info.si_code = SI_QUEUE;
	CHECK_EQ(fd_kill(fd, SIGTERM, &info, 0), 0);
	CHECK(is_ready(fd, 10000));
	CHECK_EQ(fd_kill(fd, SIGTERM, NULL, 0), 0); /* a zombie takes it */
	CHECK_EQ(waitid(P_FD, fd, &info, WEXITED), 0);
	CHECK_EQ(info.si_pid, pid);
	CHECK_EQ(info.si_status, SIGTERM);
	CHECK(is_ready(other, 0));
	CHECK_ERRNO(fd_kill(fd, 0, NULL, 0), ESRCH);
	CHECK_ERRNO(waitid(P_FD, fd, &info, WEXITED), ECHILD);
	CHECK_ERRNO(waitid(P_FD, 999, &info, WEXITED), EBADF);
	CHECK_ERRNO(check_syscall(SYS_fchmod, fd, 0777, 0, 0, 0, 0), EOPNOTSUPP);
	CHECK_ERRNO(check_syscall(SYS_fchown, fd, 1, 1, 0, 0, 0), EOPNOTSUPP);
	CHECK_CALL(close(fd));
}

/* The directory /proc/<pid> stands for its process, for signals alone; that of a thread, and what is inside, do not. */
static void directories(void)
{
	pid_t pid = sleeper();
	char path[64];
	siginfo_t info;
	int fd, other;

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, pid);
	other = (int)CHECK_CALL(open(path, O_RDONLY | O_DIRECTORY));
	CHECK_ERRNO(fd_kill(other, 0, NULL, 0), EBADF);
	CHECK_CALL(close(other));
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	other = (int)CHECK_CALL(open(path, O_RDONLY | O_DIRECTORY));
	CHECK_ERRNO(fd_kill(other, 0, NULL, 0), EBADF);
	CHECK_CALL(close(other));
	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = (int)CHECK_CALL(open(path, O_RDONLY | O_DIRECTORY));
	CHECK_ERRNO(waitid(P_FD, fd, &info, WEXITED), EBADF);
	CHECK_EQ(fd_kill(fd, 0, NULL, 0), 0);
	CHECK_EQ(fd_kill(fd, SIGTERM, NULL, 0), 0);
	CHECK_EQ(waitid(P_PID, pid, &info, WEXITED), 0);
	CHECK_EQ(info.si_status, SIGTERM);
	CHECK_ERRNO(fd_kill(fd, SIGTERM, NULL, 0), ESRCH);
	CHECK_CALL(close(fd));
}

static void clones(void)
{
	int fd = -1, fd3 = -1;
	unsigned long args[8] = {0x1000, (unsigned long)&fd3, 0, 0, SIGCHLD, 0, 0, 0};
	pid_t pid = (pid_t)vt_syscall(SYS_clone, 0x1000 | SIGCHLD, 0, (long)&fd, 0, 0, 0);
	siginfo_t info;

	if (pid == 0)
		_exit(5);
	CHECK(is_ready(fd, 10000));
	CHECK_EQ(waitid(P_FD, fd, &info, WEXITED), 0);
	CHECK_EQ(info.si_pid, pid);
	CHECK_EQ(info.si_status, 5);
	CHECK(fcntl(fd, F_GETFD) == 1); /* FD_CLOEXEC */
	pid = (pid_t)vt_syscall(SYS_clone3, (long)args, sizeof(args), 0, 0, 0, 0);
	if (pid == 0)
		_exit(6);
	CHECK_EQ(waitid(P_FD, fd3, &info, WEXITED), 0);
	CHECK_EQ(info.si_status, 6);
	/* Nothing is left behind of one that fails. */
	CHECK_EQ(vt_syscall(SYS_clone, 0x1000 | SIGCHLD, 0, 8, 0, 0, 0), -EFAULT);
	CHECK_EQ(vt_syscall(SYS_clone, 0x101000 | SIGCHLD, 0, (long)&fd, 0, 0, 0), -EINVAL);
	CHECK_EQ(dup(0), fd3 + 1);
	CHECK_ERRNO(waitpid(-1, NULL, 0), ECHILD);
}

/* --- signalfd --- */

struct signal_info {
	unsigned signo;
	int error, code;
	unsigned pid, uid;
	int fd;
	unsigned tid, band, overrun, trapno;
	int status, value;
	unsigned long pointer, rest[9];
};

static int new_signalfd(int fd, sigset_t set, int flags)
{
	return (int)check_syscall(SYS_signalfd4, fd, (long)&set, 8, flags, 0, 0);
}

static void signal_files(void)
{
	int fd, other;
	struct signal_info info[3];
	union sigval value = {.sival_int = 77};
	siginfo_t s;

	BLOCK(SIGUSR1, SIGUSR2, SIGCHLD, SIGRTMIN);
	fd = (int)CHECK_CALL(new_signalfd(-1, SET_OF(SIGUSR1, SIGCHLD, SIGKILL), NONBLOCK));
	CHECK(!is_ready(fd, 0));
	CHECK_ERRNO(read(fd, info, sizeof(info)), EAGAIN);
	kill(getpid(), SIGUSR2);
	CHECK(!is_ready(fd, 0));
	kill(getpid(), SIGUSR1);
	CHECK(is_ready(fd, 0));
	CHECK_ERRNO(read(fd, info, 127), EINVAL);
	CHECK_EQ(read(fd, info, sizeof(info)), 128);
	CHECK_EQ(info[0].signo, SIGUSR1);
	CHECK_EQ(info[0].code, SI_USER);
	CHECK_EQ(info[0].pid, getpid());
	CHECK(!pending(SIGUSR1));
	CHECK_EQ(check_wait(check_exits_with(9)), 9 << 8);
	CHECK_EQ(read(fd, info, sizeof(info)), 128);
	CHECK_EQ(info[0].signo, SIGCHLD);
	CHECK_EQ(info[0].status, 9);
	CHECK_EQ(new_signalfd(fd, SET_OF(SIGUSR2, SIGRTMIN), 0), fd);
	CHECK_CALL(sigqueue(getpid(), SIGRTMIN, value));
	CHECK_EQ(read(fd, info, sizeof(info)), 256);
	CHECK_EQ(info[0].signo, SIGUSR2);
	CHECK_EQ(info[1].signo, SIGRTMIN);
	CHECK_EQ(info[1].value, 77);
	CHECK_ERRNO(new_signalfd(0, SET_OF(SIGUSR1), 0), EINVAL);
	CHECK_ERRNO(new_signalfd(999, SET_OF(SIGUSR1), 0), EBADF);
	CHECK_ERRNO(new_signalfd(-1, SET_OF(SIGUSR1), 1), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_signalfd4, -1, 8, 8, 0, 0, 0), EFAULT);
	/* A wait, and a file that a child has: it tells of the child's signals. */
	other = (int)CHECK_CALL(new_signalfd(-1, SET_OF(SIGUSR1), 0));
	if (check_fork() == 0) {
		CHECK(!is_ready(other, 0));
		kill(getppid(), SIGUSR1);
		kill(getpid(), SIGUSR1);
		CHECK_EQ(read(other, info, sizeof(info)), 128);
		CHECK_EQ(info[0].pid, getpid());
		exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(read(other, info, sizeof(info)), 128);
	CHECK(info[0].pid != (unsigned)getpid());
	CHECK_EQ(waitid(P_ALL, 0, &s, WEXITED), 0);
	CHECK_EQ(s.si_status, 0);
}

static void reads_a_signal(void)
{
	struct signal_info info;
	int fd = (int)CHECK_CALL(new_signalfd(-1, SET_OF(SIGUSR1, SIGKILL, SIGSTOP), 0));

	CHECK_EQ(read(fd, &info, sizeof(info)), sizeof(info));
	CHECK_EQ(info.signo, 0); /* nothing that we send is to be read */
}

/* A reader that asks for SIGSTOP and SIGKILL stops and ends by them all the same. */
static void kill_and_stop_are_not_read(void)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		reads_a_signal();
		exit(check_failures ? 1 : 0);
	}
	process_gets(pid, 'S');
	CHECK_CALL(kill(pid, SIGSTOP));
	if (process_gets(pid, 'T')) {
		CHECK_CALL(kill(pid, SIGCONT));
		process_gets(pid, 'S');
	}
	CHECK_CALL(kill(pid, SIGKILL));
	CHECK_EQ(check_wait(pid), SIGKILL);
}

static const struct check_case cases[] = {
	{"opens", opens},
	{"directories", directories},
	{"clones", clones},
	{"signal_files", signal_files},
	{"kill_and_stop_are_not_read", kill_and_stop_are_not_read},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
