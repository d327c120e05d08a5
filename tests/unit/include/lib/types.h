/* The kernel's types beside the host's C library: its own words for what that has too. */
#pragma once

#include <assert.h>
#include <sys/types.h>
#undef static_assert
#include_next <lib/types.h>

/* gcc says that ThreadSanitizer does not follow fences; what hangs on one is not checked by it
 * (docs/ring-buffer.md). */
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic ignored "-Wtsan"
#endif
