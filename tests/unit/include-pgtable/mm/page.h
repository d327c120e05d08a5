/* Page frames of the page-table tests: a stack of them, and what the test asks about each. */
#pragma once

#include <asm/page.h>
#include <mm/gfp.h>

struct page {
	unsigned long private;
	bool used;
};
struct page *virt_to_page(const void *v);
void *get_zeroed_page(gfp_t gfp);
void free_zeroed_page(void *page);
void memblock_add(phys_addr_t base, u64 size);
void memblock_reserve(phys_addr_t base, u64 size);
