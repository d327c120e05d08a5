/* The events of interrupts and workqueues; their headers say where each stands. */
#include <irq/softirq.h>

#define CREATE_TRACE_POINTS
#include <trace/events/irq.h>

#define CREATE_TRACE_POINTS
#include <trace/events/workqueue.h>

/* The header's names go by number: in the text of an event libtraceevent knows no enum. */
static_assert(HI_SOFTIRQ == 0 && TIMER_SOFTIRQ == 1 && TTY_SOFTIRQ == 2 && TRACE_SOFTIRQ == 3);
static_assert(TASKLET_SOFTIRQ == 4 && SCHED_SOFTIRQ == 5 && HRTIMER_SOFTIRQ == 6 && RCU_SOFTIRQ == 7 && NR_SOFTIRQS == 8);
