/* Futexes: sleeping on a word of user memory, with Linux's operations. */
#pragma once

#include <lib/types.h>
#include <uapi/futex.h>

/*
 * Wake up to `nr` sleepers on the word, and one when `nr` is less than 1: Linux has always done so, and programs may
 * count on it. Returns how many, -EINVAL, -EFAULT, -EAGAIN. Thread context.
 */
int futex_wake(u32 __user *uaddr, bool shared, int nr, u32 bitset);
/* The list of locks that a thread holds, walked when it ends: marks each FUTEX_OWNER_DIED and wakes one
 * waiter. */
void exit_robust_list(void *head);
