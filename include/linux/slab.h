/* Memory. A module frees all that it has, as nobody does it in its place. */
#pragma once

#include <linux/gfp.h>
#include <mm/slab.h>

#define kmalloc_array(n, size, gfp)  kcalloc(n, size, gfp) /* zeroed as well */
#define kvcalloc(n, size, gfp)	     kvzalloc(array_size(n, size), gfp)
#define kvmalloc_array(n, size, gfp) kvmalloc(array_size(n, size), gfp)
#define kfree_sensitive(p)	     kfree(p)
#define KMEM_CACHE(t, flags)	     kmem_cache_create(#t, sizeof(struct t), __alignof__(struct t), flags, NULL)
/* A size that overflows becomes one that cannot be had. */
static inline size_t array_size(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? ~0UL : bytes;
}
static inline size_t size_add(size_t a, size_t b)
{
	size_t bytes;

	return __builtin_add_overflow(a, b, &bytes) ? ~0UL : bytes;
}
#define struct_size(p, member, n) size_add(sizeof(*(p)), array_size(n, sizeof(*(p)->member)))
