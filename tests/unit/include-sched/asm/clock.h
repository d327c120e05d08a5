/* A clock that goes when the test says so, in nanoseconds. */
#pragma once

#include <lib/types.h>

extern u64 host_clock;
static inline u64 arch_read_counter(void)
{
	return host_clock;
}
