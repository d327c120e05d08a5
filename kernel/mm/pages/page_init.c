/*
 * From boot memory to the page allocator: the array mem_map is made, and all RAM that is not taken goes to the buddy
 * lists. mem_map has an entry for every frame between the lowest and the highest address of RAM; frames in holes
 * between regions, and frames that are taken, are marked PG_RESERVED.
 */
#include "../internal.h"

#include <kernel/printk.h>

/* Free [pfn, end) in the largest blocks that are aligned to their size. Boot, or thread; takes the zone lock. */
static void free_pfn_range(unsigned long pfn, unsigned long end)
{
	unsigned long flags;

	spin_lock_irqsave(&zone.lock, flags);
	zone.managed_pages += end - pfn;
	while (pfn < end) {
		unsigned order = pfn ? min((unsigned)__builtin_ctzl(pfn), (unsigned)MAX_ORDER) : MAX_ORDER;

		while (pfn + (1UL << order) > end)
			order--;
		pfn_to_page(pfn)->flags = 0;
		__free_one_page(pfn_to_page(pfn), order);
		pfn += 1UL << order;
	}
	spin_unlock_irqrestore(&zone.lock, flags);
}

static void reserve_pfn_range(unsigned long pfn, unsigned long end)
{
	for (; pfn < end; pfn++)
		pfn_to_page(pfn)->flags = PG_RESERVED;
}

/* All RAM in KiB, without the holes between the regions, which have entries in mem_map all the same. */
static unsigned long ram_kib(void)
{
	phys_addr_t base;
	u64 size, all = 0;

	for (unsigned i = 0; memblock_region(i, &base, &size); i++)
		all += size;
	return all >> 10;
}

/* Frames are visited in ascending order: a gap is marked reserved, then a free run goes to the lists. */
void page_alloc_init(void)
{
	phys_addr_t base, end = 0;
	unsigned long pfn;

	for (unsigned order = 0; order <= MAX_ORDER; order++)
		INIT_LIST_HEAD(&zone.free_list[order]);
	min_pfn = memblock_start() >> PAGE_SHIFT;
	max_pfn = memblock_end() >> PAGE_SHIFT;
	mem_map = __va(memblock_alloc((max_pfn - min_pfn) * sizeof(struct page), 64));
	mem_map_pfn0 = (unsigned long)mem_map - min_pfn * sizeof(struct page);
	/* Zeroes are right for a page inside a free block, so only heads of blocks and gaps are written. */
	for (pfn = min_pfn; memblock_next_free(&base, &end); pfn = end >> PAGE_SHIFT) {
		reserve_pfn_range(pfn, base >> PAGE_SHIFT);
		free_pfn_range(base >> PAGE_SHIFT, end >> PAGE_SHIFT);
	}
	reserve_pfn_range(pfn, max_pfn);
	pr_info("Memory: %luK/%luK available\n", zone.managed_pages << (PAGE_SHIFT - 10), ram_kib());
}

/*
 * Whole pages only. All of them are checked before the first one changes, so a wrong range does no harm. Then all flags
 * are cleared, since free_pfn_range() writes only those of the heads of blocks.
 */
void free_reserved_area(phys_addr_t start, phys_addr_t end)
{
	unsigned long first = ALIGN(start, PAGE_SIZE) >> PAGE_SHIFT, last = end >> PAGE_SHIFT;

	for (unsigned long pfn = first; pfn < last; pfn++)
		if (!pfn_valid(pfn) || pfn_to_page(pfn)->flags != PG_RESERVED) {
			pr_err("free_reserved_area: %llx-%llx is not reserved memory\n", (unsigned long long)start,
			       (unsigned long long)end);
			return;
		}
	for (unsigned long pfn = first; pfn < last; pfn++)
		pfn_to_page(pfn)->flags = 0;
	if (first < last)
		free_pfn_range(first, last);
}

unsigned long totalram_pages(void)
{
	return READ_ONCE(zone.managed_pages);
}

/* A sixteenth of RAM, a round figure. */
unsigned long totalreserve_pages(void)
{
	return totalram_pages() / 16;
}

unsigned long si_mem_available(void)
{
	unsigned long free = nr_free_pages(), reserve = totalreserve_pages();

	return free > reserve ? free - reserve : 0;
}
