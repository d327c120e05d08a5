/* Page frames of the page-table tests: a stack of them, and what the test asks about each. */
#pragma once

#include <asm/page.h>
#include <lib/list.h>
#include <mm/gfp.h>

struct page {
	struct list_head lru;
	unsigned long private, index;
	bool used;
};
struct page *virt_to_page(const void *v);
void *page_to_virt(const struct page *page);
void *get_zeroed_page(gfp_t gfp);
void free_zeroed_page(void *page);
void memblock_add(phys_addr_t base, u64 size);
void memblock_reserve(phys_addr_t base, u64 size);
