/* Pages of the host, at whose addresses a device model finds them. */
#pragma once

#include <lib/types.h>

#define PAGE_SIZE 4096UL
#define __pa(v)	  ((phys_addr_t)(unsigned long)(v))

static inline void *get_zeroed_page(gfp_t gfp)
{
	void *page = aligned_alloc(PAGE_SIZE, PAGE_SIZE);

	return page ? memset(page, 0, PAGE_SIZE) : NULL;
}
static inline void free_page(void *page)
{
	free(page);
}
