/* Futexes: sleeping on a word of user memory, with Linux's operations. */
#pragma once

#include <lib/types.h>

#define FUTEX_WAIT           0
#define FUTEX_WAKE           1
#define FUTEX_REQUEUE        3
#define FUTEX_CMP_REQUEUE    4
#define FUTEX_WAIT_BITSET    9
#define FUTEX_WAKE_BITSET    10
#define FUTEX_PRIVATE_FLAG   128
#define FUTEX_CLOCK_REALTIME 256
#define FUTEX_CMD_MASK       (~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME))
#define FUTEX_BITSET_ANY     0xffffffffu
#define FUTEX_WAITERS        0x80000000u
#define FUTEX_OWNER_DIED     0x40000000u
#define FUTEX_TID_MASK       0x3fffffffu

/*
 * Wake up to `nr` sleepers on the word, and one when `nr` is less than 1: Linux has always done so, and programs may
 * count on it. Returns how many, -EINVAL, -EFAULT, -EAGAIN. Thread context.
 */
int futex_wake(u32 __user *uaddr, bool shared, int nr, u32 bitset);
/* The list of locks that a thread holds, walked when it ends: marks each FUTEX_OWNER_DIED and wakes one
 * waiter. */
void exit_robust_list(void *head);
