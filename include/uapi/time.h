/* Structures of the time system calls (Linux's generic ABI, 64-bit). */
#pragma once

#include <uapi/clock.h>
#include <uapi/types.h>

struct timespec {
	__s64 tv_sec;
	__s64 tv_nsec;
};
struct timeval {
	__s64 tv_sec;
	__s64 tv_usec;
};
struct itimerspec {
	struct timespec it_interval, it_value;
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
	__s64 tms_utime, tms_stime, tms_cutime, tms_cstime;
};
#define USER_HZ 100
