/* Stand-in: control registers are the test's. */
#pragma once

#include <lib/types.h>

#define X86_CR4_PGE (1 << 7)

u64 read_cr(unsigned n);
void write_cr(unsigned n, u64 v);
