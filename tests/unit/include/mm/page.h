/* Pages from malloc, so that AddressSanitizer guards each one. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>
#include <mm/slab.h>
#include <string.h>

static inline void *get_free_pages(gfp_t gfp, unsigned order)
{
	void *page = host_out_of_memory() ? NULL : aligned_alloc(4096, 4096ul << order);

	/* As the kernel's: full of anything. */
	if (page)
		memset(page, gfp & __GFP_ZERO ? 0 : 0xa5, 4096ul << order);
	return page;
}
static inline void free_pages(void *page, unsigned order)
{
	free(page);
}
static inline void *get_free_page(gfp_t gfp)
{
	return get_free_pages(gfp, 0);
}
static inline void free_page(void *page)
{
	free_pages(page, 0);
}
