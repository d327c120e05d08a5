/*
 * "Physical" memory of the page-table tests: a file, which is mapped once at PAGE_OFFSET and page by page
 * in the fixmap.
 */
#pragma once

#include <lib/types.h>

#define PAGE_SHIFT  12
#define PAGE_SIZE   (1UL << PAGE_SHIFT)
#define PAGE_MASK   (~(PAGE_SIZE - 1))
#define PMD_SHIFT   21
#define PMD_SIZE    (1UL << PMD_SHIFT)
#define PGDIR_SHIFT host_pgdir_shift /* so that one build walks trees of any depth */
extern unsigned host_pgdir_shift;

/* Where the sanitizers leave room; aligned to what an entry of a fourth level maps. */
#define PAGE_OFFSET 0x200000000000UL
#define LINEAR_END  (PAGE_OFFSET + (4UL << 40))

#define __va(pa) ((void *)((unsigned long)(pa) + PAGE_OFFSET))
#define __pa(va) ((phys_addr_t)((unsigned long)(va)-PAGE_OFFSET))
extern const char _text[], __end_rodata[];
#define HOST_TEXT_PHYS	 0x2ff000UL /* across a block's border, with a page more on either side */
#define HOST_RODATA_END	 0x602000UL
#define __pa_symbol(sym) ((const char *)(sym) == _text ? HOST_TEXT_PHYS : HOST_RODATA_END)
