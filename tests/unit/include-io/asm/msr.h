/* Registers that a CPU numbers: the tests here compile a header that reads them, and do not. */
#pragma once

#include <lib/types.h>

#define MSR_X2APIC 0x800

u64 rdmsrl(u32 msr);
void wrmsrl(u32 msr, u64 v);
