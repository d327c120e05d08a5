/* The clock is the test's own (host_wait.h). */
#pragma once
#include <lib/types.h>
extern s64 host_now; /* ns */
static inline u64 arch_read_counter(void)
{
	return (u64)host_now;
}
