/* The kernel's allocators over malloc, with a way to run out of memory. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>
#include <stdlib.h>

/* So many allocations succeed from now on; then all fail. Negative: no limit. The test's own. */
extern long host_allocations_left;

static inline bool host_out_of_memory(void)
{
	if (host_allocations_left > 0)
		host_allocations_left--;
	return host_allocations_left == 0;
}
static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return host_out_of_memory() ? NULL : calloc(n, size);
}
static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return kcalloc(1, size, gfp);
}
static inline void *kmalloc(size_t size, gfp_t gfp)
{
	return kcalloc(1, size, gfp);
}
static inline void kfree(const void *p)
{
	free((void *)p);
}
static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return kzalloc(size, gfp);
}
static inline void kvfree(const void *p)
{
	kfree(p);
}
