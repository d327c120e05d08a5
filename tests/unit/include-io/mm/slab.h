/* The kernel's allocator over malloc. */
#pragma once

#include <lib/types.h>

#define GFP_KERNEL	      0
#define kzalloc(size, gfp)    calloc(1, size)
#define kcalloc(n, size, gfp) calloc(n, size)
#define kfree(p)	      free(p)
