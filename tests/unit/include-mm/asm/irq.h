/* No interrupts of the machine's own. */
#pragma once

#define arch_irq_stat_cpu(cpu) ((u64)(cpu)*0)
