/*
 * Recursion: which contexts are in a tracer's hook. The code that hooks call is built without -pg, so it cannot call a
 * hook again, but an exception that it takes can (a fault handler is traced). A bit for each context turns that away:
 * an interrupt on top of a hook may trace, the same context may not.
 *
 * Recursion bits in preempt_count.
 *
 * preempt_count belongs to the running task; interrupts on top of it add and subtract symmetrically. Bits 24 to 31
 * have no other use. Bits 24 to 27: one for each context (task, softirq, hard interrupt, NMI). Bits 28 to 31: one for
 * each context as well, see lent_bit. Raising "preemption off" and "this context is in the tracer" is one store, and
 * restoring the saved value undoes both. An interrupt on top sees a count above 15 and takes the general path, which
 * looks only at the bit of its own context. Tests for "may be preempted" compare the whole word with zero and so still
 * hold.
 */
#pragma once

#include <sched/preempt.h>
#include <sched/sched.h>

#define RECURSION_SHIFT 24 /* above PREEMPT, SOFTIRQ, HARDIRQ and NMI */
static_assert(NMI_MASK < (1U << RECURSION_SHIFT));
#define RECURSION_TASK (1U << RECURSION_SHIFT)

/* The bit of preempt_count that says: this context is in the tracer. */
static __always_inline u32 recursion_bit(u32 pc)
{
	unsigned context = pc & NMI_MASK ? 3 : pc & HARDIRQ_MASK ? 2 : pc & SOFTIRQ_OFFSET ? 1 : 0;

	return RECURSION_TASK << context;
}

/*
 * While the core calls a user without FTRACE_OPS_FL_RECURSION, recursion_bit and this bit are set. The first
 * ftrace_test_recursion_trylock in that call takes it, and succeeds; a second one finds it taken, and fails.
 */
static __always_inline u32 lent_bit(u32 bit)
{
	return bit << 4;
}

/*
 * Is this the count of a task, outside of any hook, with preemption disabled no more often than a record can say? Every
 * other context, a recursion bit, or a greater depth makes the count larger than 15, and the call takes another way.
 */
static __always_inline bool trace_is_usual(u32 pc)
{
	return likely(pc <= 15);
}
/*
 * Disable preemption and note that this context is in a hook. `pc` is the count as it is, in which `bit` is not set; so
 * a sum does, which is one instruction where `bit` is a constant.
 */
static __always_inline void trace_enter(struct task_struct *t, u32 pc, u32 bit)
{
	WRITE_ONCE(t->preempt_count, pc + (PREEMPT_OFFSET + bit));
	barrier();
}

/* The cold half of trace_leave, with the count that it restored: gives up the CPU where that is allowed. */
void trace_leave_resched(u32 pc);

/*
 * Let go of the CPU if that was asked for meanwhile. Preempting here and not at the next preempt_enable keeps wake-up
 * latencies what they are without a tracer.
 */
static __always_inline void trace_leave(struct task_struct *t, u32 pc)
{
	barrier();
	WRITE_ONCE(t->preempt_count, pc);
	barrier();
	if (unlikely(t->thread_flags & _TIF_NEED_RESCHED))
		trace_leave_resched(pc);
}
