/* Masking IRQs: PSTATE.I through DAIF. Flags are the DAIF bits as MRS reads them. */
#pragma once

#include <lib/types.h>

#define ARCH_DAIF_I 0x80UL

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ volatile("msr daifset, #2" : : : "memory");
}
static __always_inline void arch_local_irq_enable(void)
{
	__asm__ volatile("msr daifclr, #2" : : : "memory");
}
static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, daif" : "=r"(flags) : : "memory");
	return flags;
}
static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	arch_local_irq_disable();
	return flags;
}
static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr daif, %0" : : "r"(flags) : "memory");
}
static __always_inline bool arch_irqs_disabled_flags(unsigned long flags)
{
	return flags & ARCH_DAIF_I;
}
