/*
 * Spinlocks as functions: preemption and interrupts around the bare lock of <sched/spinlock.h>.
 *
 * Each variant does two things in a fixed order. Locking: first mask (interrupts, softirqs, preemption), then take the
 * lock; otherwise an interrupt between the two could ask for the lock that its own CPU holds, and wait for ever.
 * Unlocking: first free the lock, then unmask. They are real functions, so that they can be traced.
 */
#include <irq/softirq.h>
#include <kernel/export.h>
#include <kernel/percpu.h>
#include <sched/preempt.h>
#include <sched/spinlock_slow.h>
#include <trace/event_once.h>

#define CREATE_TRACE_POINTS
#include <trace/events/lock.h>

static DEFINE_PER_CPU(u8, contention_told); /* [its CPU, preemption off] the contexts that record a wait */

/* What a probe does may wait for a lock, too, such as that of the log: such a wait is not recorded. Preemption off. */
static void tell_contention(spinlock_t *l, bool begins)
{
	u8 *busy = this_cpu_ptr(&contention_told), bit = event_context_bit();

	if (!event_once_begin(busy, bit))
		return;
	if (begins)
		trace_contention_begin(l, LCB_F_SPIN);
	else
		trace_contention_end(l, 0);
	event_once_end(busy, bit);
}

unsigned long noinline queued_spin_lock_slowpath(spinlock_t *l, unsigned long flags)
{
	if (trace_contention_begin_enabled())
		tell_contention(l, true);
	arch_spin_lock(l);
	if (trace_contention_end_enabled())
		tell_contention(l, false);
	return flags;
}

/*
 * Preemption goes off before the lock is taken: while a holder was preempted, all that want the lock would spin for a
 * time slice.
 */
void __lockfunc _raw_spin_lock(spinlock_t *l)
{
	preempt_disable();
	spin_lock_contended(l);
}
EXPORT_SYMBOL(_raw_spin_lock);

void __lockfunc _raw_spin_unlock(spinlock_t *l)
{
	arch_spin_unlock(l);
	preempt_enable();
}
EXPORT_SYMBOL(_raw_spin_unlock);

/* Returns whether the lock was taken; preemption is on again when it was not. */
bool __lockfunc _raw_spin_trylock(spinlock_t *l)
{
	preempt_disable();
	if (arch_spin_trylock(l))
		return true;
	preempt_enable();
	return false;
}
EXPORT_SYMBOL(_raw_spin_trylock);

/* For callers that know that interrupts are on: unlocking switches them on without looking. */
void __lockfunc _raw_spin_lock_irq(spinlock_t *l)
{
	local_irq_disable();
	preempt_disable();
	spin_lock_contended(l);
}
EXPORT_SYMBOL(_raw_spin_lock_irq);

/* Interrupts on before preempt_enable, so that a pending reschedule is not refused for masked interrupts. */
void __lockfunc _raw_spin_unlock_irq(spinlock_t *l)
{
	arch_spin_unlock(l);
	local_irq_enable();
	preempt_enable();
}
EXPORT_SYMBOL(_raw_spin_unlock_irq);

/* For data that softirqs use, too. Hard interrupts stay on. */
void __lockfunc _raw_spin_lock_bh(spinlock_t *l)
{
	local_bh_disable();
	preempt_disable();
	spin_lock_contended(l);
}
EXPORT_SYMBOL(_raw_spin_lock_bh);

/* local_bh_enable is what looks at need_resched here: it comes last. */
void __lockfunc _raw_spin_unlock_bh(spinlock_t *l)
{
	arch_spin_unlock(l);
	preempt_enable_no_resched();
	local_bh_enable();
}
EXPORT_SYMBOL(_raw_spin_unlock_bh);

/* For callers that do not know whether interrupts are on. The flags go to the unlock on the same CPU. */
unsigned long __lockfunc _raw_spin_lock_irqsave(spinlock_t *l)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	return likely(arch_spin_trylock(l)) ? flags : queued_spin_lock_slowpath(l, flags);
}
EXPORT_SYMBOL(_raw_spin_lock_irqsave);

void __lockfunc _raw_spin_unlock_irqrestore(spinlock_t *l, unsigned long flags)
{
	arch_spin_unlock(l);
	local_irq_restore(flags);
	preempt_enable();
}
EXPORT_SYMBOL(_raw_spin_unlock_irqrestore);
