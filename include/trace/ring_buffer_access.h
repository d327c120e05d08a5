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
/*
 * The same between two barriers, where the compiler may pick an instruction that works on memory (it will not touch an
 * aligned word twice or in parts): look at a word that is not needed again, count one up that only this CPU writes.
 */
#define rb_look(x) (x)
#define rb_inc(x)  ((x)++)
#define RB_TEST_POINT(n) \
	do {             \
	} while (0)
#define RB_DUMP_TRIES (1 << 18) /* how often a dump tries to get locks: some milliseconds */
