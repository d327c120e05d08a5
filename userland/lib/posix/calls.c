/*
 * POSIX calls that take a little more than one system call: those whose arguments or results differ
 * from the kernel's, and those of terminals, which are ioctl() requests. Errors are returned as POSIX
 * says: -1 with errno.
 */
#include <vt.h>
#include <sched.h>
#include <signal.h>
#include <termios.h>
#include <time.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <bits/syscall.h>
#include <sys/syscall.h>

extern char **environ;

void vt_sigreturn(void); /* crt0.S */

/* dup3 refuses two equal descriptors; dup2 returns them if they are open. */
int dup2(int from, int to)
{
	if (from == to)
		return fcntl(from, F_GETFD, 0) < 0 ? -1 : to;
	return dup3(from, to, 0);
}

/*
 * POSIX asks for no other test: only a terminal answers this request. errno is ENOTTY for anything
 * else.
 */
int isatty(int fd)
{
	struct termios t;

	return tcgetattr(fd, &t) == 0;
}

/* The structure in <termios.h> is the kernel's own, so nothing is converted. */
int tcgetattr(int fd, struct termios *t)
{
	return ioctl(fd, TCGETS, t);
}

/* The kernel's three requests TCSETS, TCSETSW, TCSETSF follow each other as TCSANOW, TCSADRAIN, TCSAFLUSH do.
 */
int tcsetattr(int fd, int when, const struct termios *t)
{
	return ioctl(fd, TCSETS + when, t);
}

/* The group that ^C goes to; -1 when fd is no controlling terminal. */
pid_t tcgetpgrp(int fd)
{
	pid_t group;

	return ioctl(fd, TIOCGPGRP, &group) < 0 ? -1 : group;
}

/*
 * Give the terminal to a group. A caller in another group than the one that has it gets SIGTTOU, which
 * stops it unless the signal is ignored or blocked: a shell ignores it.
 */
int tcsetpgrp(int fd, pid_t group)
{
	return ioctl(fd, TIOCSPGRP, &group);
}

/*
 * The kernel wants to know where a handler returns to, as neither machine has a vDSO that could say it: to an
 * instruction of crt0.S that calls rt_sigreturn. In that call the kernel puts back the registers that it has saved on
 * the stack.
 */
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction with_restorer;

	if (act) {
		with_restorer = *act;
		with_restorer.sa_flags |= SA_RESTORER;
		with_restorer.sa_restorer = vt_sigreturn;
		act = &with_restorer;
	}
	/* The size of the mask tells the kernel which sigset_t we mean. */
	return (int)vt_result(vt_syscall(SYS_rt_sigaction, sig, (long)act, (long)old, sizeof(sigset_t), 0, 0));
}

/* BSD's meaning, which glibc has too: the handler stays, and interrupted calls go on. */
sighandler_t signal(int sig, sighandler_t handler)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	return sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/*
 * A handler or an ignored SIGABRT must not keep it from ending. The shell's convention for the
 * status, should even that fail.
 */
void abort(void)
{
	signal(SIGABRT, SIG_DFL);
	raise(SIGABRT);
	_exit(128 + SIGABRT);
}

/* POSIX returns the error's number here, and does not set errno. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left)
{
	return (int)-vt_syscall(SYS_clock_nanosleep, (long)clock, flags, (long)span, (long)left, 0, 0);
}

/* Returns the seconds left when a signal came, as POSIX has it. */
unsigned int sleep(unsigned int seconds)
{
	struct timespec span = {.tv_sec = seconds}, left = {0};

	return nanosleep(&span, &left) < 0 ? (unsigned int)left.tv_sec : 0;
}

/* The kernel returns how many bytes of mask it has written. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	long n = vt_result(vt_syscall(SYS_sched_getaffinity, pid, (long)size, (long)set, 0, 0, 0));

	if (n < 0)
		return -1;
	memset((char *)set + n, 0, size - (size_t)n);
	return 0;
}

/* The system call returns 20 - nice, so that its values are never negative. */
int getpriority(int which, int who)
{
	long n = vt_result(vt_syscall(SYS_getpriority, which, who, 0, 0, 0, 0));

	return n < 0 ? -1 : (int)(20 - n);
}

/*
 * The two magic numbers of uapi/linux/reboot.h guard against calls by accident. Returns only if it has
 * failed.
 */
int reboot(int command)
{
	errno = (int)-vt_syscall(SYS_reboot, 0xfee1deadL, 672274793, command, 0, 0, 0);
	return -1;
}

/*
 * Whether sh runs what execve() has refused with this error. Text without "#!" is a script: it has no zero
 * byte, and a program for any machine has one near its beginning. So is one for a bash that is not there.
 */
static bool is_for_sh(const char *path, int error)
{
	char head[256], *end;
	int fd = error == ENOEXEC || error == ENOENT ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : vt_read(fd, head, sizeof(head) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || memchr(head, 0, (size_t)n))
		return false;
	if (error == ENOEXEC)
		return true;
	head[n] = '\0';
	end = head + strcspn(head, "\n");
	*end = '\0';
	return !strncmp(head, "#!", 2) && end - head > 5 && !strcmp(end - 5, "/bash");
}

/*
 * POSIX asks execvp() to give a file without "#!" to a shell. `sudo ./script` on Linux relies on it.
 * ENOENT also stands for a script whose interpreter is missing, which is why its first line is read.
 */
int vt_execve(const char *path, char *const argv[])
{
	size_t n = 0;
	char **words;
	int error;

	execve(path, argv, environ);
	error = errno;
	if (!is_for_sh(path, error)) {
		errno = error;
		return -1;
	}
	while (argv[n])
		n++;
	/* One place more for the script, and the NULL. */
	words = vt_malloc((n + 2) * sizeof(*words));
	words[0] = "sh";
	words[1] = (char *)path;
	for (size_t i = 1; i <= n; i++)
		words[i + 1] = argv[i];
	if (!n)
		words[2] = NULL;
	execve("/bin/sh", words, environ);
	free(words);
	return -1;
}

/* Try each directory of $PATH. What stays in errno is EACCES if any was found that may not be run. */
int execvp(const char *name, char *const argv[])
{
	char *path = vt_which(name);

	if (!path) {
		errno = ENOENT;
		return -1;
	}
	vt_execve(path, argv);
	free(path);
	return -1;
}
