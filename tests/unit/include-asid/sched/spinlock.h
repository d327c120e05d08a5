/*
 * Stand-in: a lock that must be free when it is taken. As the last header that arch/aarch64/task/context.c includes it
 * also makes the file's only assembly, which flushes this CPU's TLB, a call of the test: `__asm__ volatile("...")`.
 */
#pragma once

#include <lib/types.h>

typedef struct {
	int locked;
} spinlock_t;
#define DEFINE_SPINLOCK(name) spinlock_t name
void host_lock(spinlock_t *lock);
void host_unlock(spinlock_t *lock);
#define arch_spin_lock(lock)   host_lock(lock)
#define arch_spin_unlock(lock) host_unlock(lock)

void host_flush(void);
#define __asm__
#define volatile(...) host_flush()
