/* The CPU: spinning, sleeping, its name. */
#pragma once

#include <lib/types.h>

static __always_inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/*
 * Wait for an interrupt. Interrupts are off on entry and on return; in between they are on, from an
 * instruction on that cannot be interrupted before the wait (STI; HLT), so the one that ends it has been
 * served on return and none is slept through.
 */
void arch_cpu_idle(void);
/*
 * Wait until an interrupt is pending, which stays masked, or for no reason. Interrupts off; in .noinstr.text: for a CPU
 * that is parked while text changes (kernel/sched/stop_machine.c).
 */
void arch_parked_wait(void);
/* End the wait of a CPU that is there or about to be; what was written before is visible to it. Interrupts off. */
void arch_parked_wake(unsigned cpu);
/* Its brand string, as CPUID has it. The text lives for ever. Any context, after cpu_features_init(). */
const char *arch_cpu_name(void);
/* Stop this CPU for good, interrupts masked. */
void arch_halt(void) __noreturn;
