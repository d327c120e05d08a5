/* Page tables of every machine: finding, making and freeing them (kernel/mm/pgtable.c). */
#pragma once

#include <arch/pgtable.h>

struct list_head;

/*
 * The leaf slot of `va`, or NULL when a table on the way is missing or a block is met. No lock: tables are not freed
 * while their address space lives.
 */
pte_t *pte_lookup(pgd_t *pgd, unsigned long va);
/*
 * The same, but missing tables are made. NULL: out of memory, or a block is met. Several CPUs may call it at once.
 * Context: thread, or boot once the page allocator works.
 */
pte_t *pte_alloc(pgd_t *pgd, unsigned long va);
/* Atomically empty the slot; returns what it held. */
pte_t ptep_get_and_clear(pte_t *slot);

/*
 * A new top level for user addresses, empty except for the kernel's entries on a machine that has them there; NULL when
 * out of memory. Thread context.
 */
pgd_t *pgd_alloc(void);
/*
 * Free a top level with all tables below it. All leaf entries are empty; no CPU may use it any more, nor hold any of it
 * in its TLB.
 */
void pgd_free(pgd_t *pgd);
/*
 * Take all tables out of a top level, whose leaf entries are empty, and put them on a list, to be freed before the top
 * level is. CPUs may have that loaded, for kernel addresses: the caller flushes their TLBs in between. No lock: the
 * address space has no users any more. Thread context.
 */
void pgd_detach_tables(pgd_t *pgd, struct list_head *tables);
void free_detached_tables(struct list_head *tables);
/* How many pages an address space's tables take; the caller has a reference to it. Any context. */
unsigned long pgd_pages(pgd_t *pgd);
/* Boot: from here on no entry of the kernel's top level changes, so pgd_alloc may copy them. */
void pgd_kernel_complete(void);
/*
 * The leaf slots from *va on that lie in one table: the first of them, and in *n how many there are before the table or
 * `end` ends. Where there is no table, *va moves behind it first; NULL when it comes to `end`. No lock.
 */
pte_t *pte_run(pgd_t *pgd, unsigned long *va, unsigned long end, unsigned *n);
/* Are the eight slots from `at` on empty? */
static __always_inline bool pte_none8(const pte_t *at)
{
	u64 any = 0;

	_Pragma("GCC unroll 8") for (unsigned i = 0; i < 8; i++) any |= READ_ONCE(at[i].v);
	return !any;
}

/*
 * The first slot of at..end - 1 that is not empty, or end. Address spaces are mostly empty, so eight slots that share a
 * cache line are looked at in one step. No lock; a slot may change meanwhile.
 */
static __always_inline pte_t *pte_skip_empty(pte_t *at, const pte_t *end)
{
	while (at < end && pte_none(READ_ONCE(*at)))
		at += IS_ALIGNED((unsigned long)at, 8 * sizeof(*at)) && end - at >= 8 && pte_none8(at) ? 8 : 1;
	return at;
}
/*
 * Call fn for each non-empty user leaf entry of [start, end), in ascending order. A result other than 0 ends the walk
 * and is returned. The caller keeps the entries from changing where fn needs that.
 */
int pte_range(pgd_t *pgd, unsigned long start, unsigned long end, int (*fn)(pte_t *slot, unsigned long va, void *arg),
	      void *arg);
/*
 * Boot, once, before the first memblock_alloc: map all RAM of boot_info at PAGE_OFFSET. The image's text and read-only
 * data are not writable there either. Tells memblock about the RAM and about what is reserved in it. Uses the fixmap
 * slots FIX_TABLES.
 */
void linear_map_init(void);
