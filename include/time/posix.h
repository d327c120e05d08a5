/* What the time system calls share: user time structures to ns and back, reading a clock by number. */
#pragma once

#include <lib/types.h>
#include <uapi/time.h>

/*
 * To ns. 0; -EFAULT, -EINVAL (negative, or 10^9 ns and more). A time that is too long becomes KTIME_MAX. Thread
 * context.
 */
int get_timespec_ns(const struct timespec __user *uts, u64 *ns);
int get_timeval_ns(const struct timeval *tv, u64 *ns);	  /* from a kernel copy: 0 or -EINVAL */
int put_timespec_ns(struct timespec __user *uts, u64 ns); /* 0 or -EFAULT */
struct timeval ns_to_timeval(u64 ns);
/* A clock's time in ns; -EINVAL: there is no clock of this number. */
int clock_read_ns(int clock, u64 *ns);
