/* Signals with Linux's numbers and the kernel's struct sigaction. */
#ifndef VT_SIGNAL_H
#define VT_SIGNAL_H

#include <sys/types.h>
#include <uapi/signal.h>

#define NSIG 65

typedef void (*sighandler_t)(int);
typedef int sig_atomic_t;
/* newlib's <sys/types.h> makes the same type where it needs it: as long as the kernel's. Bit n-1 is signal n.
 */
#ifndef _SIGSET_T_DECLARED
#define _SIGSET_T_DECLARED
typedef unsigned long sigset_t;
#endif

#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t)-1)

union sigval {
	int sival_int;
	void *sival_ptr;
};

/* The kernel's layout. With si_code > 0 it comes from the kernel, not a process. */
typedef struct {
	int si_signo, si_errno, si_code, si_pad;
	union {
		struct {
			pid_t si_pid; /* who sent it; of SIGCHLD: the child */
			unsigned si_uid;
			union {
				struct {
					int si_status; /* of SIGCHLD: exit code, or signal */
					long si_utime, si_stime;
				};
				union sigval si_value; /* of sigqueue() */
			};
		};
		void *si_addr; /* of a fault */
		char si_rest[112];
	};
} siginfo_t;

/* The kernel's layout, so that it is passed as it stands; sa_restorer is filled in by sigaction(). */
struct sigaction {
	union {
		sighandler_t sa_handler;
		void (*sa_sigaction)(int sig, siginfo_t *info, void *context); /* with SA_SIGINFO */
	};
	unsigned long sa_flags;
	void (*sa_restorer)(void);
	sigset_t sa_mask;
};

/* Sets of signals. Return 0, sigismember 0 or 1; a signal's number is not looked at. */
static inline int sigemptyset(sigset_t *set)
{
	*set = 0;
	return 0;
}

static inline int sigfillset(sigset_t *set)
{
	*set = ~0UL;
	return 0;
}

static inline int sigaddset(sigset_t *set, int sig)
{
	*set |= 1UL << (sig - 1);
	return 0;
}

static inline int sigdelset(sigset_t *set, int sig)
{
	*set &= ~(1UL << (sig - 1));
	return 0;
}

static inline int sigismember(const sigset_t *set, int sig)
{
	return (int)(*set >> (sig - 1)) & 1;
}

/* All return 0 (signal: the old handler), or -1 (SIG_ERR) with errno. */
int kill(pid_t pid, int sig);
int raise(int sig);
int sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
struct timespec;
/* Take a pending signal of set, which must be blocked. Returns its number; -1: EAGAIN when time is up. info: NULL. */
int sigtimedwait(const sigset_t *set, void *info, const struct timespec *timeout);
/* A handler set by this restarts interrupted system calls. */
sighandler_t signal(int sig, sighandler_t handler);

#endif
