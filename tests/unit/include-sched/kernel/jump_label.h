/* No key is ever on. */
#pragma once

#include <lib/atomic.h>
#include <lib/types.h>

struct static_key {
	atomic_t enabled;
};
#define static_key_false(key) false
