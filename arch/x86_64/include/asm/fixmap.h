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
#endif
