/* How the root interrupt controller's driver is entered; interrupts that have no number. */
#pragma once

#include <lib/types.h>

struct pt_regs;
struct seq_file;
/* Set once at boot by the driver, before interrupts are enabled. Called with interrupts off, in hard
 * interrupt context. */
extern void (*handle_arch_irq)(struct pt_regs *regs);

/* The machine's own lines of /proc/interrupts: IPIs, as Linux's arm64 has them. Thread context. */
void arch_show_interrupts(struct seq_file *m);
/* Interrupts a CPU has served that are neither numbered nor IPIs: there are none here. */
static inline u64 arch_irq_stat_cpu(int cpu)
{
	return 0;
}
