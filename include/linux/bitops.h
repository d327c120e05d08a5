/* Bits. */
#pragma once

#include <lib/atomic.h>
#include <lib/bitmap.h>

static inline void change_bit(unsigned nr, unsigned long *p)
{
	__atomic_fetch_xor(&p[nr / 64], BIT(nr % 64), __ATOMIC_RELAXED);
}
static inline bool test_and_change_bit(unsigned nr, unsigned long *p)
{
	return (__atomic_fetch_xor(&p[nr / 64], BIT(nr % 64), __ATOMIC_SEQ_CST) >> (nr % 64)) & 1;
}
/* Those that are not atomic may well be. */
#define __set_bit(nr, p)   set_bit(nr, p)
#define __clear_bit(nr, p) clear_bit(nr, p)
#define BITS_PER_LONG	   64
#define for_each_set_bit(nr, map, size) \
	for ((nr) = find_first_bit(map, size); (nr) < (size); (nr) = find_next_bit(map, size, (nr) + 1))
static inline int fls(unsigned x) /* the highest bit that is set, counted from 1; 0: none is */
{
	return x ? 32 - __builtin_clz(x) : 0;
}
static inline unsigned long __ffs(unsigned long x) /* the lowest bit that is set, counted from 0; one must be */
{
	return __builtin_ctzl(x);
}
#define ffs(x)	     __builtin_ffs(x)
#define hweight32(x) __builtin_popcount(x)
#define hweight64(x) __builtin_popcountl(x)
