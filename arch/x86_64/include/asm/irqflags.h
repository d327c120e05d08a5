/* Masking interrupts: RFLAGS.IF. Flags are RFLAGS as PUSHF reads them. */
#pragma once

#include <lib/types.h>

#define ARCH_RFLAGS_IF 0x200UL

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ volatile("cli" : : : "memory");
}
static __always_inline void arch_local_irq_enable(void)
{
	__asm__ volatile("sti" : : : "memory");
}
static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=rm"(flags) : : "memory");
	return flags;
}
static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	arch_local_irq_disable();
	return flags;
}
/* What was saved was either as it is now, off, or on: a test and STI cost less than POPF, which serialises. */
static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	if (flags & ARCH_RFLAGS_IF)
		arch_local_irq_enable();
}
static __always_inline bool arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & ARCH_RFLAGS_IF);
}
