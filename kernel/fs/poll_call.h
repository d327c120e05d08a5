/* What poll(2) and select(2) share (poll.c). Thread context, all of it. */
#pragma once

#include <fs/poll.h>
#include <sched/task.h>
#include <time/ktime.h>

struct timespec;

#define NO_TIMEOUT KTIME_MAX /* a deadline that never comes */

/* What is ready of the file, POLL*; it also puts the caller on the file's queues when pt says so. */
unsigned vfs_poll(struct file *f, struct poll_table *pt);
/*
 * Ask all files until one is ready, the time is over (0), or a signal comes (-ERESTARTNOHAND). `scan` returns how many
 * are ready, or -errno; it is called again after each wake-up.
 */
int poll_files(ktime_t deadline, int (*scan)(void *what, struct poll_table *pt), void *what);

/* The moment that lies so far ahead. 0 or -EINVAL. */
int poll_deadline_in(s64 sec, s64 nsec, ktime_t *deadline);
/* A user's relative timeout (NULL: wait for ever) as a deadline. 0 or -errno. */
int poll_deadline(const struct timespec __user *uts, ktime_t *deadline);
/* Nanoseconds until the deadline, not below 0. */
s64 poll_time_left(ktime_t deadline);
/* The result of a call whose caller is not told what is left of the time. */
long poll_sticky_result(long res);
/* The signal mask for the time of the call, which only poll_finish() gives back. 0 or -errno. */
int poll_sigmask(const sigset_t __user *umask, size_t size);
/* The end of ppoll and pselect: the mask, and what is left of the time. What the call returns. */
long poll_finish(struct timespec __user *uts, ktime_t deadline, long res);
