/*
 * The page allocator: buddy lists of free blocks of 2^order pages. A request takes the smallest block that is large
 * enough and gives the halves that it does not need back; a freed block is united with its buddy, the other half of the
 * block of twice the size, as long as that is free too. Single pages, which are nearly all requests, come from per-CPU
 * lists in front of this (page_pcp.c).
 *
 * A page says in its flags in which state it is, and every change of owner checks them: pages that are written to after
 * being freed, freed twice or freed in use are reported (page_report.c) and then left alone.
 *
 * Locks: zone.lock [z], with interrupts off, guards the lists and PG_BUDDY. The fields of an allocated page belong to
 * its owner.
 */
#include "../internal.h"

#include <kernel/export.h>
#include <kernel/printk.h>
#include <mm/fault_inject.h>
#include <mm/oom.h>
#include <trace/events/kmem.h>
#include <lib/string.h>
#include <trace/fgraph.h>

struct static_key fault_injection_key = STATIC_KEY_INIT; /* see <mm/fault_inject.h> */

struct zone zone = {.lock = __SPIN_LOCK_UNLOCKED};
struct page *mem_map;
unsigned long mem_map_pfn0;
unsigned long min_pfn, max_pfn;

/* [z] Make a block the head of its list. */
static void add_to_free_list(struct page *page, unsigned order)
{
	page->flags = PG_BUDDY;
	page->order = order;
	list_add(&page->lru, &zone.free_list[order]);
	zone.nr_free[order]++;
}

/* [z] Take a block off its list. */
static void del_from_free_list(struct page *page, unsigned order)
{
	list_del(&page->lru);
	page->flags = 0;
	zone.nr_free[order]--;
}

/* [z] A block of order `high` is split: its upper halves go back to the lists until one of order `low` is left. */
static void expand(struct page *page, unsigned low, unsigned high)
{
	while (high > low) {
		high--;
		add_to_free_list(page + (1UL << high), high);
	}
}

/* [z] The smallest block that is large enough, split to size, or NULL. */
struct page *__rmqueue(unsigned order)
{
	for (unsigned o = order; o <= MAX_ORDER; o++) {
		struct page *page = list_first_entry_or_null(&zone.free_list[o], struct page, lru);

		if (!page)
			continue;
		del_from_free_list(page, o);
		expand(page, order, o);
		zone.free_pages -= 1UL << order;
		return page;
	}
	return NULL;
}

/*
 * [z] The other half of the block of twice the size, if it is wholly free, or NULL. The flags of a page that has an
 * owner may be written during this look. That is harmless, because only a holder of the zone lock ever sets PG_BUDDY,
 * so the bit that is read here cannot be wrong.
 */
static struct page *find_buddy(unsigned long pfn, unsigned order)
{
	unsigned long buddy_pfn = pfn ^ (1UL << order);
	struct page *buddy;

	if (!pfn_valid(buddy_pfn))
		return NULL;
	buddy = pfn_to_page(buddy_pfn);
	return READ_ONCE(buddy->flags) & PG_BUDDY && buddy->order == order ? buddy : NULL;
}

/*
 * [z] Put a block back, united with its buddy as long as that is free too. The united block starts at the lower of the
 * two.
 */
void __free_one_page(struct page *page, unsigned order)
{
	unsigned long pfn = page_to_pfn(page);
	struct page *buddy;

	zone.free_pages += 1UL << order;
	for (; order < MAX_ORDER && (buddy = find_buddy(pfn, order)); order++) {
		del_from_free_list(buddy, order);
		pfn &= ~(1UL << order);
	}
	add_to_free_list(pfn_to_page(pfn), order);
}

/* A block from the per-CPU list (order 0) or the buddy lists; NULL when there is no block. */
static noinline struct page *rmqueue(unsigned order)
{
	unsigned long flags;
	struct page *page;

	if (likely(order == 0))
		return rmqueue_pcplist();
	spin_lock_irqsave(&zone.lock, flags);
	page = __rmqueue(order);
	spin_unlock_irqrestore(&zone.lock, flags);
	return page;
}

/*
 * A page that is about to be handed out must have no owner: one that was written to after it was freed is found here at
 * the latest.
 */
static bool check_new_page(struct page *page)
{
	if (likely(!(page->flags | atomic_read(&page->refcount) | atomic_read(&page->mapcount))))
		return true;
	bad_page(page, "not free when allocated");
	return false;
}

/*
 * Make the first page of the block ready for its owner. The pages behind it are not touched: only the head of a block
 * counts.
 */
static void prep_new_page(struct page *page, bool clear, unsigned order)
{
	page->order = order;
	page->mapping = NULL;
	atomic_set(&page->refcount, 1);
	if (clear)
		for (unsigned long i = 0; i < 1UL << order; i++)
			clear_page(page_to_virt(page + i));
}

/* A block that is checked and prepared, or NULL. A bad page is lost for good, and the next one is tried. */
static noinline struct page *get_page_from_freelist(gfp_t gfp, unsigned order)
{
	struct page *page;
	bool clear;

	do {
		page = gfp & __GFP_ZERO && order == 0 ? rmqueue_zeroed() : NULL;
		clear = gfp & __GFP_ZERO && !page;
		if (!page)
			page = rmqueue(order);
		if (!page)
			return NULL;
	} while (!check_new_page(page));
	prep_new_page(page, clear, order);
	return page;
}

