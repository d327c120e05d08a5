/* Priorities and what a process has used. */
#ifndef VT_SYS_RESOURCE_H
#define VT_SYS_RESOURCE_H

#include <sys/types.h>
#include <sys/time.h>
#include <uapi/resource.h>

struct rusage {
	struct timeval ru_utime; /* user time used */
	struct timeval ru_stime; /* system time used */
	long ru_maxrss;		 /* KiB */
	long ru_ixrss, ru_idrss, ru_isrss;
	long ru_minflt, ru_majflt;
	long ru_nswap, ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals;
	long ru_nvcsw;	/* switches by waiting */
	long ru_nivcsw; /* switches by preemption */
};

/* Nice value -20..19; -1 may also be a value: set errno to 0 before. */
int getpriority(int which, int who);
/* Return 0, or -1 with errno. */
int setpriority(int which, int who, int nice);
int getrusage(int who, struct rusage *ru);

#endif
