/*
 * How the ring buffer touches words that an interrupt or another CPU may touch too. Unit tests put their own
 * copy of this file before it: there they are atomics that ThreadSanitizer knows, and writers are nested in
 * at each test point.
 */
#pragma once

#include <lib/types.h>

/* One access, of no order. (Volatile, as gcc 12 does not fold the offset into the address of an atomic one.)
 */
#define rb_read(x)     READ_ONCE(x)
#define rb_write(x, v) WRITE_ONCE(x, v)
#define RB_TEST_POINT(n) \
	do {             \
	} while (0)
