/*
 * Tracepoints of x86_64's interrupts that have a vector and no line. Fields and texts are Linux's. They stand around
 * what the interrupt is for, in the hard interrupt.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM irq_vectors

#if !defined(_TRACE_IRQ_VECTORS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_IRQ_VECTORS_H

#include <trace/tracepoint.h>

DECLARE_EVENT_CLASS(x86_irq_vector,
	TP_PROTO(int vector),
	TP_ARGS(vector),
	TP_STRUCT__entry(
		__field(int, vector)
	),
	TP_fast_assign(
		__entry->vector = vector;
	),
	TP_printk("vector=%d", __entry->vector)
);

DEFINE_EVENT(x86_irq_vector, local_timer_entry, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, local_timer_exit, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, reschedule_entry, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, reschedule_exit, TP_PROTO(int vector), TP_ARGS(vector));
/* One vector serves calls to one CPU and to many: Linux's call_function_single is this one, too. */
DEFINE_EVENT(x86_irq_vector, call_function_entry, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, call_function_exit, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, error_apic_entry, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, error_apic_exit, TP_PROTO(int vector), TP_ARGS(vector));
/* A vector that nothing has asked for. SPURIOUS_VECTOR has no event: text may be changing while it comes. */
DEFINE_EVENT(x86_irq_vector, spurious_apic_entry, TP_PROTO(int vector), TP_ARGS(vector));
DEFINE_EVENT(x86_irq_vector, spurious_apic_exit, TP_PROTO(int vector), TP_ARGS(vector));

#endif

#include <trace/define_trace.h>
