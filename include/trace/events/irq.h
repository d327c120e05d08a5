/* Tracepoints of interrupts. Fields and texts are Linux's, but for the names of softirqs, which are our own. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM irq

#if !defined(_TRACE_IRQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_IRQ_H

#include <irq/irq.h>
#include <trace/tracepoint.h>

/* Around each handler of a line, in its interrupt. Interrupts without a line (IPIs, x86's timer) have none of these. */
TRACE_EVENT(irq_handler_entry,
	TP_PROTO(int irq, const char *handler),
	TP_ARGS(irq, handler),
	TP_STRUCT__entry(
		__field(int, irq)
		__string(name, handler)
	),
	TP_fast_assign(
		__entry->irq = irq;
		__assign_str(name);
	),
	TP_printk("irq=%d name=%s", __entry->irq, __get_str(name))
);

TRACE_EVENT(irq_handler_exit,
	TP_PROTO(int irq, irqreturn_t ret),
	TP_ARGS(irq, ret),
	TP_STRUCT__entry(
		__field(int, irq)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->irq = irq;
		__entry->ret = ret == IRQ_HANDLED;
	),
	TP_printk("irq=%d ret=%s", __entry->irq, __entry->ret ? "handled" : "unhandled")
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

#define show_softirq_name(vec)                                                                                 \
	__print_symbolic(vec, { HI_SOFTIRQ, "HI" }, { TIMER_SOFTIRQ, "TIMER" }, { TTY_SOFTIRQ, "TTY" },         \
		{ TRACE_SOFTIRQ, "TRACE" }, { TASKLET_SOFTIRQ, "TASKLET" }, { SCHED_SOFTIRQ, "SCHED" },         \
		{ HRTIMER_SOFTIRQ, "HRTIMER" }, { RCU_SOFTIRQ, "RCU" }, { NET_RX_SOFTIRQ, "NET_RX" })

DECLARE_EVENT_CLASS(softirq,
	TP_PROTO(unsigned vec_nr),
	TP_ARGS(vec_nr),
	TP_STRUCT__entry(
		__field(unsigned int, vec)
	),
	TP_fast_assign(
		__entry->vec = vec_nr;
	),
	TP_printk("vec=%u [action=%s]", __entry->vec, show_softirq_name(__entry->vec))
);

/* About to be marked; interrupts off, maybe under runqueue locks. Raised twice, it may be served once. */
DEFINE_EVENT(softirq, softirq_raise, TP_PROTO(unsigned vec_nr), TP_ARGS(vec_nr));
/* Around the action; interrupts on. */
DEFINE_EVENT(softirq, softirq_entry, TP_PROTO(unsigned vec_nr), TP_ARGS(vec_nr));
DEFINE_EVENT(softirq, softirq_exit, TP_PROTO(unsigned vec_nr), TP_ARGS(vec_nr));

struct tasklet_struct;

/* Around the function of a tasklet, in its softirq. By the exit the tasklet may be gone. */
DECLARE_EVENT_CLASS(tasklet,
	TP_PROTO(struct tasklet_struct *t, void *func),
	TP_ARGS(t, func),
	TP_STRUCT__entry(
		__field(void *, tasklet)
		__field(void *, func)
	),
	TP_fast_assign(
		__entry->tasklet = t;
		__entry->func = func;
	),
	TP_printk("tasklet=%ps function=%ps", __entry->tasklet, __entry->func)
);
DEFINE_EVENT(tasklet, tasklet_entry, TP_PROTO(struct tasklet_struct *t, void *func), TP_ARGS(t, func));
DEFINE_EVENT(tasklet, tasklet_exit, TP_PROTO(struct tasklet_struct *t, void *func), TP_ARGS(t, func));

#endif

#include <trace/define_trace.h>
