/* The machine's clock source: the generic timer's virtual counter, the same on all CPUs (Arm ARM D12.1.2). */
#pragma once

#include <lib/types.h>

#define ARCH_COUNTER_NAME "cntvct"

/*
 * The counter, in cycles. CNTVCT_EL0 may be read early: two reads in program order on two CPUs that
 * have synchronised through memory could appear the wrong way round. The ISB before the read keeps
 * it in its place (Arm ARM D12.2.1). Any context.
 */
static __always_inline u64 arch_read_counter(void)
{
	u64 v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v) : : "memory");
	return v;
}
