/*
 * Tracepoints of CPUs that come and go. Fields and texts are Linux's.
 * Try: for on in 0 1; do echo $on > /sys/devices/system/cpu/cpu1/online; done
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cpuhp

#if !defined(_TRACE_CPUHP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_CPUHP_H

#include <trace/tracepoint.h>

/* A step is about to be made for `cpu`. target: the state that the CPU is on its way to; idx: the step's own. */
TRACE_EVENT(cpuhp_enter,
	TP_PROTO(unsigned cpu, int target, int idx, int (*fun)(unsigned)),
	TP_ARGS(cpu, target, idx, fun),
	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(int, target)
		__field(int, idx)
		__field(void *, fun)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->target = target;
		__entry->idx = idx;
		__entry->fun = (void *)fun;
	),
	TP_printk("cpu: %04u target: %3d step: %3d (%ps)",
		__entry->cpu, __entry->target, __entry->idx, __entry->fun)
);

/* It was made. state: the state that the CPU has now. */
TRACE_EVENT(cpuhp_exit,
	TP_PROTO(unsigned cpu, int state, int idx, int ret),
	TP_ARGS(cpu, state, idx, ret),
	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(int, state)
		__field(int, idx)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->state = state;
		__entry->idx = idx;
		__entry->ret = ret;
	),
	TP_printk(" cpu: %04u  state: %3d step: %3d ret: %d",
		__entry->cpu, __entry->state, __entry->idx, __entry->ret)
);

#endif

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE cpuhp
#include <trace/define_trace.h>
