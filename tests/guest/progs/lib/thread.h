/* Processes that share their memory (clone with CLONE_VM): for tests of one address space on several CPUs. */
#ifndef THREAD_H
#define THREAD_H

#include <check.h>

#define THREAD_MAX 8

/*
 * Run f(arg) on this CPU (-1: on any), sharing memory and files with the caller, on a stack of its own. f
 * touches no libc that keeps state (stdio, malloc, errno): that is shared as well. At most THREAD_MAX at a
 * time. Returns its pid; ends the process on failure.
 */
pid_t thread_start(int cpu, void (*f)(void *arg), void *arg);
/* The same as a thread of the caller's process, which nobody can wait for. Returns its number. */
pid_t thread_start_in_group(void (*f)(void *arg), void *arg);
/* The same, and -errno when the kernel refuses. */
long thread_try_in_group(void (*f)(void *arg), void *arg);
/* Wait for the threads of these pids: true when all ended with status 0. */
bool thread_join(const pid_t *pids, int n);

#endif
