/*
 * POSIX calls that are one system call each: argument order adapted, -errno turned into errno. The
 * kernel returns -4095 to -1 for an error, in the register that holds the result (vt_result).
 *
 * What each returns and does is said in the header that declares it, or by POSIX. Where Linux has
 * only a call of the "at" family on new machines (openat, unlinkat, ...), the older name is made of
 * it with AT_FDCWD, the current directory.
 */
#include <vt.h>
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <termios.h>
#include <time.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/module.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <bits/syscall.h>
#include <sys/syscall.h>

/*
 * Make a call of one to six arguments. Each is cast to long, which a register holds; missing ones are
 * 0. CALL appends six zeros, and CALL6 takes the first six arguments and drops the rest:
 *
 *     CALL(dup, fd)  ->  CALL6(dup, fd, 0, 0, 0, 0, 0, 0)  ->  vt_result(vt_syscall(SYS_dup, fd, 0, 0, 0, 0, 0))
 */
#define CALL6(nr, a, b, c, d, e, f, ...) \
	vt_result(vt_syscall(SYS_##nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CALL(...) CALL6(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

/* Other negative numbers are results: an address in the upper half (mmap) looks negative but is below -4095. */
long vt_result(long result)
{
	if (result < 0 && result >= -4095) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/* --- Open files. (read and write return what newlib's <unistd.h> says: int or ssize_t.) --- */

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	/* Without O_CREAT there is no third argument to be taken. */
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return (int)CALL(openat, AT_FDCWD, path, flags, mode);
}

/*
 * Not begun again after EINTR: on Linux the descriptor is free by then, and another thread may have
 * it.
 */
int close(int fd)
{
	return (int)CALL(close, fd);
}

_READ_WRITE_RETURN_TYPE read(int fd, void *buf, size_t size)
{
	return CALL(read, fd, buf, size);
}

_READ_WRITE_RETURN_TYPE write(int fd, const void *buf, size_t size)
{
	return CALL(write, fd, buf, size);
}

/* ESPIPE for pipes and terminals. */
off_t lseek(int fd, off_t offset, int whence)
{
	return CALL(lseek, fd, offset, whence);
}

/*
 * All commands used here take an int or nothing, which va_arg as a long may read: unused high bits
 * are the kernel's to ignore.
 */
int fcntl(int fd, int cmd, ...)
{
	va_list args;
	long arg;

	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	return (int)CALL(fcntl, fd, cmd, arg);
}

/* The argument is passed as it is: a number or an address, as the request has it. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	long arg;

	va_start(args, request);
	arg = va_arg(args, long);
	va_end(args);
	return (int)CALL(ioctl, fd, request, arg);
}

int dup(int fd)
{
	return (int)CALL(dup, fd);
}

/* flags is O_CLOEXEC or 0; EINVAL when both are the same. */
int dup3(int from, int to, int flags)
{
	return (int)CALL(dup3, from, to, flags);
}

int pipe2(int fds[2], int flags)
{
	return (int)CALL(pipe2, fds, flags);
}

/* fds[0] is for reading, fds[1] for writing. Neither is closed by exec. */
int pipe(int fds[2])
{
	return (int)CALL(pipe2, fds, 0);
}

/* Moves bytes between two files, one of which is a pipe, without copying them through this program. */
ssize_t splice(int in, off_t *off_in, int out, off_t *off_out, size_t n, unsigned flags)
{
	return (ssize_t)CALL(splice, in, off_in, out, off_out, n, flags);
}

/* A negative time means to wait without end, which ppoll() spells as NULL. */
int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	return ppoll(fds, n, ms < 0 ? NULL : &limit, NULL);
}

/* As with Linux's C libraries: what the kernel writes back of the time is not the caller's. */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
	struct timespec left = limit ? *limit : (struct timespec){0};

	return (int)CALL(ppoll, fds, n, limit ? &left : NULL, mask, sizeof(*mask));
}

int truncate(const char *path, off_t size)
{
	return (int)CALL(truncate, path, size);
}

int ftruncate(int fd, off_t size)
{
	return (int)CALL(ftruncate, fd, size);
}

/* --- Names in the file system. --- */

