/* No events on the host. */
#pragma once

#include <mm/page.h>

#define NO_EVENT(name, ...)                             \
	static inline bool trace_##name##_enabled(void) \
	{                                               \
		return false;                           \
	}                                               \
	static inline void trace_##name(__VA_ARGS__)    \
	{                                               \
	}
NO_EVENT(kmalloc, unsigned long caller, const void *ptr, size_t wanted, size_t size, gfp_t gfp)
NO_EVENT(kmem_cache_alloc, unsigned long caller, const void *ptr, size_t wanted, size_t size, gfp_t gfp)
NO_EVENT(kfree, unsigned long caller, const void *ptr)
NO_EVENT(kmem_cache_free, unsigned long caller, const void *ptr, const char *name)
NO_EVENT(mm_page_alloc, const struct page *page, unsigned order, gfp_t gfp, unsigned long caller)
NO_EVENT(mm_page_free, const struct page *page, unsigned order, unsigned long caller)
