/*
 * Multiplicative hashing (Knuth, vol. 3, 6.4). The factor is 2^64 divided by the square of the golden ratio; it spreads
 * neighbouring values, such as addresses of one cache, evenly over the table.
 */
#pragma once

#include <lib/types.h>

/* The highest `bits` bits of the product, which depend on all bits of v. 1 <= bits <= 32. */
static inline u32 hash_64(u64 v, unsigned bits)
{
	return v * 0x61c8864680b583ebULL >> (64 - bits);
}
/* The same of 32 bits, which is cheaper. The factor is 2^32 divided by the golden ratio. Also in .noinstr.text. */
static __always_inline u32 hash_32(u32 v, unsigned bits)
{
	return v * 0x9e3779b1u >> (32 - bits);
}
#define hash_long(v, bits) hash_64((unsigned long)(v), bits)
