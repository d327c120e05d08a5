/* Large requests: the host has memory for all of them. */
#pragma once

#include <lib/types.h>

static inline int large_request_begin(unsigned long pages)
{
	return 0;
}
static inline bool large_request_dead(void)
{
	return false;
}
static inline void large_request_end(void)
{
}
