/* The CPU: what is inline here; the rest stands in <arch/processor.h>. */
#pragma once

#include <lib/types.h>

static __always_inline void cpu_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}
