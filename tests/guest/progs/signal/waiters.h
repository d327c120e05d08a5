/*
 * Threads of a test's process that wait until a signal comes, and a handler that notes which thread took it. The
 * threads have the libc's state of the first one, so they make bare system calls only. Each says in `tids` who it is.
 */
#ifndef WAITERS_H
#define WAITERS_H

#include <posix.h>
#include <thread.h>
#include <uapi/futex.h>

static volatile int tids[THREAD_MAX], caught_by[NSIG], seen[NSIG];
static int word; /* stays 0: it wakes no thread */

static inline long self(void)
{
	return vt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline long mask(int how, int sig)
{
	unsigned long set = 1UL << (sig - 1);

	return vt_syscall(SYS_rt_sigprocmask, how, (long)&set, 0, 8, 0, 0);
}

static inline void nap(void)
{
	struct timespec span = {.tv_nsec = MS};

	vt_syscall(SYS_nanosleep, (long)&span, 0, 0, 0, 0, 0);
}

static inline void wait_for_ever(void)
{
	for (;;)
		vt_syscall(SYS_futex, (long)&word, FUTEX_WAIT, 0, 0, 0, 0);
}

static inline void on_signal(int sig, siginfo_t *info, void *context)
{
	caught_by[sig] = (int)self();
	seen[sig]++;
}

static inline void waiter(void *arg)
{
	tids[(long)arg] = (int)self();
	wait_for_ever();
}

static inline void blocks_usr1(void *arg)
{
	mask(SIG_BLOCK, SIGUSR1);
	waiter(arg);
}

/* Thread number i; back when it sleeps. */
static inline int begin(int i, void (*f)(void *arg))
{
	int tid = thread_start_in_group(f, (void *)(long)i);

	for (int n = 0; n < 5000 && !tids[i]; n++)
		check_sleep(MS);
	CHECK_EQ(tids[i], tid);
	thread_gets(getpid(), tid, 'S');
	return tid;
}

#endif
