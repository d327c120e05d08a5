/* What the files of kernel/mm share among themselves. */
#pragma once

#include <kernel/smp.h>
#include <mm/page.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>

/*
 * The free memory. Everything below 2^MAX_ORDER pages that is free and not in a per-CPU list lies in one of
 * these lists, whole: no two free buddies of one order exist side by side. Locks: z lock, taken with
 * interrupts off.
 */
struct zone {
	spinlock_t lock;
	struct list_head free_list[MAX_ORDER + 1]; /* [z] heads, through page->lru */
	unsigned long nr_free[MAX_ORDER + 1];	   /* [z] blocks in each */
	unsigned long free_pages;		   /* [z] pages in all of them */
	unsigned long managed_pages;		   /* [z] ever given to the allocator */
};
extern struct zone zone;

/*
 * Order-0 pages of one CPU, last in first out: what was freed last is still in its cache. An array by CPU
 * number and no per-CPU variable, because pages are allocated before the per-CPU areas are copied from their
 * template.
 */
struct per_cpu_pages {
	struct page *head; /* [c] linked through page->private; owning CPU with interrupts off */
	unsigned count;	   /* [c] */
} __cacheline_aligned;
extern struct per_cpu_pages per_cpu_pages[NR_CPUS];
#define PCP_BATCH 32 /* pages moved to or from the buddy lists at once */
#define PCP_HIGH  96 /* more than this: a batch goes back */

/* Buddy lists (page_alloc.c). [z] */
struct page *__rmqueue(unsigned order);
void __free_one_page(struct page *page, unsigned order);
/* Per-CPU lists (page_pcp.c). */
struct page *rmqueue_pcplist(void);
void free_unref_page(struct page *page);

/* Report a page that is not what it should be, with the reason; the caller leaves it alone. Any context. */
void bad_page(struct page *page, const char *reason);
/* Boot: the next run of free RAM at or after *end; whole pages. False at the end. */
bool memblock_next_free(phys_addr_t *base, phys_addr_t *end);
