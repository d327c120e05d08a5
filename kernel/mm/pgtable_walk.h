/*
 * Walking down a tree of page tables, whatever the number of its levels. All levels have 512 entries on both machines,
 * so a level differs from the next only by its shift.
 */
#pragma once

#include <arch/pgtable.h>

#define TABLE_BITS    9U
#define TABLE_ENTRIES (1U << TABLE_BITS)

/* The index of the entry that leads to `va` in a table whose entries map 1 << shift bytes each. */
static __always_inline unsigned table_index(unsigned long va, unsigned shift)
{
	return (va >> shift) & (TABLE_ENTRIES - 1);
}

/*
 * The levels above the leaves, from the top; `shift` is that of their entries. The loop is unrolled, so that the shifts
 * are constants.
 */
#define for_each_upper_level(shift) \
	_Pragma("GCC unroll 4") for (unsigned shift = PGDIR_SHIFT; shift > PAGE_SHIFT; shift -= TABLE_BITS)
