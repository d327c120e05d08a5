/* The bare spinlock on the host; a waiter lets the holder's thread run. */
#pragma once

#include <lib/types.h>
#include <sched.h>
#include <sched/spinlock_types.h>

#define cpu_relax() sched_yield()

static inline void arch_spin_lock(spinlock_t *l)
{
	u16 ticket = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&l->owner, __ATOMIC_ACQUIRE) != ticket)
		cpu_relax();
}
static inline void arch_spin_unlock(spinlock_t *l)
{
	__atomic_store_n(&l->owner, l->owner + 1, __ATOMIC_RELEASE);
}
