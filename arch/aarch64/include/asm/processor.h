/* The CPU: spinning, sleeping, its name. */
#pragma once

#include <lib/types.h>

static __always_inline void cpu_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

/*
 * Wait for an interrupt. Interrupts are off on entry and on return: WFI also ends for a masked pending
 * interrupt (Arm ARM D1.6.2), which is then taken when the caller enables them, so none is slept through.
 */
void arch_cpu_idle(void);
/*
 * Wait until an interrupt is pending, which stays masked, or for no reason. Interrupts off; in .noinstr.text: for a CPU
 * that is parked while text changes (kernel/sched/stop_machine.c).
 */
void arch_parked_wait(void);
/* End the wait of a CPU that is there or about to be; what was written before is visible to it. Interrupts off. */
void arch_parked_wake(unsigned cpu);
/* "Cortex-A57", or "ARMv8 (MIDR 0x...)" for one we do not know. The text lives for ever. Any context. */
const char *arch_cpu_name(void);
/* Stop this CPU for good, interrupts masked. */
void arch_halt(void) __noreturn;
