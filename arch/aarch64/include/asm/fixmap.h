/*
 * Fixed virtual addresses for what must be mapped before there is an allocator, or for a moment only. One
 * level-3 table: a slot is a page. The FDT's blocks lie right below.
 */
#pragma once

#include <asm/linker.h>
#include <asm/page.h>

#define FIXMAP_FDT   (FIXMAP_START - 2 * PMD_SIZE) /* two blocks: an FDT of 2 MiB may cross a boundary */
#define FDT_MAX_SIZE PMD_SIZE

enum fixed_slot {
	FIX_EARLYCON,
	FIX_PATCH,	 /* alias of a module's text page being written */
	FIX_TABLES = 16, /* paging_init: page tables of the linear map, until that is there */
	FIX_TABLES_END = 512,
	FIX_TEXT = FIX_TABLES, /* from then on: aliases of the image's text, a slot a page, there while it is
				  written */
	FIX_TEXT_END = FIX_TEXT + KIMAGE_TEXT_PAGES, /* linking fails when the text has more pages */
	FIX_SLOTS = 512,
};
#define fix_to_virt(slot) (FIXMAP_START + (unsigned long)(slot)*PAGE_SIZE)

#ifndef __ASSEMBLY__
#include <asm/pgtable.h>

static_assert(FIX_TEXT_END <= FIX_SLOTS, "one table has all slots");

/* Map the blocks around an FDT read-only; returns its virtual address. fixmap_unmap_fdt() ends it. Boot. */
const void *fixmap_map_fdt(phys_addr_t phys);
void fixmap_unmap_fdt(void);
#endif
