/* What every test of a kernel source on the host begins with: the host's headers, and room for the kernel's.
 */
#pragma once

#include <assert.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef stop /* a macro of cmocka 2, but in the kernel a member of many a struct */

/* Names that <lib/types.h> defines as well, in its own way. */
#undef __always_inline
#undef static_assert
#undef INT_MAX
#undef LONG_MAX
#undef fallthrough
/* Macros of a C library for C23, which give what they point to the const of what they were given. */
#undef memchr
#undef strchr
#undef strrchr
#undef strstr

/* The same stream of numbers on every run (xorshift64*, Vigna 2016), so that a failure can be repeated. */
static uint64_t host_random_state = 0x9e3779b97f4a7c15ULL;
static inline uint64_t host_random(void)
{
	uint64_t x = host_random_state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	host_random_state = x;
	return x * 0x2545f4914f6cdd1dULL;
}