/* May this request wait, for other CPUs and for memory that is on its way back? */
static bool may_wait(gfp_t gfp)
{
	return gfp & GFP_KERNEL && !in_atomic() && !irqs_disabled();
}

/* May a process be killed for it? Callers that cope with a failure and those that ask for much get one instead. */
static bool may_oom(gfp_t gfp, unsigned order)
{
	return may_wait(gfp) && !(gfp & __GFP_NOWARN) && order <= PAGE_ALLOC_COSTLY_ORDER;
}

/*
 * No free block was large enough, but pages may be waiting in per-CPU lists, in pieces. Those of all CPUs can be asked
 * for only where this task may wait for other CPUs. Then memory is full: the OOM killer makes room, and the request is
 * tried again.
 */
static struct page *alloc_pages_slowpath(gfp_t gfp, unsigned order)
{
	struct page *page;

	do {
		if (may_wait(gfp))
			drain_all_pages();
		else
			drain_local_pages();
		page = get_page_from_freelist(gfp, order);
	} while (!page && may_oom(gfp, order) && out_of_memory(gfp, order));
	if (!page && !(gfp & __GFP_NOWARN) && !(may_wait(gfp) && current_is_dying()))
		pr_warn("%s: page allocation failure: order:%u, mode:0x%x\n", current->comm, order, gfp);
	return page;
}

static __always_inline struct page *do_alloc_pages(gfp_t gfp, unsigned order)
{
	struct page *page;

	if (unlikely(order > MAX_ORDER))
		return NULL;
	if (static_key_false(&fault_injection_key) && page_must_fail(order, gfp))
		return NULL;
	page = get_page_from_freelist(gfp, order);
	return likely(page) ? page : alloc_pages_slowpath(gfp, order);
}

/* With the event on; a function of its own so that the common path keeps nothing for the event. */
static notrace noinline struct page *alloc_pages_traced(gfp_t gfp, unsigned order, unsigned long caller)
{
	struct page *page = do_alloc_pages(gfp, order);

	trace_mm_page_alloc(page, order, gfp, caller);
	return page;
}

noinline struct page *__alloc_pages(gfp_t gfp, unsigned order)
{
	if (trace_mm_page_alloc_enabled())
		return alloc_pages_traced(gfp, order, TRUE_RET_ADDR());
	return do_alloc_pages(gfp, order);
}

/* Why a page whose last reference is gone must not be freed, or NULL when it may. */
static const char *bad_free_reason(const struct page *page, unsigned order)
{
	if (page->flags & (PG_BUDDY | PG_PCP))
		return "already free";
	if (page->flags & PG_RESERVED)
		return "reserved";
	if (page->flags & PG_SLAB)
		return "still a slab";
	if (atomic_read(&page->mapcount))
		return "nonzero mapcount";
	return page->order != order ? "freed with another order than allocated" : NULL;
}

/* The last reference is gone: check the page, and give it to the per-CPU lists or the buddy lists. */
static noinline void free_the_page(struct page *page, unsigned order, bool zeroed)
{
	const char *reason;
	unsigned long flags;

	reason = bad_free_reason(page, order);
	if (unlikely(reason)) {
		bad_page(page, reason);
		return;
	}
	page->flags = 0;
	page->mapping = NULL;
	if (likely(order == 0)) {
		free_unref_page(page, zeroed);
		return;
	}
	spin_lock_irqsave(&zone.lock, flags);
	__free_one_page(page, order);
	spin_unlock_irqrestore(&zone.lock, flags);
}

static notrace noinline void free_page_traced(struct page *page, unsigned order, bool zeroed, unsigned long caller)
{
	trace_mm_page_free(page, order, caller);
	free_the_page(page, order, zeroed);
}

/*
 * Drop a reference; true when it was the last. A count that falls below zero is a double free, which is reported and
 * mended.
 */
static bool put_page_testzero(struct page *page)
{
	int left = atomic_dec_return(&page->refcount);

	if (unlikely(left < 0)) {
		atomic_inc(&page->refcount);
		bad_page(page, "no reference left: freed twice?");
	}
	return left == 0;
}

static __always_inline void drop_reference(struct page *page, unsigned order, bool zeroed)
{
	if (!put_page_testzero(page))
		return;
	if (trace_mm_page_free_enabled())
		free_page_traced(page, order, zeroed, TRUE_RET_ADDR());
	else
		free_the_page(page, order, zeroed);
}

void __free_pages(struct page *page, unsigned order)
{
	drop_reference(page, order, false);
}

void put_page(struct page *page)
{
	drop_reference(page, page->order, false);
}

void release_pages(struct page *const *pages, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		drop_reference(pages[i], pages[i]->order, false);
}

void *get_free_pages(gfp_t gfp, unsigned order)
{
	struct page *page = alloc_pages(gfp, order);

	return page ? page_to_virt(page) : NULL;
}
EXPORT_SYMBOL(get_free_pages);

void *get_free_page(gfp_t gfp)
{
	return get_free_pages(gfp, 0);
}

void *get_zeroed_page(gfp_t gfp)
{
	return get_free_pages(gfp | __GFP_ZERO, 0);
}

void free_pages(void *addr, unsigned order)
{
	if (addr)
		__free_pages(virt_to_page(addr), order);
}
EXPORT_SYMBOL(free_pages);

void free_page(void *addr)
{
	free_pages(addr, 0);
}

void free_zeroed_page(void *addr)
{
	drop_reference(virt_to_page(addr), 0, true);
}
