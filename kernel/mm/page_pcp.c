/*
 * Per-CPU lists of single pages: the usual allocation and free take no lock, and switching interrupts off is enough. A
 * CPU only touches its own list. Pages move between it and the buddy lists in batches, so the zone lock is taken once
 * for PCP_BATCH pages. A list holds PCP_HIGH pages at most; that and the batch leave room for bursts in both
 * directions.
 */
#include <sched/cpuhp.h>

#include "internal.h"

struct per_cpu_pages per_cpu_pages[NR_CPUS];

/* Interrupts are off in all of the following, so the list belongs to the caller alone. */
static struct per_cpu_pages *this_pcp(void)
{
	return &per_cpu_pages[smp_processor_id()];
}

/* [c] Put a page on the list. */
static void pcp_push(struct per_cpu_pages *pcp, struct page *page)
{
	page->flags = PG_PCP;
	page->private = (unsigned long)pcp->head;
	pcp->head = page;
	WRITE_ONCE(pcp->count, pcp->count + 1); /* nr_free_pages() reads it from other CPUs */
}

/* [c] Take the page that was put last; the list must not be empty. */
static struct page *pcp_pop(struct per_cpu_pages *pcp)
{
	struct page *page = pcp->head;

	pcp->head = (struct page *)page->private;
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
		pcp_push(pcp, page);
	}
	spin_unlock(&zone.lock);
}

/* [c] Give `count` pages back to the buddy lists. */
static noinline void free_pcppages_bulk(struct per_cpu_pages *pcp, unsigned count)
{
	spin_lock(&zone.lock);
	while (count--)
		__free_one_page(pcp_pop(pcp), 0);
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
		page = pcp_pop(pcp);
	local_irq_restore(flags);
	return page;
}

noinline void free_unref_page(struct page *page)
{
	struct per_cpu_pages *pcp;
	unsigned long flags;

	local_irq_save(flags);
	pcp = this_pcp();
	pcp_push(pcp, page);
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
