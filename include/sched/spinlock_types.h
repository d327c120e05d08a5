/* What a spinlock is made of; the operations are in <sched/spinlock.h>. */
#pragma once

#include <lib/types.h>

typedef struct spinlock {
	u32 locked; /* [atomic] 1 while held */
} spinlock_t;

#define __SPIN_LOCK_UNLOCKED \
	{                    \
		0            \
	}
#define DEFINE_SPINLOCK(x) spinlock_t x = __SPIN_LOCK_UNLOCKED
#define spin_lock_init(l)  (*(l) = (spinlock_t)__SPIN_LOCK_UNLOCKED)
