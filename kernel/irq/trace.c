/* The events of interrupts and workqueues; their headers say where each stands. */
#include <irq/softirq.h>

#define CREATE_TRACE_POINTS
#include <trace/events/irq.h>

#define CREATE_TRACE_POINTS
#include <trace/events/workqueue.h>

/* The events' header has the numbers: libtraceevent does not know the names of an enum in an event's format. */
static_assert(HI_SOFTIRQ == 0 && TIMER_SOFTIRQ == 1 && TTY_SOFTIRQ == 2 && TRACE_SOFTIRQ == 3);
static_assert(TASKLET_SOFTIRQ == 4 && SCHED_SOFTIRQ == 5 && HRTIMER_SOFTIRQ == 6 && RCU_SOFTIRQ == 7 &&
	      NET_RX_SOFTIRQ == 8 && NR_SOFTIRQS == 9);
