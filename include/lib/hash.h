/* Multiplicative hashing (Knuth, vol. 3, 6.4; golden ratio). */
#pragma once

#include <lib/types.h>

static inline u32 hash_64(u64 v, unsigned bits)
{
	return v * 0x61c8864680b583ebULL >> (64 - bits);
}
#define hash_long(v, bits) hash_64((unsigned long)(v), bits)
