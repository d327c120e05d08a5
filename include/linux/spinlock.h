/* Spinning locks. */
#pragma once

#include <irq/softirq.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rwlock.h>
#include <sched/spinlock.h>

typedef spinlock_t raw_spinlock_t; /* nothing here sleeps in place of spinning */
#define DEFINE_RAW_SPINLOCK(l)		     DEFINE_SPINLOCK(l)
#define raw_spin_lock_init(l)		     spin_lock_init(l)
#define raw_spin_lock(l)		     spin_lock(l)
#define raw_spin_unlock(l)		     spin_unlock(l)
#define raw_spin_lock_irqsave(l, flags)	     spin_lock_irqsave(l, flags)
#define raw_spin_unlock_irqrestore(l, flags) spin_unlock_irqrestore(l, flags)
