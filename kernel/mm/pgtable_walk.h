/* Walking down a tree of page tables, whatever the number of its levels. */
#pragma once

#include <asm/pgtable.h>

#define TABLE_BITS    9U
#define TABLE_ENTRIES (1U << TABLE_BITS)

/* Which entry of a table leads to `va`, when each maps 1 << shift. */
static __always_inline unsigned table_index(unsigned long va, unsigned shift)
{
	return (va >> shift) & (TABLE_ENTRIES - 1);
}

/*
 * Levels above the leaves, from the top: `shift` is that of their entries. Unrolled, so that the shifts are
 * constants.
 */
#define for_each_upper_level(shift) \
	_Pragma("GCC unroll 4") for (unsigned shift = PGDIR_SHIFT; shift > PAGE_SHIFT; shift -= TABLE_BITS)
