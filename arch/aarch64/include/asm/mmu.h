/* Address spaces: what is inline here; the rest stands in <arch/mmu.h>. */
#pragma once

#include <lib/types.h>

struct mm_struct;

/* Is what a kernel thread borrowed still loaded? Nobody takes it away here: flushes need no help of the CPU. */
static inline bool arch_mm_loaded(const struct mm_struct *mm)
{
	return true;
}
