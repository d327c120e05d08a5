/* Softirqs: deferred interrupt work, served with interrupts on when the last hard interrupt leaves, or by ksoftirqd. */
#pragma once

#include <lib/types.h>
#include <sched/preempt.h>

enum {
	HI_SOFTIRQ,    /* tasklets that go before all others */
	TIMER_SOFTIRQ, /* timers by jiffies */
	TTY_SOFTIRQ,
	TRACE_SOFTIRQ, /* wakes readers of trace_pipe */
	TASKLET_SOFTIRQ,
	SCHED_SOFTIRQ, /* load balancing */
	HRTIMER_SOFTIRQ,
	RCU_SOFTIRQ,
	NET_RX_SOFTIRQ, /* packets that have arrived */
	NR_SOFTIRQS,
};
extern const char *const softirq_to_name[NR_SOFTIRQS];

void open_softirq(int nr, void (*action)(void)); /* boot */
void raise_softirq(int nr);			 /* any context but nmi */
void raise_softirq_irqoff(int nr);		 /* interrupts off */
/*
 * Only mark it: it is served at the end of this CPU's next interrupt (at most a tick away), or before the CPU goes
 * idle. Wakes no task and takes no lock, so it may be called under runqueue locks. Not traced. Interrupts off.
 */
void __raise_softirq_irqoff(int nr);
u64 kstat_softirqs_cpu(int nr, int cpu); /* how often it was served there */
void do_softirq(void);			 /* serve now if pending; thread context with bh on */
void softirq_init(void);		 /* boot: before the first interrupt */

/*
 * No softirq runs on this CPU in between; nests. Preemption is off meanwhile. Thread or softirq context. pending: is
 * one marked here?
 */
void local_bh_disable(void);
void local_bh_enable(void); /* serves what came meanwhile */
bool local_softirq_pending(void);
