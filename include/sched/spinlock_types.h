/* What a spinlock is made of; the operations are in <sched/spinlock.h>. */
#pragma once

#include <lib/types.h>

typedef struct __aligned(4) spinlock {
	u16 owner; /* ticket being served [holder writes] */
	u16 next;  /* next ticket to give out [atomic] */
} spinlock_t;

#define __SPIN_LOCK_UNLOCKED { 0, 0 }
#define DEFINE_SPINLOCK(x)   spinlock_t x = __SPIN_LOCK_UNLOCKED
#define spin_lock_init(l)    (*(l) = (spinlock_t)__SPIN_LOCK_UNLOCKED)
