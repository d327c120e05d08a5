/* Per-CPU lists of order-0 pages: the usual allocation and free take no lock, interrupts off are enough. */
#include "internal.h"

struct per_cpu_pages per_cpu_pages[NR_CPUS];

/* Interrupts off in all of these: the list is ours alone then. */
static struct per_cpu_pages *this_pcp(void)
{
	return &per_cpu_pages[smp_processor_id()];
}

static void pcp_push(struct per_cpu_pages *pcp, struct page *page)
{
	page->flags = PG_PCP;
	page->private = (unsigned long)pcp->head;
	pcp->head = page;
	WRITE_ONCE(pcp->count, pcp->count + 1); /* nr_free_pages() reads it from other CPUs */
}

static struct page *pcp_pop(struct per_cpu_pages *pcp)
{
	struct page *page = pcp->head;

	pcp->head = (struct page *)page->private;
	WRITE_ONCE(pcp->count, pcp->count - 1);
	page->flags = 0;
	return page;
}

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

static void drain_this_cpu(void *unused)
{
	drain_local_pages();
}

void drain_all_pages(void)
{
	on_each_cpu(drain_this_cpu, NULL, true);
}

/* Exact while nothing allocates; else each CPU's part is of a slightly different moment. */
unsigned long nr_free_pages(void)
{
	unsigned long n = READ_ONCE(zone.free_pages);
	unsigned cpu;

	for_each_possible_cpu (cpu)
		n += READ_ONCE(per_cpu_pages[cpu].count);
	return n;
}
