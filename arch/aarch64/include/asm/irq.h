/* Interrupts that this machine does not number; the rest stands in <arch/irq.h>. */
#pragma once

#include <lib/types.h>

#include <asm/nmi.h>

/* Interrupts a CPU has served that are neither numbered nor IPIs: FIQs. */
static inline u64 arch_irq_stat_cpu(int cpu)
{
	return fiq_counted(0, cpu);
}
