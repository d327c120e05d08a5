/* The ring buffer's shared words as atomics that ThreadSanitizer knows, and its test points as calls of the
 * test. */
#pragma once

#include <lib/types.h>

#define rb_read(x)     __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define rb_write(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define rb_look(x)     rb_read(x)
#define rb_inc(x)      rb_write(x, rb_read(x) + 1)

/* The test that includes this defines it: what it does happens at that point, as an interrupt's handler would
 * do it. */
void rb_test_point(int n);
#define RB_TEST_POINT(n) rb_test_point(n)
#define RB_DUMP_TRIES	 20
