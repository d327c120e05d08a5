/* Structures and numbers of the time system calls (Linux's generic ABI, 64-bit). */
#pragma once

#include <lib/types.h>

struct timespec {
	s64 tv_sec;
	s64 tv_nsec;
};
struct timeval {
	s64 tv_sec;
	s64 tv_usec;
};
struct timezone {
	int tz_minuteswest;
	int tz_dsttime;
};
struct itimerval {
	struct timeval it_interval;
	struct timeval it_value;
};
/* times(2), in ticks of 1/USER_HZ s. */
struct tms {
	s64 tms_utime, tms_stime, tms_cutime, tms_cstime;
};
#define USER_HZ 100

#define CLOCK_REALTIME		 0
#define CLOCK_MONOTONIC		 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID	 3
#define CLOCK_MONOTONIC_RAW	 4
#define CLOCK_REALTIME_COARSE	 5
#define CLOCK_MONOTONIC_COARSE	 6
#define CLOCK_BOOTTIME		 7

#define TIMER_ABSTIME 1

#define ITIMER_REAL    0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF    2
