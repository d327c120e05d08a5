/* One thread plays all CPUs: whatever another CPU does before we get a lock happens in host_locking(). */
#pragma once

#include <lib/types.h>
#include <sched/spinlock_types.h>

#define cpu_relax() ((void)0)

void host_locking(void);

static inline void arch_spin_lock(spinlock_t *l)
{
	host_locking();
	l->locked = 1;
}

static inline void arch_spin_unlock(spinlock_t *l)
{
	l->locked = 0;
}
