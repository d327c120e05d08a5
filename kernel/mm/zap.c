/* Taking pages out of an address space: empty the entries, flush the TLBs, then let the pages go, in batches.
 */
#include "vma.h"

#define BATCH 32

/* A batch under way. The pages in it are unmapped but some CPU may still reach them through its TLB. */
struct gather {
	struct mm_struct *mm;
	unsigned long start, end; /* what was emptied since the last flush */
	unsigned nr;
	struct pte_pause pause;
	bool full_mm; /* nobody runs in it any more: one flush at the end is enough */
	struct page *pages[BATCH];
};

static void free_batch(struct gather *g)
{
	for (unsigned i = 0; i < g->nr; i++)
		put_page(g->pages[i]);
	g->nr = 0;
}

/* After this no CPU reaches the emptied range; only now may its pages become somebody else's. */
static void flush_batch(struct gather *g)
{
	if (!g->full_mm && g->start < g->end)
		flush_tlb_range(g->mm, g->start, g->end);
	free_batch(g);
	g->start = ~0UL;
	g->end = 0;
}

/* One entry. Returns 1 when the batch is full and the walk shall pause. [p] */
static int zap_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct gather *g = arg;
	struct page *page = phys_to_page(pte_phys(ptep_get_and_clear(slot)));

	g->start = min(g->start, va);
	g->end = va + PAGE_SIZE;
	if (page == zero_page)
		return pte_pause(&g->pause, va);
	count_page(g->mm, page, -1);
	atomic_dec(&page->mapcount);
	g->pages[g->nr++] = page;
	return g->nr == BATCH;
}

static void zap_gather(struct gather *g, unsigned long start, unsigned long end)
{
	int more;

	do {
		spin_lock(&g->mm->page_table_lock);
		more = pte_range(g->mm->pgd, start, end, zap_pte, g);
		spin_unlock(&g->mm->page_table_lock);
		if (more)
			start = g->end; /* of the last entry taken out */
		/* Outside the spinlock: on machines that flush by interrupt, the others must be able to
		 * answer. */
		flush_batch(g);
	} while (more);
}

noinline void zap_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct gather g = {.mm = mm, .start = ~0UL};

	zap_gather(&g, start, end);
}

/* [m] The file's page `from` and what lies behind it, in all areas that show it. */
static void unmap_file(struct mm_struct *mm, const struct inode *inode, unsigned long from)
{
	struct vm_area_struct *vma;

	list_for_each_entry (vma, &mm->area_list, list) {
		unsigned long skip = from > vma->vm_pgoff ? from - vma->vm_pgoff : 0;

		if (vma->vm_file && vma->vm_file->f_inode == inode && skip < vma_pages(vma))
			zap_range(mm, vma->vm_start + (skip << PAGE_SHIFT), vma->vm_end);
	}
}

/*
 * A fault that saw the old size holds its mmap_lock until its entry is there: we come behind it. One that
 * comes behind us sees the new size. A child that fork has copied before we come to its parent stands behind
 * that one in the list. The barrier pairs with mmap's: whose i_mapped we do not see sees the new size.
 *
 * Few files are mapped and then cut, so looking through all address spaces is cheaper than a list of areas
 * for each file.
 */
void unmap_mapping_pages(const struct inode *inode, unsigned long from)
{
	struct mm_struct *mm;

	smp_mb();
	if (!READ_ONCE(inode->i_mapped))
		return;
	for (mm = mm_next(NULL); mm; mm = mm_next(mm)) {
		mutex_lock(&mm->mmap_lock);
		unmap_file(mm, inode, from);
		mutex_unlock(&mm->mmap_lock);
	}
}

/*
 * mm_users is 0: no task runs in it and /proc cannot get at it, so no lock is needed for the areas. A CPU may
 * still have it loaded for a kernel thread, which never touches user addresses; its TLB entries go with the
 * flush at the end, before the tables can be freed (mmdrop) or the address-space id used again.
 */
void exit_mmap(struct mm_struct *mm)
{
	struct gather g = {.mm = mm, .start = ~0UL, .full_mm = true};
	struct vm_area_struct *vma, *next;

	list_for_each_entry_safe (vma, next, &mm->area_list, list) {
		zap_gather(&g, vma->vm_start, vma->vm_end);
		vma_free(vma);
	}
	flush_tlb_mm(mm);
	INIT_LIST_HEAD(&mm->area_list);
	mm->areas = RB_ROOT;
	mm->nr_areas = 0;
}
