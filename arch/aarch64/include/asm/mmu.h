/* Address spaces: what is inline here; the rest stands in <arch/mmu.h>. */
#pragma once

#include <lib/types.h>

struct mm_struct;

/* Is what a kernel thread has borrowed still loaded? Always: on this machine a flush takes no tables off a CPU. */
static inline bool arch_mm_loaded(const struct mm_struct *mm)
{
	return true;
}
