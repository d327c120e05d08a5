/* No faults are injected on the host. */
#pragma once
#include <lib/types.h>
#define slab_must_fail(size, gfp)  false
#define page_must_fail(order, gfp) false
#define fault_injection_key	   host_no_key
#define static_key_false(key)	   false
#define STATIC_KEY_INIT \
	{               \
		0       \
	}
struct static_key {
	int unused;
};
