/*
 * Events of the osnoise and timerlat tracers: what took a CPU from their threads, and for how long. Fields and texts
 * are Linux's, but for the names of softirqs, which are our own. Times are sched_clock's, in ns; `start` is when it
 * began, and duration is without what came in between from more urgent contexts.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM osnoise

#if !defined(_TRACE_OSNOISE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_OSNOISE_H

#include <irq/softirq.h>
#include <lib/string.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

/* Another thread has run in place of the tracer's. In the switch away from it, runqueue lock held. */
TRACE_EVENT(thread_noise,
	TP_PROTO(struct task_struct *t, u64 start, u64 duration),
	TP_ARGS(t, start, duration),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(u64, start)
		__field(u64, duration)
		__field(pid_t, pid)
	),
	TP_fast_assign(
		memcpy(__entry->comm, t->comm, TASK_COMM_LEN);
		__entry->pid = t->pid;
		__entry->start = start;
		__entry->duration = duration;
	),
	TP_printk("%8s:%d start %llu.%09u duration %llu ns", __entry->comm, __entry->pid,
		__print_ns_to_secs(__entry->start), __print_ns_without_secs(__entry->start),
		__print_u64(__entry->duration))
);

TRACE_DEFINE_ENUM(HI_SOFTIRQ);
TRACE_DEFINE_ENUM(TIMER_SOFTIRQ);
TRACE_DEFINE_ENUM(TTY_SOFTIRQ);
TRACE_DEFINE_ENUM(TRACE_SOFTIRQ);
TRACE_DEFINE_ENUM(TASKLET_SOFTIRQ);
TRACE_DEFINE_ENUM(SCHED_SOFTIRQ);
TRACE_DEFINE_ENUM(HRTIMER_SOFTIRQ);
TRACE_DEFINE_ENUM(RCU_SOFTIRQ);
TRACE_DEFINE_ENUM(NET_RX_SOFTIRQ);

/* A softirq was served. In it, behind its function. */
TRACE_EVENT(softirq_noise,
	TP_PROTO(int vector, u64 start, u64 duration),
	TP_ARGS(vector, start, duration),
	TP_STRUCT__entry(
		__field(u64, start)
		__field(u64, duration)
		__field(int, vector)
	),
	TP_fast_assign(
		__entry->vector = vector;
		__entry->start = start;
		__entry->duration = duration;
	),
	TP_printk("%8s:%d start %llu.%09u duration %llu ns", show_softirq_name(__entry->vector), __entry->vector,
		__print_ns_to_secs(__entry->start), __print_ns_without_secs(__entry->start),
		__print_u64(__entry->duration))
);

/* An interrupt was served: by a line's handler, for another CPU, or for a timer that has no line. */
TRACE_EVENT(irq_noise,
	TP_PROTO(int vector, const char *desc, u64 start, u64 duration),
	TP_ARGS(vector, desc, start, duration),
	TP_STRUCT__entry(
		__field(u64, start)
		__field(u64, duration)
		__string(desc, desc)
		__field(int, vector)
	),
	TP_fast_assign(
		__assign_str(desc);
		__entry->vector = vector;
		__entry->start = start;
		__entry->duration = duration;
	),
	TP_printk("%s:%d start %llu.%09u duration %llu ns", __get_str(desc), __entry->vector,
		__print_ns_to_secs(__entry->start), __print_ns_without_secs(__entry->start),
		__print_u64(__entry->duration))
);

/* An NMI was served. In it. */
TRACE_EVENT(nmi_noise,
	TP_PROTO(u64 start, u64 duration),
	TP_ARGS(start, duration),
	TP_STRUCT__entry(
		__field(u64, start)
		__field(u64, duration)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->duration = duration;
	),
	TP_printk("start %llu.%09u duration %llu ns",
		__print_ns_to_secs(__entry->start), __print_ns_without_secs(__entry->start),
		__print_u64(__entry->duration))
);

/* osnoise's thread was away for so long, with so many of the above meanwhile; 0: the machine itself was away. */
TRACE_EVENT(sample_threshold,
	TP_PROTO(u64 start, u64 duration, u64 interference),
	TP_ARGS(start, duration, interference),
	TP_STRUCT__entry(
		__field(u64, start)
		__field(u64, duration)
		__field(u64, interference)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->duration = duration;
		__entry->interference = interference;
	),
	TP_printk("start %llu.%09u duration %llu ns interference %llu",
		__print_ns_to_secs(__entry->start), __print_ns_without_secs(__entry->start),
		__print_u64(__entry->duration),
		__print_u64(__entry->interference))
);

#endif

#include <trace/define_trace.h>
