/* The time stamp counter is the test's. */
#pragma once

#include <lib/types.h>

extern u64 tsc_hz;
u64 rdtsc_ordered(void);
static inline u64 arch_read_counter(void)
{
	return rdtsc_ordered();
}
void tsc_init(void *early_hpet);
