/* A lock that is not free is waited for in place: on the host its waits are no events. */
#pragma once

#include <sched/spinlock.h>

unsigned long queued_spin_lock_slowpath(spinlock_t *l, unsigned long flags);
#define spin_lock_contended(l) arch_spin_lock(l)
