/*
 * Tracepoints of every change of interrupts and preemption: they go off, and they are about to go on again. Fields and
 * texts are Linux's. `ip` is the place. `parent_ip` is the caller of the function that the place lies in; for
 * preemption it is the place itself, unless that lies in a lock function. An NMI changes neither of the two.
 * Try: sleep 0.01
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM preemptirq

#if !defined(_TRACE_PREEMPTIRQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PREEMPTIRQ_H

#include <lib/types.h>
#include <trace/tracepoint.h>

extern const char _stext[]; /* linker.ld */

/* The hooks in local_irq_disable() and its like are on while an event has a probe: tracers/preemptirq_events.c. */
int preemptirq_irqs_reg(void);
void preemptirq_irqs_unreg(void);
int preemptirq_preempt_reg(void);
void preemptirq_preempt_unreg(void);

TRACE_DEFINE_ENUM(_stext);

DECLARE_EVENT_CLASS(preemptirq_template,
	TP_PROTO(unsigned long ip, unsigned long parent_ip),
	TP_ARGS(ip, parent_ip),
	TP_STRUCT__entry(
		__field(s32, caller_offs)
		__field(s32, parent_offs)
	),
	TP_fast_assign(
		__entry->caller_offs = (s32)(ip - (unsigned long)_stext);
		__entry->parent_offs = (s32)(parent_ip - (unsigned long)_stext);
	),
	TP_printk("caller=%pS parent=%pS",
		(void *)((unsigned long)(_stext) + __entry->caller_offs),
		(void *)((unsigned long)(_stext) + __entry->parent_offs))
);

/* Interrupts are off in both. */
DEFINE_EVENT_FN(preemptirq_template, irq_disable,
	TP_PROTO(unsigned long ip, unsigned long parent_ip), TP_ARGS(ip, parent_ip),
	preemptirq_irqs_reg, preemptirq_irqs_unreg);
DEFINE_EVENT_FN(preemptirq_template, irq_enable,
	TP_PROTO(unsigned long ip, unsigned long parent_ip), TP_ARGS(ip, parent_ip),
	preemptirq_irqs_reg, preemptirq_irqs_unreg);
/* preempt_count is not zero in both. A softirq is such a section, too. */
DEFINE_EVENT_FN(preemptirq_template, preempt_disable,
	TP_PROTO(unsigned long ip, unsigned long parent_ip), TP_ARGS(ip, parent_ip),
	preemptirq_preempt_reg, preemptirq_preempt_unreg);
DEFINE_EVENT_FN(preemptirq_template, preempt_enable,
	TP_PROTO(unsigned long ip, unsigned long parent_ip), TP_ARGS(ip, parent_ip),
	preemptirq_preempt_reg, preemptirq_preempt_unreg);

#endif

#include <trace/define_trace.h>
