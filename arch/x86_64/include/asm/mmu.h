/* Address spaces: what is inline here; the rest stands in <arch/mmu.h>. */
#pragma once

#include <lib/types.h>

struct mm_struct;

extern struct mm_struct *loaded_mm; /* per-CPU (arch/x86_64/task/context.c) */

/* Is what a kernel thread borrowed still loaded? A flush takes it away (tlb.c). Interrupts off. */
static inline bool arch_mm_loaded(const struct mm_struct *mm)
{
	const struct mm_struct *loaded;

	__asm__ volatile("mov %%gs:loaded_mm, %0" : "=r"(loaded));
	return loaded == mm;
}
