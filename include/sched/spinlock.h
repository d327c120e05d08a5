/*
 * Spinlocks: one word, not fair, preemption off while held. Tickets would be fair, but with more virtual CPUs than
 * real ones the next in line is often not running, and all behind it wait for the host's scheduler (docs/tricks.md).
 * Real functions, named as in Linux, so that filters such as '_raw_spin_*' find them. arch-free: the wait is
 * cpu_relax(), the orders are acquire on lock and release on unlock.
 * Rules: never sleep while holding one; a lock that a hard interrupt takes is taken with _irqsave or _irq elsewhere.
 */
#pragma once

#include <arch/processor.h>
#include <irq/irqflags.h>
#include <lib/types.h>
#include <sched/spinlock_types.h>

void _raw_spin_lock(spinlock_t *l);
void _raw_spin_unlock(spinlock_t *l);
bool _raw_spin_trylock(spinlock_t *l);
void _raw_spin_lock_irq(spinlock_t *l);
void _raw_spin_unlock_irq(spinlock_t *l);
void _raw_spin_lock_bh(spinlock_t *l);
void _raw_spin_unlock_bh(spinlock_t *l);
unsigned long _raw_spin_lock_irqsave(spinlock_t *l);
void _raw_spin_unlock_irqrestore(spinlock_t *l, unsigned long flags);

#define spin_lock(l)			 _raw_spin_lock(l)
#define spin_unlock(l)			 _raw_spin_unlock(l)
#define spin_trylock(l)			 _raw_spin_trylock(l)
#define spin_lock_irq(l)		 _raw_spin_lock_irq(l)
#define spin_unlock_irq(l)		 _raw_spin_unlock_irq(l)
#define spin_lock_bh(l)			 _raw_spin_lock_bh(l)
#define spin_unlock_bh(l)		 _raw_spin_unlock_bh(l)
#define spin_lock_irqsave(l, flags)	 ((flags) = _raw_spin_lock_irqsave(l))
#define spin_unlock_irqrestore(l, flags) _raw_spin_unlock_irqrestore(l, flags)

static inline bool spin_is_locked(const spinlock_t *l)
{
	return READ_ONCE(l->locked);
}

/* The bare lock, not traced, preemption and interrupts left to the caller: for the tracer and the panic path. */
static inline bool arch_spin_trylock(spinlock_t *l)
{
	return !__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE);
}
static inline void arch_spin_lock(spinlock_t *l)
{
	while (unlikely(!arch_spin_trylock(l)))
		while (READ_ONCE(l->locked)) /* waiters share the line until it is free */
			cpu_relax();
}
static inline void arch_spin_unlock(spinlock_t *l)
{
	__atomic_store_n(&l->locked, 0, __ATOMIC_RELEASE);
}
