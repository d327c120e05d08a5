/* Pages from malloc, so that AddressSanitizer guards each one. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>
#include <mm/slab.h>
#include <string.h>

static inline void *get_free_page(gfp_t gfp)
{
	void *page = host_out_of_memory() ? NULL : aligned_alloc(4096, 4096);

	/* As the kernel's: full of anything. */
	if (page)
		memset(page, gfp & __GFP_ZERO ? 0 : 0xa5, 4096);
	return page;
}
static inline void free_page(void *page)
{
	free(page);
}
