/*
 * Ending the machine: by the power firmware (psci.c), and with an exit status by semihosting where QEMU offers that
 * (-semihosting). Nothing here returns; interrupts are off, so that no handler runs on a machine that is half off.
 */
#include <arch/poweroff.h>
#include <arch/processor.h>
#include <irq/irqflags.h>

#include "smp.h"

/* Arm semihosting 2.0, 7.4.4 (SYS_EXIT_EXTENDED) and 7.4.18 (SYS_WRITE0). */
#define SYS_WRITE0		0x04
#define SYS_EXIT_EXTENDED	0x20
#define ADP_STOPPED_APPLICATION 0x20026

void semihosting_write0(const char *text)
{
	semihosting_call(SYS_WRITE0, text);
}

/*
 * With a status QEMU ends at the semihosting call. Without semihosting that instruction is undefined, and its fix-up
 * goes on to the firmware.
 */
void arch_power_off(int status)
{
	raw_local_irq_disable();
	if (status) {
		const u64 args[2] = {ADP_STOPPED_APPLICATION, status};

		semihosting_call(SYS_EXIT_EXTENDED, args);
	}
	psci_system_off();
	arch_halt();
}

void arch_restart(void)
{
	raw_local_irq_disable();
	psci_system_reset();
	arch_halt();
}
