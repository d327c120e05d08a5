/*
 * The events preemptirq:* as the hooks of tracers/preemptirq.c see them. The hooks are on for a latency tracer, for
 * events, or for both. So each hook first records its event, and goes on only if a tracer measures its kind.
 */
#pragma once

#include <kernel/jump_label.h>
#include <lib/types.h>

extern struct static_key preemptirq_events_key; /* on while one of the events has a probe */

static __always_inline bool preemptirq_events_on(void)
{
	return unlikely(static_key_false(&preemptirq_events_key));
}

/*
 * Record the event, if it is on. ip and fp are the hook's (<trace/preemptirq.h>). Each returns whether a latency tracer
 * measures that kind. Context: as the hooks have it, so interrupts or preemption are off.
 */
bool tell_irq_disable(unsigned long ip, unsigned long fp);
bool tell_irq_enable(unsigned long ip, unsigned long fp);
bool tell_preempt_disable(unsigned long ip, unsigned long fp);
bool tell_preempt_enable(unsigned long ip, unsigned long fp);
/* A hard interrupt or softirq, with this preempt_count in it, begins or ends. Only a softirq has events. */
bool tell_irq_context(unsigned long ip, unsigned long fp, u32 pc, bool begins);
