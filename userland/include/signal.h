/* Signals with Linux's numbers and the kernel's struct sigaction. */
#ifndef VT_SIGNAL_H
#define VT_SIGNAL_H

#include <sys/types.h>

/* Linux's uapi/asm-generic/signal.h. */
#define SIGHUP	  1
#define SIGINT	  2
#define SIGQUIT	  3
#define SIGILL	  4
#define SIGTRAP	  5
#define SIGABRT	  6
#define SIGBUS	  7
#define SIGFPE	  8
#define SIGKILL	  9
#define SIGUSR1	  10
#define SIGSEGV	  11
#define SIGUSR2	  12
#define SIGPIPE	  13
#define SIGALRM	  14
#define SIGTERM	  15
#define SIGSTKFLT 16
#define SIGCHLD	  17
#define SIGCONT	  18
#define SIGSTOP	  19
#define SIGTSTP	  20
#define SIGTTIN	  21
#define SIGTTOU	  22
#define SIGURG	  23
#define SIGXCPU	  24
#define SIGXFSZ	  25
#define SIGVTALRM 26
#define SIGPROF	  27
#define SIGWINCH  28
#define SIGIO	  29
#define SIGPWR	  30
#define SIGSYS	  31
#define NSIG	  65

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

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 0x00000001
#define SA_NOCLDWAIT 0x00000002
#define SA_SIGINFO   0x00000004
#define SA_RESTORER  0x04000000
#define SA_RESTART   0x10000000
#define SA_RESETHAND 0x80000000u

/* The beginning of the kernel's, all that is used here: with si_code > 0 it comes from the kernel, not a process. */
typedef struct {
	int si_signo, si_errno, si_code;
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
