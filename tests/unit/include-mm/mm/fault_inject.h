/* No faults are injected on the host. */
#pragma once
#include <lib/types.h>
#define should_fail_slab(size, gfp)  false
#define should_fail_page(order, gfp) false
#define fault_injection_key	     host_no_key
#define static_key_false(key)	     false
