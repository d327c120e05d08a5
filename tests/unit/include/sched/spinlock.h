/* The bare spinlock on the host; a waiter lets the holder's thread run. */
#pragma once

#include <lib/types.h>
#include <sched.h>
#include <sched/spinlock_types.h>

#define cpu_relax() sched_yield()

static inline bool arch_spin_trylock(spinlock_t *l)
{
	return !__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE);
}
static inline void arch_spin_lock(spinlock_t *l)
{
	while (!arch_spin_trylock(l))
		cpu_relax();
}
static inline void arch_spin_unlock(spinlock_t *l)
{
	__atomic_store_n(&l->locked, 0, __ATOMIC_RELEASE);
}
