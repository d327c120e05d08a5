/* The CPU's answers are the test's. */
#pragma once

#include <lib/types.h>

struct cpuid_regs {
	u32 eax, ebx, ecx, edx;
};
struct cpuid_regs cpuid(u32 leaf, u32 sub);
