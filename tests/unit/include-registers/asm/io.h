/* Device registers on the host: memory of the test. */
#pragma once

#include <lib/types.h>

static inline u32 readl_relaxed(const void *p)
{
	return *(const volatile u32 *)p;
}
static inline void writel_relaxed(u32 v, void *p)
{
	*(volatile u32 *)p = v;
}
#define readl(p)     readl_relaxed(p)
#define writel(v, p) writel_relaxed(v, p)
