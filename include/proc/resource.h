/* Resource limits and usage, with Linux's numbers and structures. */
#pragma once

#include <lib/types.h>
#include <proc/signal.h>
#include <uapi/resource.h>
#include <uapi/time.h>

#define RLIM_NLIMITS  16
#define RLIM_INFINITY U64_MAX

struct rlimit64 {
	u64 rlim_cur, rlim_max;
};
/* fs.nr_open at the start: the most descriptors that anybody may ask for (RLIMIT_NOFILE). */
#define NR_OPEN_MAX (1U << 16)
/* The present soft limit of the current process. A word is read whole: no lock. */
#define rlimit(which) READ_ONCE(current->signal->rlim[which][0])

#define RUSAGE_BOTH (-2) /* the sum of SELF and CHILDREN: what wait4(2) tells; not for getrusage(2) */

/* As getrusage(2) and wait4(2) pass it. */
struct rusage {
	struct timeval ru_utime, ru_stime;
	long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock;
	long ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
/* Of a process (its threads, dead ones included), `who` as in getrusage(2). Takes siglock. */
void getrusage(struct task_struct *p, int who, struct rusage *r);
/*
 * A tick of `delta` ns found the current task running, in user mode or in the kernel: RLIMIT_CPU, RLIMIT_RTTIME and the
 * interval timers in CPU time. Context: its interrupt, no locks.
 */
void check_cpu_limits(u64 delta, bool user);
/* CPU time of a process with all its threads, ns. Takes siglock. */
void thread_group_cputime(struct task_struct *p, u64 *utime, u64 *stime);
void thread_group_cputime_locked(struct task_struct *p, u64 *utime, u64 *stime); /* the same [S] */
