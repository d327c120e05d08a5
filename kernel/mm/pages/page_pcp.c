/*
 * Per-CPU lists of single pages: the usual allocation and free take no lock, and switching interrupts off is enough. A
 * CPU only touches its own list. Pages move between it and the buddy lists in batches, so the zone lock is taken once
 * for PCP_BATCH pages. A CPU's lists hold PCP_HIGH pages at most; that and the batch leave room for bursts in both
 * directions.
 *
 * The page tables of an address space that ends are empty again, and the next process wants as many. Clearing one costs
 * more than all else that its allocation does, so such pages have a list of their own, from which __GFP_ZERO is served.
 */
#include <sched/cpuhp.h>

#include "../internal.h"

struct per_cpu_pages per_cpu_pages[NR_CPUS];

/* Interrupts are off in all of the following, so the lists belong to the caller alone. */
static struct per_cpu_pages *this_pcp(void)
{
	return &per_cpu_pages[smp_processor_id()];
}

/* [c] Put a page on one of its lists. */
static void pcp_push(struct per_cpu_pages *pcp, struct page **list, struct page *page)
{
	page->flags = PG_PCP;
	page->private = (unsigned long)*list;
	*list = page;
	WRITE_ONCE(pcp->count, pcp->count + 1); /* nr_free_pages() reads it from other CPUs */
}

/* [c] Take the page that was put last; the list must not be empty. */
static struct page *pcp_pop(struct per_cpu_pages *pcp, struct page **list)
{
	struct page *page = *list;

	*list = (struct page *)page->private;
	WRITE_ONCE(pcp->count, pcp->count - 1);
	page->flags = 0;
	return page;
}

/* [c] Fill the list with a batch, or with what there is. */
static noinline void rmqueue_bulk(struct per_cpu_pages *pcp)
{
	spin_lock(&zone.lock);
	for (unsigned i = 0; i < PCP_BATCH; i++) {
		struct page *page = __rmqueue(0);

		if (!page)
			break;
		pcp_push(pcp, &pcp->head, page);
	}
	spin_unlock(&zone.lock);
}

/* [c] The same of the pages that hold zeroes. */
static struct page *pcp_pop_zeroed(struct per_cpu_pages *pcp)
{
	pcp->nr_zeroed--;
	return pcp_pop(pcp, &pcp->zeroed);
}

/* [c] Give `count` pages back to the buddy lists, those that hold zeroes last. */
static noinline void free_pcppages_bulk(struct per_cpu_pages *pcp, unsigned count)
{
	spin_lock(&zone.lock);
	while (count--)
		__free_one_page(pcp->head ? pcp_pop(pcp, &pcp->head) : pcp_pop_zeroed(pcp), 0);
	spin_unlock(&zone.lock);
}

struct page *rmqueue_pcplist(void)
{
	struct per_cpu_pages *pcp;
	struct page *page = NULL;
	unsigned long flags;

	local_irq_save(flags);
	pcp = this_pcp();
	if (unlikely(!pcp->head))
		rmqueue_bulk(pcp);
	if (likely(pcp->head))
		page = pcp_pop(pcp, &pcp->head);
	local_irq_restore(flags);
	return page;
}

struct page *rmqueue_zeroed(void)
{
	struct per_cpu_pages *pcp;
	struct page *page = NULL;
	unsigned long flags;

	local_irq_save(flags);
	pcp = this_pcp();
	if (pcp->zeroed)
		page = pcp_pop_zeroed(pcp);
	local_irq_restore(flags);
	return page;
}

/* At most PCP_ZEROED pages are kept for their zeroes; the others are taken for any purpose. */
noinline void free_unref_page(struct page *page, bool zeroed)
{
	struct per_cpu_pages *pcp;
	unsigned long flags;

	local_irq_save(flags);
	pcp = this_pcp();
	if (zeroed && pcp->nr_zeroed < PCP_ZEROED) {
		pcp->nr_zeroed++;
		pcp_push(pcp, &pcp->zeroed, page);
	} else {
		pcp_push(pcp, &pcp->head, page);
	}
	if (unlikely(pcp->count > PCP_HIGH))
		free_pcppages_bulk(pcp, PCP_BATCH);
	local_irq_restore(flags);
}

void drain_local_pages(void)
{
	unsigned long flags;

	local_irq_save(flags);
	free_pcppages_bulk(this_pcp(), this_pcp()->count);
	local_irq_restore(flags);
}

/* drain_local_pages() in the form that on_each_cpu() calls. */
static void drain_this_cpu(void *unused)
{
	drain_local_pages();
}

void drain_all_pages(void)
{
	on_each_cpu(drain_this_cpu, NULL, true);
}

/* Exact while nothing is allocated or freed; otherwise each CPU's part is of a slightly different moment. */
unsigned long nr_free_pages(void)
{
	unsigned long n = READ_ONCE(zone.free_pages);
	unsigned cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_pages[cpu].count);
	return n;
}

/* The CPU is gone, and its list belongs to nobody. */
static int pages_cpu_dead(unsigned cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	free_pcppages_bulk(&per_cpu_pages[cpu], per_cpu_pages[cpu].count);
	local_irq_restore(flags);
	return 0;
}
static const struct cpuhp_step pages_step = {.name = "mm:pages", .stage = CPUHP_PREPARE, .down = pages_cpu_dead};
REGISTER_CPUHP(pages_step);
