/* What the files of the page allocator share: the zone with its buddy lists, and the per-CPU lists in front of it. */
#pragma once

#include <kernel/smp.h>
#include <mm/page.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>

/*
 * The free memory. All blocks of up to 2^MAX_ORDER pages that are free and in no per-CPU list lie in these lists, as
 * large as possible: no two buddies of one order are free side by side. Locks: z lock, taken with interrupts off.
 */
struct zone {
	spinlock_t lock;
	struct list_head free_list[MAX_ORDER + 1]; /* [z] heads, through page->lru */
	unsigned long nr_free[MAX_ORDER + 1];	   /* [z] blocks in each */
	unsigned long free_pages;		   /* [z] pages in all of them */
	unsigned long managed_pages;		   /* [z] pages that were ever given to the allocator */
};
extern struct zone zone;

/*
 * Free single pages of one CPU, last in first out, because what was freed last is still in its cache. It is an array
 * indexed by CPU and no per-CPU variable, because pages are allocated before the per-CPU areas are copied from their
 * template.
 */
struct per_cpu_pages {
	struct page *head;   /* [c] linked through page->private; owning CPU with interrupts off */
	struct page *zeroed; /* [c] the same, of pages that hold zeroes */
	unsigned count;	     /* [c] of both lists */
	unsigned nr_zeroed;  /* [c] */
} __cacheline_aligned;
extern struct per_cpu_pages per_cpu_pages[NR_CPUS];
#define PCP_BATCH  32 /* pages that move to or from the buddy lists at once */
#define PCP_HIGH   96 /* pages in a CPU's lists above which a batch goes back */
#define PCP_ZEROED 32 /* pages that are kept as zeroed ones: the page tables of a few address spaces */

/* Buddy lists (page_alloc.c): take a block off (NULL: no block is large enough), and put one back. [z] */
struct page *__rmqueue(unsigned order);
void __free_one_page(struct page *page, unsigned order);
/*
 * Per-CPU lists (page_pcp.c): one page, or NULL; one that holds zeroes, if such a page is here; and a free page back,
 * which may be known to hold zeroes. Any context but nmi.
 */
struct page *rmqueue_pcplist(void);
struct page *rmqueue_zeroed(void);
void free_unref_page(struct page *page, bool zeroed);

/*
 * Report a page that is not what it must be, with the reason. The caller then leaves the page alone: losing one is
 * better than giving it to two owners. Any context.
 */
void bad_page(struct page *page, const char *reason);
/* Boot: the next run of whole free pages at or behind *end, as [*base, *end). False when there is no further one. */
bool memblock_next_free(phys_addr_t *base, phys_addr_t *end);
