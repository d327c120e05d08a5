/* The bare spinlock on the host; a waiter lets the holder's thread run. */
#pragma once

#include <lib/types.h>
#include <sched.h>
#include <sched/spinlock_types.h>
#include <sys/single_threaded.h>

/*
 * A turn of waiting: another thread of ours may go on. With one thread in the process nothing can end the wait: better
 * an end, and a sanitizer's report of the functions that wait, than a test that hangs. Nor does it yield then: where
 * other programs want to run, each time takes milliseconds. A test with very many cases, in each of which a few turns
 * are right, sets the number back.
 */
#define HOPELESS 10000
unsigned long turns_alone __attribute__((common));
static inline void cpu_relax(void)
{
	if (!__libc_single_threaded)
		sched_yield();
	else if (++turns_alone > HOPELESS)
		__builtin_trap();
}

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
