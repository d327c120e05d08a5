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
/*
 * Clocks of CPU time, those of numbers below 0 included: the task, with a reference (NULL: the number names none, or
 * one that current may not read), whether the clock is its alone or its process's, and whether it counts as exactly
 * as the scheduler does.
 */
struct task_struct *get_cpu_clock_task(int clock);
bool cpu_clock_of_thread(int clock);
bool cpu_clock_is_exact(int clock);
/* A clock's time in ns; -EINVAL: there is no clock of this number. */
int clock_read_ns(int clock, u64 *ns);
