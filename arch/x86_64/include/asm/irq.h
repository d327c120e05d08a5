/* How the root interrupt controller's driver is entered, and the stack it runs on; interrupts that have no number. */
#pragma once

#include <lib/types.h>

/* How many of them a CPU has served, IPIs left out. */
u64 arch_irq_stat_cpu(int cpu);
