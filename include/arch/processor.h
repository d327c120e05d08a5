/* The CPU: spinning, sleeping, its name. <asm/processor.h> has cpu_relax(). */
#pragma once

#include <asm/processor.h>
#include <lib/types.h>

/*
 * Wait for an interrupt, called and returning with interrupts off. No interrupt is slept through: on aarch64 WFI ends
 * for a pending interrupt that is masked (Arm ARM D1.6.2), and the caller takes it when it enables interrupts; x86_64
 * has them on from an instruction on that cannot be interrupted before the wait (STI; HLT), so it has been served on
 * return.
 */
void arch_cpu_idle(void);
/*
 * Wait until an interrupt is pending, which stays masked, or for no reason. Interrupts off; in .noinstr.text: for a CPU
 * that is parked while text changes (kernel/sched/stop_machine.c).
 */
void arch_parked_wait(void);
/* End the wait of a CPU that is there or about to be; what was written before is visible to it. Interrupts off. */
void arch_parked_wake(unsigned cpu);
/* "Cortex-A57", or a PC's brand string. The text lives for ever. Any context, once the CPU's features are known. */
const char *arch_cpu_name(void);
/* Stop this CPU for good, interrupts masked. */
void arch_halt(void) __noreturn;
