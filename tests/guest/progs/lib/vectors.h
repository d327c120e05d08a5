/* Vector registers: some of them set to a value and read back, for tests that they survive what happens
 * between. */
#ifndef VECTORS_H
#define VECTORS_H

#include <check.h>

#ifdef __aarch64__
#define VECTORS 4

/* The first and the last, and the ends of those that a callee saves. */
static inline void vectors_set(long value)
{
	__asm__ volatile(".arch_extension fp\n fmov d0, %0\n fmov d8, %0\n fmov d15, %0\n fmov d31, %0" ::"r"(value));
}

static inline void vectors_get(long got[VECTORS])
{
	__asm__ volatile(".arch_extension fp\n fmov %0, d0\n fmov %1, d8\n fmov %2, d15\n fmov %3, d31"
			 : "=r"(got[0]), "=r"(got[1]), "=r"(got[2]), "=r"(got[3]));
}
#else
#define VECTORS 8

/*
 * CPUID 1, ECX: OSXSAVE 27, AVX 28; XCR0: SSE 1, AVX 2. Then the registers have upper halves that the kernel
 * keeps too.
 */
static inline bool vectors_are_wide(void)
{
	unsigned a = 1, b, c = 0, d, low, high;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if ((c >> 27 & 3) != 3)
		return false;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & 6) == 6;
}

static inline void vectors_set(long value)
{
	const long two[2] = {value, ~value}, four[4] = {value, ~value, value + 1, value + 2};

	__asm__ volatile("movups %0, %%xmm0\n movups %0, %%xmm15" ::"m"(two) : "xmm0", "xmm15");
	if (vectors_are_wide())
		__asm__ volatile("vmovups %0, %%ymm7" ::"m"(four) : "xmm7");
	else
		__asm__ volatile("movups %0, %%xmm7" ::"m"(two) : "xmm7");
}

/* The two halves of two registers and the four quarters of a third (where there are only two: twice those).
 */
static inline void vectors_get(long got[VECTORS])
{
	long low[2], high[2], middle[4];

	__asm__ volatile("movups %%xmm0, %0\n movups %%xmm15, %1" : "=m"(low), "=m"(high));
	if (vectors_are_wide()) {
		__asm__ volatile("vmovups %%ymm7, %0" : "=m"(middle));
	} else {
		__asm__ volatile("movups %%xmm7, %0" : "=m"(*(long(*)[2])middle));
		middle[2] = middle[0] + 1;
		middle[3] = middle[0] + 2;
	}
	got[0] = low[0];
	got[1] = ~low[1];
	got[2] = high[0];
	got[3] = ~high[1];
	got[4] = middle[0];
	got[5] = ~middle[1];
	got[6] = middle[2] - 1;
	got[7] = middle[3] - 2;
}
#endif

/* Whether all of them still hold the value. */
static inline void vectors_check(long value)
{
	long got[VECTORS];

	vectors_get(got);
	for (int i = 0; i < VECTORS; i++)
		CHECK_EQ(got[i], value);
}

#endif