/* The call without a flag follows links; lstat() is the same call with one. */
int stat(const char *path, struct stat *st)
{
	return (int)CALL(newfstatat, AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
	return (int)CALL(newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

/*
 * The only one of the three that needs no name, so it works on pipes and on files that were
 * removed.
 */
int fstat(int fd, struct stat *st)
{
	return (int)CALL(newfstat, fd, st);
}

/* By the real user and group, not the effective ones: that is what the call is for. */
int access(const char *path, int mode)
{
	return (int)CALL(faccessat, AT_FDCWD, path, mode);
}

/* fchmodat of the kernel takes no flags: a link is followed. */
int chmod(const char *path, mode_t mode)
{
	return (int)CALL(fchmodat, AT_FDCWD, path, mode);
}

/* Cannot fail: the result is the old mask. */
mode_t umask(mode_t mask)
{
	return (mode_t)CALL(umask, mask);
}

/* times NULL: now. */
int utimensat(int dirfd, const char *path, const struct timespec times[2], int flags)
{
	return (int)CALL(utimensat, dirfd, path, times, flags);
}

int mkdir(const char *path, mode_t mode)
{
	return (int)CALL(mkdirat, AT_FDCWD, path, mode);
}

/* There is no call rmdir on new machines: unlinkat() with a flag removes directories. */
int rmdir(const char *path)
{
	return (int)CALL(unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int unlink(const char *path)
{
	return (int)CALL(unlinkat, AT_FDCWD, path, 0);
}

/*
 * Replaces what is there in one step: at every moment the name `to` leads to the old file or to the
 * new one, and never to nothing. Programs that rewrite a file rely on it.
 */
int rename(const char *from, const char *to)
{
	return (int)CALL(renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
	return (int)CALL(linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* The target is text and need not exist; it is only looked up when the link is followed. */
int symlink(const char *target, const char *path)
{
	return (int)CALL(symlinkat, target, AT_FDCWD, path);
}

/* No zero is added, and a longer target is cut without a word: n == size says so. */
ssize_t readlink(const char *path, char *buf, size_t size)
{
	return CALL(readlinkat, AT_FDCWD, path, buf, size);
}

int mknod(const char *path, mode_t mode, unsigned long dev)
{
	return (int)CALL(mknodat, AT_FDCWD, path, mode, dev);
}

int chdir(const char *path)
{
	return (int)CALL(chdir, path);
}

int chroot(const char *path)
{
	return (int)CALL(chroot, path);
}

/* The system call returns the length, or ERANGE when size is too small. */
char *getcwd(char *buf, size_t size)
{
	return CALL(getcwd, buf, size) < 0 ? NULL : buf;
}

void sync(void)
{
	CALL(sync, 0);
}

/* The types of file systems and the flags are the kernel's. */
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data)
{
	return (int)CALL(mount, source, target, type, flags, data);
}

int umount2(const char *target, int flags)
{
	return (int)CALL(umount, target, flags);
}

int init_module(const void *image, unsigned long len, const char *params)
{
	return (int)CALL(init_module, image, len, params);
}

int finit_module(int fd, const char *params, int flags)
{
	return (int)CALL(finit_module, fd, params, flags);
}

int delete_module(const char *name, unsigned flags)
{
	return (int)CALL(delete_module, name, flags);
}

int umount(const char *target)
{
	return (int)CALL(umount, target, 0);
}

/* --- Processes and signals. --- */

/*
 * clone() with nothing shared, and SIGCHLD for the parent when the child ends. The buffers of stdio
 * are copied as well: without a flush before, what is in them would be written twice.
 */
pid_t fork(void)
{
	return (pid_t)CALL(clone, SIGCHLD, 0, 0, 0, 0);
}

/* Returns only on failure. */
int execve(const char *path, char *const argv[], char *const envp[])
{
	return (int)CALL(execve, path, argv, envp);
}

/* WNOHANG returns 0 while no child has ended. ru may be NULL; it takes what the child has used. */
pid_t wait4(pid_t pid, int *status, int options, struct rusage *ru)
{
	return (pid_t)CALL(wait4, pid, status, options, ru);
}

/* Without usage; WNOHANG's 0 and EINTR come back as they are. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	return (pid_t)CALL(wait4, pid, status, options, 0);
}

pid_t wait(int *status)
{
	return (pid_t)CALL(wait4, -1, status, 0, 0);
}

pid_t getpid(void)
{
	return (pid_t)CALL(getpid, 0);
}

pid_t getppid(void)
{
	return (pid_t)CALL(getppid, 0);
}

uid_t getuid(void)
{
	return (uid_t)CALL(getuid, 0);
}

uid_t geteuid(void)
{
	return (uid_t)CALL(geteuid, 0);
}

gid_t getgid(void)
{
	return (gid_t)CALL(getgid, 0);
}

gid_t getegid(void)
{
	return (gid_t)CALL(getegid, 0);
}

/*
 * 0 stands for the caller, and for its own id as the group. EACCES: the child has called exec already.
 * A shell calls this in the parent and in the child, since either may run first.
 */
int setpgid(pid_t pid, pid_t group)
{
	return (int)CALL(setpgid, pid, group);
}

pid_t getpgid(pid_t pid)
{
	return (pid_t)CALL(getpgid, pid);
}

pid_t getpgrp(void)
{
	return (pid_t)CALL(getpgid, 0);
}

/*
 * Fails with EPERM for a process that leads a group already; the usual way round is to fork first. The
 * new session has no terminal.
 */
pid_t setsid(void)
{
	return (pid_t)CALL(setsid, 0);
}

/* 0: the caller's group, -1: everybody, below that: the group of that number. */
int kill(pid_t pid, int sig)
{
	return (int)CALL(kill, pid, sig);
}

/* To the process, which has only this thread. */
int raise(int sig)
{
	return (int)CALL(kill, getpid(), sig);
}

/* The kernel can tell more about the signal; nobody here asks. */
int sigtimedwait(const sigset_t *set, void *info, const struct timespec *timeout)
{
	return (int)CALL(rt_sigtimedwait, set, info, timeout, sizeof(sigset_t));
}

/* The kernel's mask is 64 bits: its size is an argument, as it may grow. */
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)CALL(rt_sigprocmask, how, set, old, sizeof(sigset_t));
}

/* --- Scheduling. --- */

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	return (int)CALL(sched_setscheduler, pid, policy, param);
}

/*
 * The newer form of sched_setscheduler(): only it can set SCHED_DEADLINE. attr has its own size in it.
 */
int sched_setattr(pid_t pid, const struct sched_attr *attr, unsigned int flags)
{
	return (int)CALL(sched_setattr, pid, attr, flags);
}

int sched_getattr(pid_t pid, struct sched_attr *attr, unsigned int size, unsigned int flags)
{
	return (int)CALL(sched_getattr, pid, attr, size, flags);
}

int sched_getscheduler(pid_t pid)
{
	return (int)CALL(sched_getscheduler, pid);
}

int sched_setparam(pid_t pid, const struct sched_param *param)
{
	return (int)CALL(sched_setparam, pid, param);
}

int sched_getparam(pid_t pid, struct sched_param *param)
{
	return (int)CALL(sched_getparam, pid, param);
}

/* The CPUs on which a task may run; it is moved at once if it runs on another. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	return (int)CALL(sched_setaffinity, pid, size, set);
}

int sched_get_priority_max(int policy)
{
	return (int)CALL(sched_get_priority_max, policy);
}

int sched_get_priority_min(int policy)
{
	return (int)CALL(sched_get_priority_min, policy);
}

int sched_yield(void)
{
	return (int)CALL(sched_yield, 0);
}

/*
 * Here the value is the nice value itself, -20 to 19; only getpriority()'s result is shifted
 * (calls.c).
 */
int setpriority(int which, int who, int nice)
{
	return (int)CALL(setpriority, which, who, nice);
}

int getrusage(int who, struct rusage *ru)
{
	return (int)CALL(getrusage, who, ru);
}

/* --- Time, memory and the system as a whole. --- */

/* A system call: there is no vDSO, so reading the time costs an entry into the kernel. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	return (int)CALL(clock_gettime, clock, now);
}

int clock_settime(clockid_t clock, const struct timespec *now)
{
	return (int)CALL(clock_settime, clock, now);
}

/* Counted on the monotonic clock, whatever is done to the time of day. */
int nanosleep(const struct timespec *span, struct timespec *left)
{
	return (int)CALL(nanosleep, span, left);
}

int uname(struct utsname *names)
{
	return (int)CALL(newuname, names);
}

int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return (int)CALL(prctl, option, a, b, c, d);
}

int statfs(const char *path, struct statfs *to)
{
	return (int)CALL(statfs, path, to);
}

int sysinfo(struct sysinfo *info)
{
	return (int)CALL(sysinfo, info);
}

/* The C library's syslog() is something else, hence the name. */
int klogctl(int action, char *buf, int len)
{
	return (int)CALL(syslog, action, buf, len);
}

/* On an error the -1 that CALL() makes is MAP_FAILED. */
void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return (void *)CALL(mmap, addr, length, prot, flags, fd, offset);
}

int munmap(void *addr, size_t length)
{
	return (int)CALL(munmap, addr, length);
}
