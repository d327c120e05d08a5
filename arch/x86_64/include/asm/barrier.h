/*
 * Barriers that devices and the instruction stream need; atomics need none of these. This machine keeps loads
 * in order among loads, stores among stores and stores behind earlier loads (SDM vol. 3, 8.2.2), so for
 * ordinary and uncached memory a compiler barrier does; mfence is for a store that must be out before a later
 * load.
 */
#pragma once

#include <lib/types.h>

#define mb()  __asm__ volatile("mfence" : : : "memory")
#define rmb() barrier()
#define wmb() barrier()

/*
 * x2APIC registers and the TSC deadline are MSRs whose writes do not wait for earlier stores (SDM vol.
 * 3, 10.12.3): code that tells another CPU by one of them puts this before it.
 */
#define weak_wrmsr_fence() __asm__ volatile("mfence\n\tlfence" : : : "memory")

/* Complete all that came before and forget instructions fetched ahead (SDM vol. 3, 8.3: CPUID serialises). */
static __always_inline void serialize(void)
{
	u32 leaf = 0, sub = 0;

	__asm__ volatile("cpuid" : "+a"(leaf), "+c"(sub) : : "ebx", "edx", "memory");
}
