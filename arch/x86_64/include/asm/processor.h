/* The CPU: what is inline here; the rest stands in <arch/processor.h>. */
#pragma once

#include <lib/types.h>

/* What arch_cpu_idle() does, as Linux's cpuidle names it: /sys/devices/system/cpu/cpu0/cpuidle/state1/{name,desc}. */
#define ARCH_CPU_IDLE_NAME "C1"
#define ARCH_CPU_IDLE_DESC "HLT"

static __always_inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}
