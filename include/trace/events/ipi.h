/* Tracepoints of interrupts between CPUs. Fields and texts are Linux's; reasons are those of /proc/interrupts. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ipi

#if !defined(_TRACE_IPI_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_IPI_H

#include <kernel/smp.h>
#include <trace/tracepoint.h>

/* Before the machine is asked to interrupt these CPUs. Any context. */
TRACE_EVENT(ipi_raise,
	TP_PROTO(const struct cpumask *mask, const char *reason),
	TP_ARGS(mask, reason),
	TP_STRUCT__entry(
		__bitmask(target_cpus, NR_CPUS)
		__field(const char *, reason)
	),
	TP_fast_assign(
		__assign_bitmask(target_cpus, mask->bits, NR_CPUS);
		__entry->reason = reason;
	),
	TP_printk("target_mask=%s (%s)", __get_bitmask(target_cpus), __entry->reason)
);

/* Why and from where, told by who decides: callsite asked for it; callback NULL: only to look for another task. */
TRACE_EVENT(ipi_send_cpu,
	TP_PROTO(unsigned cpu, unsigned long callsite, void *callback),
	TP_ARGS(cpu, callsite, callback),
	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(void *, callsite)
		__field(void *, callback)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->callsite = (void *)callsite;
		__entry->callback = callback;
	),
	TP_printk("cpu=%u callsite=%pS callback=%pS", __entry->cpu, __entry->callsite, __entry->callback)
);
TRACE_EVENT(ipi_send_cpumask,
	TP_PROTO(const struct cpumask *cpumask, unsigned long callsite, void *callback),
	TP_ARGS(cpumask, callsite, callback),
	TP_STRUCT__entry(
		__cpumask(cpumask)
		__field(void *, callsite)
		__field(void *, callback)
	),
	TP_fast_assign(
		__assign_cpumask(cpumask, cpumask->bits);
		__entry->callsite = (void *)callsite;
		__entry->callback = callback;
	),
	TP_printk("cpumask=%s callsite=%pS callback=%pS",
		__get_cpumask(cpumask), __entry->callsite, __entry->callback)
);

DECLARE_EVENT_CLASS(ipi_handler,
	TP_PROTO(const char *reason),
	TP_ARGS(reason),
	TP_STRUCT__entry(
		__field(const char *, reason)
	),
	TP_fast_assign(
		__entry->reason = reason;
	),
	TP_printk("(%s)", __entry->reason)
);

/* Around what the interrupt is for; it may be an NMI. A CPU that is stopped does not come to the end. */
DEFINE_EVENT(ipi_handler, ipi_entry, TP_PROTO(const char *reason), TP_ARGS(reason));
DEFINE_EVENT(ipi_handler, ipi_exit, TP_PROTO(const char *reason), TP_ARGS(reason));

#endif

#include <trace/define_trace.h>
