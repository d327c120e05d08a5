/*
 * Reader-writer spinlocks: any number of readers, or one writer. Preemption is off while one is held, and the same
 * rules hold as for spinlocks: a lock that a hard interrupt takes for writing is taken with _irqsave or _irq elsewhere.
 *
 * A reader never waits for a writer that waits, so an interrupt may read what it has interrupted a reader of. The price
 * is that readers without a pause keep a writer out. The kernel's own code needs no such locks.
 */
#pragma once

#include <arch/processor.h>
#include <irq/softirq.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

typedef struct {
	int holders; /* [atomic] readers; -1: a writer */
} rwlock_t;
#define __RW_LOCK_UNLOCKED(l) \
	{                     \
		0             \
	}
#define DEFINE_RWLOCK(l) rwlock_t l = __RW_LOCK_UNLOCKED(l)
#define rwlock_init(l)	 ((void)(*(l) = (rwlock_t)__RW_LOCK_UNLOCKED(*(l))))

/* One step of the count from `old` to `new`, for whoever may read or write what the lock protects from then on. */
static inline bool __rwlock_change(rwlock_t *l, int old, int new)
{
	return __atomic_compare_exchange_n(&l->holders, &old, new, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline int read_trylock(rwlock_t *l)
{
	int readers;

	preempt_disable();
	while ((readers = READ_ONCE(l->holders)) >= 0)
		if (__rwlock_change(l, readers, readers + 1))
			return 1;
	preempt_enable();
	return 0;
}

static inline void read_lock(rwlock_t *l)
{
	while (!read_trylock(l))
		cpu_relax();
}

static inline void read_unlock(rwlock_t *l)
{
	__atomic_fetch_sub(&l->holders, 1, __ATOMIC_RELEASE);
	preempt_enable();
}

static inline int write_trylock(rwlock_t *l)
{
	preempt_disable();
	if (__rwlock_change(l, 0, -1))
		return 1;
	preempt_enable();
	return 0;
}

static inline void write_lock(rwlock_t *l)
{
	while (!write_trylock(l))
		cpu_relax();
}

static inline void write_unlock(rwlock_t *l)
{
	__atomic_store_n(&l->holders, 0, __ATOMIC_RELEASE);
	preempt_enable();
}

#define __rwlock_do(first, second) \
	do {                       \
		first;             \
		second;            \
	} while (0)
#define read_lock_irq(l)		  __rwlock_do(local_irq_disable(), read_lock(l))
#define read_unlock_irq(l)		  __rwlock_do(read_unlock(l), local_irq_enable())
#define read_lock_bh(l)			  __rwlock_do(local_bh_disable(), read_lock(l))
#define read_unlock_bh(l)		  __rwlock_do(read_unlock(l), local_bh_enable())
#define read_lock_irqsave(l, flags)	  __rwlock_do(local_irq_save(flags), read_lock(l))
#define read_unlock_irqrestore(l, flags)  __rwlock_do(read_unlock(l), local_irq_restore(flags))
#define write_lock_irq(l)		  __rwlock_do(local_irq_disable(), write_lock(l))
#define write_unlock_irq(l)		  __rwlock_do(write_unlock(l), local_irq_enable())
#define write_lock_bh(l)		  __rwlock_do(local_bh_disable(), write_lock(l))
#define write_unlock_bh(l)		  __rwlock_do(write_unlock(l), local_bh_enable())
#define write_lock_irqsave(l, flags)	  __rwlock_do(local_irq_save(flags), write_lock(l))
#define write_unlock_irqrestore(l, flags) __rwlock_do(write_unlock(l), local_irq_restore(flags))
