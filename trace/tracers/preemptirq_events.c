/*
 * The events preemptirq:*, which record each change of interrupts and preemption. They use the hooks of the latency
 * tracers (tracers/preemptirq.c): while one of them has a probe, the hooks of its kind are on. All keys of a request
 * change in one stop of the machine, so no hook is on for an event without its key here. Only a task that is preempted
 * on its way into a hook may arrive later; it finds the event off, and no tracer.
 *
 * What a probe does may turn interrupts off and on as well, in a stack walk or in a trigger. That is no event:
 * <trace/event_once.h>.
 */
#include <asm/irqflags.h>
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <trace/event_once.h>
#include <trace/fgraph.h>

#include "irqsoff.h"
#include "preemptirq.h"

#define CREATE_TRACE_POINTS
#include <trace/events/preemptirq.h>

struct static_key preemptirq_events_key = STATIC_KEY_INIT;
static DEFINE_PER_CPU(u8, preemptirq_told); /* [its CPU] the contexts that record such an event */
/*
 * irq_disable was the last of the two events on this CPU. The idle loop turns interrupts on for its wait without an
 * event, and the interrupt that ends the wait turns them off once more: as on Linux, the two events come in turn.
 */
static DEFINE_PER_CPU(bool, irqs_told_off); /* [its CPU, interrupts off] */
static unsigned irqs_users;		    /* [lock of all registrations] which of the two events are on: how many */

/* ---- Switching: the lock of all registrations is held, and the code that registers switches the sites. */

int preemptirq_irqs_reg(void)
{
	unsigned cpu;

	if (!irqs_users++)
		for_each_possible_cpu(cpu)
			per_cpu(irqs_told_off, cpu) = false;
	static_key_inc_later(&preemptirq_events_key);
	static_key_inc_later(&trace_irqs_key);
	return 0;
}

void preemptirq_irqs_unreg(void)
{
	irqs_users--;
	static_key_dec_later(&trace_irqs_key);
	static_key_dec_later(&preemptirq_events_key);
}

int preemptirq_preempt_reg(void)
{
	static_key_inc_later(&preemptirq_events_key);
	static_key_inc_later(&trace_preempt_key);
	return 0;
}

void preemptirq_preempt_unreg(void)
{
	static_key_dec_later(&trace_preempt_key);
	static_key_dec_later(&preemptirq_events_key);
}

/* ---- Recording */

/*
 * The caller of the function in which a place lies; fp: the frame record in which the place is the return address. That
 * function is C, so it has a frame record of its own, also where the machine's entry code has called it.
 */
static unsigned long caller_of_place(unsigned long fp)
{
	unsigned long up = *(const unsigned long *)fp, ip = ((const unsigned long *)up)[1];

	return unlikely(ip == RETURN_TO_HANDLER_ADDR) ? fgraph_ret_addr(current, NULL, up + sizeof(long)) : ip;
}

/*
 * Call the tracepoint `tell`, unless this context is in one already. False: it is. Preemption or interrupts are off.
 */
static __always_inline bool tell_once(void (*tell)(unsigned long ip, unsigned long parent_ip), unsigned long ip,
				      unsigned long parent_ip)
{
	u8 *busy = this_cpu_ptr(&preemptirq_told), bit = event_context_bit();

	if (!event_once_begin(busy, bit))
		return false;
	tell(ip, parent_ip);
	event_once_end(busy, bit);
	return true;
}

bool tell_irq_disable(unsigned long ip, unsigned long fp)
{
	if (!this_cpu(irqs_told_off) && tell_once(trace_irq_disable, ip, caller_of_place(fp)))
		this_cpu(irqs_told_off) = true;
	return critical_tracer.kinds & CRITICAL_IRQS;
}

/* The hook also comes when interrupts are on already. */
bool tell_irq_enable(unsigned long ip, unsigned long fp)
{
	if (irqs_disabled() && this_cpu(irqs_told_off) && tell_once(trace_irq_enable, ip, caller_of_place(fp)))
		this_cpu(irqs_told_off) = false;
	return critical_tracer.kinds & CRITICAL_IRQS;
}

/* As on Linux, the parent is the place itself, or the caller of the lock function in which the place lies. */
bool tell_preempt_disable(unsigned long ip, unsigned long fp)
{
	if (trace_preempt_disable_enabled())
		tell_once(trace_preempt_disable, ip, critical_names(0, ip, fp).parent_ip);
	return critical_tracer.kinds & CRITICAL_PREEMPT;
}

bool tell_preempt_enable(unsigned long ip, unsigned long fp)
{
	if (trace_preempt_enable_enabled())
		tell_once(trace_preempt_enable, ip, critical_names(0, ip, fp).parent_ip);
	return critical_tracer.kinds & CRITICAL_PREEMPT;
}

bool tell_irq_context(unsigned long ip, unsigned long fp, u32 pc, bool begins)
{
	if (pc == SOFTIRQ_OFFSET)
		return begins ? tell_preempt_disable(ip, fp) : tell_preempt_enable(ip, fp);
	return critical_tracer.kinds & CRITICAL_PREEMPT;
}
