/* Page tables of every machine: finding, making and freeing them (kernel/mm/pgtable.c). */
#pragma once

#include <asm/pgtable.h>

/* The leaf slot of `va`, or NULL: a table on the way is missing, or a block is met. No lock; tables are never
 * freed while their mm lives. */
pte_t *pte_lookup(pgd_t *pgd, unsigned long va);
/* The same, making the missing tables. NULL: out of memory (or a block is met). May run on several CPUs at
 * once. Context: thread, or boot once the page allocator works. */
pte_t *pte_alloc(pgd_t *pgd, unsigned long va);
/* Atomically empty the slot; returns what it held. */
pte_t ptep_get_and_clear(pte_t *slot);

/*
 * A user top level, empty but for the kernel's entries where a machine has them there; NULL when out of
 * memory. Thread context.
 */
pgd_t *pgd_alloc(void);
/* With all tables below it, not the pages. No CPU may use it any more, nor hold it in its TLB. */
void pgd_free(pgd_t *pgd);
/* How many pages an address space's tables take; the caller has a reference to it. Any context. */
unsigned long pgd_pages(pgd_t *pgd);
/* Boot: from here on no entry of the kernel's top level changes, and pgd_alloc may copy them. */
void pgd_kernel_complete(void);
/* fn for each non-empty user leaf of [start, end), ascending; a non-zero result ends the walk and is
 * returned. */
int pte_range(pgd_t *pgd, unsigned long start, unsigned long end,
	      int (*fn)(pte_t *slot, unsigned long va, void *arg), void *arg);
/*
 * Boot, once, before the first memblock_alloc: map all RAM of boot_info at PAGE_OFFSET, what is text or
 * read-only data of the image not writable there either; tell memblock of the RAM and what is reserved.
 * Uses the fixmap's FIX_TABLES slots.
 */
void linear_map_init(void);
