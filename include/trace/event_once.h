/*
 * For events whose own recording may do what the event tells of, such as taking a lock: within the record of such an
 * event, the same context records no other one. Each such group of events has a byte for each CPU, with a bit for each
 * context. An interrupt on top of the recording has a bit of its own, and leaves the byte as it has found it.
 */
#pragma once

#include <sched/preempt.h>

/* The bit of this context: NMI, hard interrupt, softirq, task. */
static __always_inline u8 event_context_bit(void)
{
	u32 pc = preempt_count();

	if (pc & NMI_MASK)
		return 8;
	if (pc & HARDIRQ_MASK)
		return 4;
	return pc & SOFTIRQ_OFFSET ? 2 : 1;
}

/* May this context record? Then it must call event_once_end(). Preemption off until then: *busy is this CPU's. */
static __always_inline bool event_once_begin(u8 *busy, u8 bit)
{
	if (READ_ONCE(*busy) & bit)
		return false;
	WRITE_ONCE(*busy, *busy | bit);
	barrier();
	return true;
}
static __always_inline void event_once_end(u8 *busy, u8 bit)
{
	barrier();
	WRITE_ONCE(*busy, *busy & ~bit);
}
