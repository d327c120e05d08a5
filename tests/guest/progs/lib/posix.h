/*
 * What POSIX and Linux have of signals, processes and times and userland's headers lack, for tests that are
 * built for the host's Linux, too. There its C library has nearly all of it. Below that: what these tests
 * share.
 */
#ifndef POSIX_H
#define POSIX_H

#include <check.h>
#include <numbers.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#ifdef __linux__
#include <sys/select.h>
#else

#define PR_SET_CHILD_SUBREAPER 36
#define PR_GET_CHILD_SUBREAPER 37

typedef struct {
	void *ss_sp;
	int ss_flags;
	size_t ss_size;
} stack_t;

/* The beginning of the kernel's, up to the mask that comes back when the handler returns. */
typedef struct {
	unsigned long uc_flags;
	void *uc_link;
	stack_t uc_stack;
} ucontext_t;

struct rlimit {
	unsigned long rlim_cur, rlim_max;
};

/* As the C library of Linux has them, in posix.c. */
int sigpending(sigset_t *set);
int sigsuspend(const sigset_t *set);
int sigwaitinfo(const sigset_t *set, siginfo_t *info);
int sigqueue(pid_t pid, int sig, const union sigval value);
int sigaltstack(const stack_t *new, stack_t *old);
int tgkill(pid_t process, pid_t thread, int sig);
pid_t gettid(void);
int waitid(int type, pid_t id, siginfo_t *info, int options);
pid_t getsid(pid_t pid);
int setrlimit(int which, const struct rlimit *limit);
int getrlimit(int which, struct rlimit *limit);
unsigned alarm(unsigned seconds);
#endif

#define MS 1000000L /* in nanoseconds */

/* A handler with siginfo. `block`: signals that are blocked while it runs, or NULL. */
static inline void handle_with(int sig, void (*f)(int sig, siginfo_t *info, void *context), int flags,
			       const sigset_t *block)
{
	struct sigaction act = {.sa_flags = flags | SA_SIGINFO};

	act.sa_sigaction = f;
	if (block)
		act.sa_mask = *block;
	else
		sigemptyset(&act.sa_mask);
	CHECK_CALL(sigaction(sig, &act, NULL));
}

/* The set of these signals, up to the first 0. */
#define SET_OF(...) set_of((const int[]){__VA_ARGS__, 0})
static inline sigset_t set_of(const int *sigs)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *sigs; sigs++)
		sigaddset(&set, *sigs);
	return set;
}

#define BLOCK(...)   change_mask(SIG_BLOCK, SET_OF(__VA_ARGS__))
#define UNBLOCK(...) change_mask(SIG_UNBLOCK, SET_OF(__VA_ARGS__))
static inline void change_mask(int how, sigset_t set)
{
	CHECK_CALL(sigprocmask(how, &set, NULL));
}

/* Is it blocked, is it pending? */
static inline bool blocked(int sig)
{
	sigset_t now;

	CHECK_CALL(sigprocmask(SIG_SETMASK, NULL, &now));
	return sigismember(&now, sig);
}

static inline bool pending(int sig)
{
	sigset_t now;

	CHECK_CALL(sigpending(&now));
	return sigismember(&now, sig);
}

/* sigwaitinfo() for 30 seconds. As the kernel has it: glibc's passes tgkill() off as kill(). */
static inline long taken(const sigset_t *set, siginfo_t *info)
{
	struct timespec limit = {.tv_sec = 30};

	return check_syscall(SYS_rt_sigtimedwait, (long)set, (long)info, (long)&limit, 8, 0, 0);
}

/* Wait until it is in this state. False, with a message: it was not for 30 seconds. */
static inline bool thread_gets(pid_t pid, pid_t tid, char state)
{
	char now = 0;

	for (int i = 0; i < 30000; i++) {
		now = thread_state(pid, tid);
		if (now == state)
			return true;
		check_sleep(MS);
	}
	check_failures++;
	printf("  task %d stays in state %c and does not get to %c\n", (int)tid, now ? now : '-', state);
	return false;
}

static inline bool process_gets(pid_t pid, char state)
{
	return thread_gets(pid, pid, state);
}

/* waitpid() for 30 seconds; 0: there is no news of it. */
static inline pid_t news_of(pid_t pid, int *status, int options)
{
	pid_t got = 0;

	for (int i = 0; i < 30000 && !got; i++) {
		got = waitpid(pid, status, options | WNOHANG);
		if (!got)
			check_sleep(MS);
	}
	return got;
}

/* A child that sleeps until it is told otherwise, and one that is ended. */
static inline void sleep_on(void)
{
	for (;;)
		check_sleep(1000 * MS);
}

static inline pid_t sleeper(void)
{
	pid_t pid = check_fork();

	if (pid == 0)
		sleep_on();
	process_gets(pid, 'S');
	return pid;
}

static inline void finish(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, SIGKILL);
}

#endif
