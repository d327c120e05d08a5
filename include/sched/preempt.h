/*
 * preempt_count: why the running task may not be preempted, in Linux's bit fields. It is kept in the task, so only
 * the task itself and interrupts nesting on top of it change it, and each restores it: plain loads and stores do.
 */
#pragma once

#include <lib/types.h>
#include <sched/current.h>
#include <trace/preemptirq.h>

#define PREEMPT_BITS	       8
#define SOFTIRQ_BITS	       8
#define HARDIRQ_BITS	       4
#define NMI_BITS	       4
#define SOFTIRQ_SHIFT	       8
#define HARDIRQ_SHIFT	       16
#define NMI_SHIFT	       20
#define PREEMPT_MASK	       0x000000ffU
#define SOFTIRQ_MASK	       0x0000ff00U
#define HARDIRQ_MASK	       0x000f0000U
#define NMI_MASK	       0x00f00000U
#define PREEMPT_OFFSET	       0x00000001U
#define SOFTIRQ_OFFSET	       0x00000100U
#define SOFTIRQ_DISABLE_OFFSET (2 * SOFTIRQ_OFFSET) /* local_bh_disable; the odd bit means: a softirq is served */
#define HARDIRQ_OFFSET	       0x00010000U
#define NMI_OFFSET	       0x00100000U

#define preempt_count()	     (READ_ONCE(current->preempt_count))
#define hardirq_count()	     (preempt_count() & HARDIRQ_MASK)
#define softirq_count()	     (preempt_count() & SOFTIRQ_MASK)
#define in_nmi()	     (preempt_count() & NMI_MASK)
#define in_hardirq()	     hardirq_count()
#define in_serving_softirq() (softirq_count() & SOFTIRQ_OFFSET)
#define in_interrupt()	     (preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK))
#define in_task()	     (!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
#define in_atomic()	     (preempt_count() != 0)

/* These tell no tracer. */
static inline void __preempt_count_add(u32 v)
{
	struct task_struct *t = current;

	WRITE_ONCE(t->preempt_count, t->preempt_count + v);
	barrier();
}
static inline void __preempt_count_sub(u32 v)
{
	struct task_struct *t = current;

	barrier();
	WRITE_ONCE(t->preempt_count, t->preempt_count - v);
}

/*
 * These tell when the count leaves zero, and when it is about to come back to it: an interrupt in between finds
 * preemption off in both cases, so what it does is not told and nothing that began is forgotten.
 */
static __always_inline void preempt_count_add(u32 v)
{
	__preempt_count_add(v);
	trace_hook(trace_preempt_key, preempt_count() == v, trace_preempt_off);
}
static __always_inline void preempt_count_sub(u32 v)
{
	trace_hook(trace_preempt_key, preempt_count() == v, trace_preempt_on);
	__preempt_count_sub(v);
}

/*
 * Around what a non-maskable interrupt runs. It can come anywhere, also in the middle of a change of the
 * count, which finds it as it was. Not traced: before and after, the tracer would take itself to be in the
 * interrupted context.
 */
static inline void nmi_enter(void)
{
	__preempt_count_add(NMI_OFFSET);
}
static inline void nmi_exit(void)
{
	__preempt_count_sub(NMI_OFFSET);
}

/* Preempt now, if allowed: called when the count fell to zero with TIF_NEED_RESCHED set. */
void preempt_schedule(void);
/* The same for callers that must not be traced. */
void preempt_schedule_notrace(void);
/*
 * On the way out of an interrupt to kernel code whose preempt_count is 0, with TIF_NEED_RESCHED set. Entered
 * and left with interrupts off; the arch's entry code checks count and flag before.
 */
void preempt_schedule_irq(void);

static inline bool need_resched(void)
{
	return READ_ONCE(current->thread_flags) & _TIF_NEED_RESCHED;
}
static inline void preempt_disable(void)
{
	preempt_count_add(PREEMPT_OFFSET);
}
static inline void preempt_enable_no_resched(void)
{
	preempt_count_sub(PREEMPT_OFFSET);
}
static inline void preempt_enable(void)
{
	preempt_count_sub(PREEMPT_OFFSET);
	if (unlikely(need_resched()) && !preempt_count())
		preempt_schedule();
}
static inline void preempt_disable_notrace(void)
{
	__preempt_count_add(PREEMPT_OFFSET);
}
static inline void preempt_enable_notrace(void)
{
	__preempt_count_sub(PREEMPT_OFFSET);
	if (unlikely(need_resched()) && !preempt_count())
		preempt_schedule_notrace();
}
