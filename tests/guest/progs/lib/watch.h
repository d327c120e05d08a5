/* Children that may do anything: end, die, or never come back. */
#ifndef WATCH_H
#define WATCH_H

#include <check.h>

/* Before the first watch_child(): SIGCHLD is waited for instead of handled. */
void watch_init(void);
/*
 * Wait until the child ends; kill it, and all of its process group, when it has not after ms milliseconds.
 * Gives the wait status; *killed says that it had to be killed.
 */
int watch_child(pid_t pid, long ms, bool *killed);
/*
 * Wait until the child ends, however long it takes, as long as it goes on: kill it when *steps, which it counts up, has
 * stood still for ms milliseconds. Gives the wait status.
 */
int watch_steps(pid_t pid, long ms, const volatile int *steps);
/* Kill what is left of the child's process group (a child calls setpgid(0, 0) first) and collect it. */
void watch_sweep(pid_t group);
/* MemFree of /proc/meminfo in KiB, once every ended process is collected and its memory given back. */
long watch_free_memory(void);
/* How many KiB are missing of `before`, when workers have had the time to free all but a few of them. */
long watch_missing(long before, long few);
/* The sum over the orders of /proc/buddyinfo, in KiB. */
long watch_buddy_memory(void);
/* A sequence of numbers that is the same for the same seed (xorshift64*, Vigna 2016). */
unsigned long watch_random(unsigned long *state);

#endif
