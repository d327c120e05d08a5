/* Interrupts that only remember whether they are off, so that tests can check it. */
#pragma once

extern unsigned long host_irqs_off;
#define arch_local_irq_disable()	((void)(host_irqs_off = 1))
#define arch_local_irq_enable()		((void)(host_irqs_off = 0))
#define arch_local_save_flags()		host_irqs_off
#define arch_local_irq_restore(flags)	((void)(host_irqs_off = (flags)))
#define arch_irqs_disabled_flags(flags) ((flags) != 0)
static inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = host_irqs_off;

	host_irqs_off = 1;
	return flags;
}
