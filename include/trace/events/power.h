/* Tracepoints of power. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM power

#if !defined(_TRACE_POWER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_POWER_H

#include <trace/tracepoint.h>

#define PWR_EVENT_EXIT ((unsigned)-1)

/* Around the wait for an interrupt, interrupts off. State 1: waits; PWR_EVENT_EXIT: goes on. */
TRACE_EVENT(cpu_idle,
	TP_PROTO(unsigned state, unsigned cpu_id),
	TP_ARGS(state, cpu_id),
	TP_STRUCT__entry(
		__field(u32, state)
		__field(u32, cpu_id)
	),
	TP_fast_assign(
		__entry->state = state;
		__entry->cpu_id = cpu_id;
	),
	TP_printk("state=%lu cpu_id=%lu", (unsigned long)__entry->state, (unsigned long)__entry->cpu_id)
);

/*
 * The events of Linux 2.6.31 to 2.6.38 at the same places. Type 1 is an idle state, the others (2 a frequency, 3 a
 * machine's sleep) have no place here.
 */
#define POWER_CSTATE 1
TRACE_EVENT(power_start,
	TP_PROTO(unsigned type, unsigned state, unsigned cpu_id),
	TP_ARGS(type, state, cpu_id),
	TP_STRUCT__entry(
		__field(u64, type)
		__field(u64, state)
		__field(u64, cpu_id)
	),
	TP_fast_assign(
		__entry->type = type;
		__entry->state = state;
		__entry->cpu_id = cpu_id;
	),
	TP_printk("type=%lu state=%lu cpu_id=%lu", (unsigned long)__entry->type, (unsigned long)__entry->state,
		(unsigned long)__entry->cpu_id)
);
TRACE_EVENT(power_end,
	TP_PROTO(unsigned cpu_id),
	TP_ARGS(cpu_id),
	TP_STRUCT__entry(
		__field(u64, cpu_id)
	),
	TP_fast_assign(
		__entry->cpu_id = cpu_id;
	),
	TP_printk("cpu_id=%lu", (unsigned long)__entry->cpu_id)
);

#endif

#include <trace/define_trace.h>
