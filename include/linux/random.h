/* Random numbers. Any context but nmi. */
#pragma once

#include <kernel/random.h>

static inline u32 get_random_u32(void)
{
	u32 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}
static inline u64 get_random_u64(void)
{
	u64 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}
/* From 0 on, below the limit, each as likely as any other to within 2^-32. */
static inline u32 get_random_u32_below(u32 limit)
{
	return ((u64)get_random_u32() * limit) >> 32;
}
#define prandom_u32()		get_random_u32()
#define prandom_u32_max(limit)	get_random_u32_below(limit)
#define get_random_int()	get_random_u32()
