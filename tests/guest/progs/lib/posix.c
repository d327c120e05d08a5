/* Calls that the C library of Linux has and userland's has not. */
#include <posix.h>

#ifndef __linux__
#define CALL(name, ...) CALL_(SYS_##name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(nr, a, b, c, d, e, f, ...) \
	check_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

int sigpending(sigset_t *set)
{
	return (int)CALL(rt_sigpending, set, sizeof(*set));
}

int sigsuspend(const sigset_t *set)
{
	return (int)CALL(rt_sigsuspend, set, sizeof(*set));
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

int sigqueue(pid_t pid, int sig, const union sigval value)
{
	siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};

	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value = value;
	return (int)CALL(rt_sigqueueinfo, pid, sig, &info);
}

int sigaltstack(const stack_t *new, stack_t *old)
{
	return (int)CALL(sigaltstack, new, old);
}

int tgkill(pid_t process, pid_t thread, int sig)
{
	return (int)CALL(tgkill, process, thread, sig);
}

pid_t gettid(void)
{
	return (pid_t)CALL(gettid, 0);
}

int waitid(int type, pid_t id, siginfo_t *info, int options)
{
	return (int)CALL(waitid, type, id, info, options);
}

pid_t getsid(pid_t pid)
{
	return (pid_t)CALL(getsid, pid);
}

int pause(void)
{
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	return sigsuspend(&now);
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *ex, const struct timespec *limit, const sigset_t *mask)
{
	struct {
		const sigset_t *mask;
		size_t size;
	} pack = {mask, sizeof(*mask)};
	struct timespec span;

	if (limit)
		span = *limit;
	return (int)CALL(pselect6, n, in, out, ex, limit ? &span : NULL, &pack);
}

/* As with pselect, what is left of the time is not told. */
int select(int n, fd_set *in, fd_set *out, fd_set *ex, struct timeval *limit)
{
	struct timespec span;

	if (limit)
		span = (struct timespec){limit->tv_sec, limit->tv_usec * 1000};
	return pselect(n, in, out, ex, limit ? &span : NULL, NULL);
}

int getitimer(int which, struct itimerval *now)
{
	return (int)CALL(getitimer, which, now);
}

int setitimer(int which, const struct itimerval *new, struct itimerval *old)
{
	return (int)CALL(setitimer, which, new, old);
}

unsigned alarm(unsigned seconds)
{
#ifdef __x86_64__
	return (unsigned)CALL(alarm, seconds);
#else
	struct itimerval new = {{0, 0}, {seconds, 0}}, old;

	setitimer(ITIMER_REAL, &new, &old);
	return (unsigned)(old.it_value.tv_sec +
			  (old.it_value.tv_usec >= 500000 || (!old.it_value.tv_sec && old.it_value.tv_usec)));
#endif
}

clock_t times(struct tms *tms)
{
	return (clock_t)CALL(times, tms);
}

int setrlimit(int which, const struct rlimit *limit)
{
	return (int)CALL(prlimit64, 0, which, limit, NULL);
}

int getrlimit(int which, struct rlimit *limit)
{
	return (int)CALL(prlimit64, 0, which, NULL, limit);
}
#endif
