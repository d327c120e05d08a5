/* The kernel's allocator over the test's, which may have nothing to give. */
#pragma once

#include <lib/types.h>

#define GFP_KERNEL	      0
#define GFP_ATOMIC	      0
#define __GFP_NOWARN	      0
#define kmalloc(size, gfp)    host_alloc(size)
#define kzalloc(size, gfp)    calloc(1, size)
#define kcalloc(n, size, gfp) calloc(n, size)
#define kfree(p)	      free(p)

void *host_alloc(size_t size);
