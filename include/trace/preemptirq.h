/*
 * Telling tracers when interrupts and preemption go off and on. <irq/irqflags.h>, <sched/preempt.h> and
 * <kernel/entry.h> place the hooks; nobody else calls them. A hook is a nop until a tracer wants it (two keys, since
 * few tracers want both), and then a call through a thunk of the machine (<asm/hook.h>) to one of the functions below.
 *
 * Only changes are told: interrupts that were on go off, preempt_count leaves zero or comes back to it. So what they
 * report is true without a count of its own, and an nmi, which can make neither happen, is silent by itself.
 *
 * ip: behind the place that does it. fp: the frame record in which ip is the return address, so that a walk from there
 * begins with the place. Any context but nmi; not traced; trace/tracers/preemptirq.c guards them against themselves.
 */
#pragma once

#include <asm/hook.h>
#include <kernel/jump_label.h>
#include <lib/types.h>

extern struct static_key trace_irqs_key,
	trace_preempt_key; /* on while a tracer or an event of preemptirq:* wants these hooks */

/* Interrupts were on and have gone off; are to go off (does that, and tells if they were on); are about to go on. */
void trace_hardirqs_off(unsigned long ip, unsigned long fp);
void trace_hardirqs_disable(unsigned long ip, unsigned long fp);
void trace_hardirqs_on(unsigned long ip, unsigned long fp);
/* preempt_count has left zero; is about to become zero. */
void trace_preempt_off(unsigned long ip, unsigned long fp);
void trace_preempt_on(unsigned long ip, unsigned long fp);
/* The same of a hard interrupt or softirq, at any count: it may have come on top of what is not told. */
void trace_irq_context_enter(unsigned long ip, unsigned long fp);
void trace_irq_context_exit(unsigned long ip, unsigned long fp);
/* Around the idle loop's wait: it is nobody's latency. Interrupts off. */
void trace_critical_stop(unsigned long ip, unsigned long fp);
void trace_critical_start(unsigned long ip, unsigned long fp);

/* A hook: `cond` and the call are evaluated only while the key is on. */
#define trace_hook(key, cond, func)                               \
	do {                                                      \
		if (unlikely(static_key_false(&(key))) && (cond)) \
			arch_hook_call(func##_thunk);             \
	} while (0)

/* A value that the compiler takes for another one: so it does not compute in advance what both paths ask of it. */
#define trace_opaque(value)                           \
	({                                            \
		__typeof__(value) opaque_ = (value);  \
		__asm__ volatile("" : "+r"(opaque_)); \
		opaque_;                              \
	})

#define stop_critical_timings()                                                                           \
	do {                                                                                              \
		trace_hook(trace_irqs_key, true, trace_critical_stop);                                    \
		trace_hook(trace_preempt_key, !static_key_enabled(&trace_irqs_key), trace_critical_stop); \
	} while (0)
#define start_critical_timings()                                                                           \
	do {                                                                                               \
		trace_hook(trace_irqs_key, true, trace_critical_start);                                    \
		trace_hook(trace_preempt_key, !static_key_enabled(&trace_irqs_key), trace_critical_start); \
	} while (0)

/*
 * Functions that turn something off or on for their callers: tracers name them together with the caller. In a part of
 * the text of their own, which tells them.
 */
#define __lockfunc __attribute__((section(".spinlock.text")))
extern char __lock_text_start[], __lock_text_end[];

static inline bool in_lock_functions(unsigned long ip)
{
	return ip >= (unsigned long)__lock_text_start && ip < (unsigned long)__lock_text_end;
}
