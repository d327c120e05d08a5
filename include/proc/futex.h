/* Futexes: sleeping on a word of user memory, with Linux's operations. */
#pragma once

#include <lib/types.h>
#include <uapi/futex.h>

struct task_struct;

/*
 * Wake up to `nr` sleepers on the word, and one when `nr` is less than 1: Linux has always done so, and programs may
 * count on it. Returns how many, -EINVAL, -EFAULT, -EAGAIN. Thread context.
 */
int futex_wake(u32 __user *uaddr, bool shared, int nr, u32 bitset);
/*
 * Locks with priority inheritance that the current thread still has go to those who wait for them. At the thread's end,
 * or in exec, behind exit_robust_list(). Thread context; takes futex_pi_mutex.
 */
void futex_pi_exit(void);
/* The priority of a task that may wait for such a lock has changed. Thread context; takes futex_pi_mutex. */
void futex_pi_adjust(struct task_struct *p);
/* The list of locks that a thread holds, walked when it ends: marks each FUTEX_OWNER_DIED and wakes one
 * waiter. */
void exit_robust_list(void *head);
