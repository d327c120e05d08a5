/* Registers that a CPU numbers are the test's. */
#pragma once

#include <lib/types.h>

#define MSR_TSC_DEADLINE 0x6e0
#define MSR_X2APIC	 0x800

u64 rdmsrl(u32 msr);
void wrmsrl(u32 msr, u64 v);
