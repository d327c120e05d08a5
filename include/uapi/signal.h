/* Numbers of signals, of their flags and of where they come from (sigaction(2); Linux's asm-generic ones). */
#pragma once

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
#define SIGRTMIN  32 /* the first that is queued each time it is sent */

/* How: sigprocmask(2). */
#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

/* sigaction(2)'s sa_flags. */
#define SA_NOCLDSTOP 0x00000001
#define SA_NOCLDWAIT 0x00000002
#define SA_SIGINFO   0x00000004
#define SA_ONSTACK   0x08000000
#define SA_RESTART   0x10000000
#define SA_NODEFER   0x40000000
#define SA_RESETHAND 0x80000000
#define SA_RESTORER  0x04000000

/* siginfo's si_code: who has sent it. */
#define SI_USER	  0
#define SI_KERNEL 0x80
#define SI_TKILL  (-6)
#define SI_QUEUE  (-1)
#define SI_TIMER  (-2)
#define SI_SIGIO  (-5)
/* Of SIGIO, and of the signal of F_SETSIG: what the file is ready for. */
#define POLL_IN	 1
#define POLL_OUT 2
/* sigevent's sigev_notify: how a timer tells that it has expired. */
#define SIGEV_SIGNAL	0
#define SIGEV_NONE	1
#define SIGEV_THREAD	2 /* a signal for the kernel; the C library makes a thread of it */
#define SIGEV_THREAD_ID 4
/* Of SIGCHLD: what has become of the child. */
#define CLD_EXITED    1
#define CLD_KILLED    2
#define CLD_DUMPED    3
#define CLD_TRAPPED   4
#define CLD_STOPPED   5
#define CLD_CONTINUED 6
/* Of faults: what was wrong. */
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN  1
#define BUS_ADRERR  2
#define BUS_OBJERR  3
#define ILL_ILLOPC  1
#define TRAP_BRKPT  1
#define TRAP_TRACE  2
#define TRAP_HWBKPT 4

/* sigaltstack(2). */
#define SS_ONSTACK    1
#define SS_DISABLE    2
#define SS_AUTODISARM 0x80000000u
#define MINSIGSTKSZ   2048
