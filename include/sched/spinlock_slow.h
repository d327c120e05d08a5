/* A spinlock that is not free. <sched/spinlock.h> has the lock itself. */
#pragma once

#include <sched/spinlock.h>

/*
 * Wait for the lock, which arch_spin_trylock() has found taken, and record that as lock:contention_begin and
 * lock:contention_end. Preemption off; any context but NMI. Returns `flags`, so that a caller can leave by this call
 * and needs to keep nothing. The name is Linux's; the waiters form no queue here.
 */
unsigned long queued_spin_lock_slowpath(spinlock_t *l, unsigned long flags);

/* arch_spin_lock() whose waits are events. */
static inline void spin_lock_contended(spinlock_t *l)
{
	if (unlikely(!arch_spin_trylock(l)))
		queued_spin_lock_slowpath(l, 0);
}
