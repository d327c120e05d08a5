/* Interrupts that this machine does not number; the rest stands in <arch/irq.h>. */
#pragma once

#include <lib/types.h>

/* Interrupts a CPU has served that are neither numbered nor IPIs: there are none here. */
static inline u64 arch_irq_stat_cpu(int cpu)
{
	return 0;
}
