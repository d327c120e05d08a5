/* Locks of a test with one thread: what is taken must be free, and what is given back taken. */
#pragma once

#include <lib/types.h>
#include <sched/spinlock_types.h>

#define spin_lock_irqsave(l, flags)               \
	do {                                      \
		(flags) = 0x55;                   \
		assert_int_equal((l)->locked, 0); \
		(l)->locked = 1;                  \
	} while (0)
#define spin_unlock_irqrestore(l, flags)          \
	do {                                      \
		assert_int_equal(flags, 0x55);    \
		assert_int_equal((l)->locked, 1); \
		(l)->locked = 0;                  \
	} while (0)
