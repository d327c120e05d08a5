/*
 * Fixed virtual addresses for what must be mapped before there is an allocator, or for a moment only. One
 * level-1 table: a slot is a page.
 */
#pragma once

#include <asm/linker.h>
#include <asm/page.h>

enum fixed_slot {
	FIX_EARLYCON,
	FIX_PATCH, /* alias of a module's text page being written: a site may reach into the next */
	FIX_PATCH_NEXT,
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

/* Boot, first of all: hang the fixmap's tables into the kernel's. */
void fixmap_init(void);
/*
 * Map a page (prot a level-1 protection), or with prot 0 unmap. Only this CPU forgets what its TLB held of
 * the slot: another CPU may use it only after a set_fixmap of its own. Callers serialise per slot. Any
 * context.
 */
void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot);
/* The table of the slots, for kernel/mm/fixmap.c. */
extern pte_t fixmap_pte[FIX_SLOTS];
#endif
