/* The machine's clock source: the generic timer's virtual counter, the same on all CPUs (Arm ARM D12.1.2). */
#pragma once

#include <lib/types.h>

#define ARCH_COUNTER_NAME "cntvct"

/* The ISB keeps the read from being taken early: without it two reads may appear out of order to other CPUs.
 */
static __always_inline u64 arch_read_counter(void)
{
	u64 v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v) : : "memory");
	return v;
}
