/* How the root interrupt controller's driver is entered. */
#pragma once

struct pt_regs;
/* Set once at boot by the driver, before interrupts are enabled. Called with interrupts off, in hard
 * interrupt context. */
extern void (*handle_arch_irq)(struct pt_regs *regs);
