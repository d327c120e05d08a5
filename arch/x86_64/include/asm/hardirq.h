/* Counts of interrupts that have a vector but no number: lines of /proc/interrupts. */
#pragma once

#include <kernel/percpu.h>

enum irq_stat_kind {
	IRQ_STAT_NMI, /* non-maskable, all of them */
	IRQ_STAT_UNK, /* of these, for no reason that we know */
	IRQ_STAT_LOC, /* local APIC timer */
	IRQ_STAT_SPU, /* spurious: nothing was pending, or the vector has no user */
	IRQ_STAT_TLB, /* shootdowns */
	IRQ_STAT_ERR, /* local APIC errors */
	NR_IRQ_STATS,
};
struct irq_stats {
	u32 count[NR_IRQ_STATS];
};
DECLARE_PER_CPU(struct irq_stats, irq_stats);

/* One instruction, so an NMI between read and write takes nothing away. Any context on that CPU. */
static __always_inline void inc_irq_stat(enum irq_stat_kind kind)
{
	__asm__ volatile("incl %%gs:%0" : "+m"(irq_stats.count[kind]));
}
