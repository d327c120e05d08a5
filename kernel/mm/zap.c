/*
 * Taking pages out of an address space. The order is what makes it safe: empty the entries, flush the TLBs, and only
 * then drop the pages' references. Until the flush a CPU may still reach the pages through its TLB, so they must not
 * get another owner. This is done in batches, so that one flush serves many pages.
 */
#include <mm/mm_part.h>

#include "vma.h"

#define BATCH 32 /* pages that wait for one flush */

/* A batch under way. The pages in it are unmapped, but a CPU may still reach them through its TLB. */
struct gather {
	struct mm_struct *mm;
	unsigned long start, end; /* what was emptied since the last flush */
	unsigned nr, passed;	  /* pages in the batch; entries that gave it no page */
	bool keep_copies;	  /* leave pages of private copies where they are */
	bool full_mm;		  /* no task runs in it any more: one flush at the end is enough */
	struct page *pages[BATCH];
};

/* The pages leave the address space's counts, and their mappings' references go. */
static void free_batch(struct gather *g)
{
	unsigned anon = 0;

	for (unsigned i = 0; i < g->nr; i++) {
		anon += !!(g->pages[i]->flags & PG_ANON);
		atomic_dec(&g->pages[i]->mapcount);
	}
	atomic_sub(anon, &g->mm->rss_anon);
	atomic_sub(g->nr - anon, &g->mm->rss_file);
	release_pages(g->pages, g->nr);
	g->nr = 0;
}

/*
 * After this no CPU reaches the emptied range; only now may its pages get another owner. The next range begins behind
 * every end: it is empty until zap_slots() sets both.
 */
static void flush_batch(struct gather *g)
{
	if (!g->full_mm && g->start < g->end)
		flush_tlb_range(g->mm, g->start, g->end);
	free_batch(g);
	g->start = ~0UL;
	g->passed = 0;
}

/* When the batch is full, or when it is time for a pause in the spinlock. */
static inline bool must_flush(unsigned nr, unsigned passed)
{
	return nr == BATCH || passed >= PAUSE_AFTER;
}

/*
 * [p] Empty the n slots from va on, up to the next flush. A plain store does it, without a barrier: whoever else would
 * write the entry waits for the lock, a CPU that marks it as used at this moment marks a page that goes, and a CPU that
 * still finds the page does so until the flush. What changes with each page is kept in registers. Returns where to go
 * on.
 */
static unsigned long zap_slots(struct gather *g, pte_t *slot, unsigned long va, unsigned n)
{
	pte_t *at = pte_skip_empty(slot, slot + n);
	unsigned nr = g->nr, passed = g->passed;
	unsigned long start = g->start, here;
	struct page *zero = zero_page;

	for (; at < slot + n && !must_flush(nr, passed); at = pte_skip_empty(at + 1, slot + n)) {
		struct page *page = phys_to_page(pte_phys(READ_ONCE(*at)));

		if (g->keep_copies && page->flags & PG_ANON) {
			passed++;
			continue;
		}
		here = va + (at - slot) * PAGE_SIZE;
		start = min(start, here);
		g->end = here + PAGE_SIZE;
		WRITE_ONCE(*at, (pte_t){0});
		if (page != zero)
			g->pages[nr++] = page;
		else
			passed++;
	}
	g->nr = nr;
	g->passed = passed;
	g->start = start;
	return va + (at - slot) * PAGE_SIZE;
}

/*
 * [m, or the last user] Batch by batch; the caller flushes the last one. The flush comes outside the spinlock, because
 * on machines that flush by interrupt it waits for the answers of other CPUs.
 */
static void zap_gather(struct gather *g, unsigned long start, unsigned long end)
{
	pte_t *slot;
	unsigned n;

	while (start < end) {
		if (must_flush(g->nr, g->passed))
			flush_batch(g);
		spin_lock(&g->mm->page_table_lock);
		while (start < end && !must_flush(g->nr, g->passed) && (slot = pte_run(g->mm->pgd, &start, end, &n)))
			start = zap_slots(g, slot, start, n);
		spin_unlock(&g->mm->page_table_lock);
	}
}

noinline void zap_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct gather g = {.mm = mm, .start = ~0UL};

	zap_gather(&g, start, end);
	flush_batch(&g);
}

/* [m] Take the file's pages from..to - 1 out of every area that shows the file; with or without private copies. */
static void unmap_file(struct mm_struct *mm, const struct inode *inode, unsigned long from, unsigned long to,
		       bool copies)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &mm->area_list, list) {
		unsigned long skip = from > vma->vm_pgoff ? from - vma->vm_pgoff : 0;
		unsigned long end = to > vma->vm_pgoff ? min(to - vma->vm_pgoff, vma_pages(vma)) : 0;
		struct gather g = {.mm = mm, .start = ~0UL, .keep_copies = !copies};

		if (!vma->vm_file || vma->vm_file->f_inode != inode || skip >= end)
			continue;
		zap_gather(&g, vma->vm_start + (skip << PAGE_SHIFT), vma->vm_start + (end << PAGE_SHIFT));
		flush_batch(&g);
	}
}

/* The walk over all address spaces. */
static void unmap_everywhere(const struct inode *inode, unsigned long from, unsigned long to, bool copies)
{
	struct mm_struct *mm;

	smp_mb();
	if (!READ_ONCE(inode->i_mapped))
		return;
	for (mm = mm_next(NULL); mm; mm = mm_next(mm)) {
		mutex_lock(&mm->mmap_lock);
		unmap_file(mm, inode, from, to, copies);
		mutex_unlock(&mm->mmap_lock);
	}
}

/*
 * Why no entry is missed: a fault that saw the old size holds its mmap_lock until its entry is stored, so this function
 * comes after it. A later fault sees the new size. A child that fork has copied before this function came to its parent
 * stands behind the parent in the list of address spaces, so it is visited later.
 *
 * The barrier pairs with the one in back_mapping(): a mapping whose i_mapped is not seen here sees the new size.
 *
 * Few files are mapped and then cut, so walking all address spaces is cheaper than a list of areas for each file.
 */
void unmap_mapping_pages(const struct inode *inode, unsigned long from)
{
	unmap_everywhere(inode, from, ~0UL, true);
}

/*
 * No entry is missed here either: a fault that took the old page from the file holds its mmap_lock until its entry is
 * stored, and a later one finds the file's new page, or a hole. A new page that was mapped meanwhile is taken out, too,
 * which costs another fault.
 */
void unmap_file_pages(const struct inode *inode, unsigned long from, unsigned long to)
{
	unmap_everywhere(inode, from, to, false);
}

#define MANY_TABLES 64

static void take_interrupt(void *unused)
{
}

/*
 * An idle CPU may keep an address space loaded, and with it all tables, for as long as it runs nothing else. A few do
 * not matter, but a process can have made all of memory tables, and the OOM killer must not look for another victim
 * because they are still there. So many tables are freed here. A CPU that has the top level loaded uses it for kernel
 * addresses, but may walk from it to others ahead of what it executes. Therefore the top level is emptied first, then
 * the TLBs are flushed. A CPU that is just loading another top level, with interrupts off, is left out by a flush
 * (arch/x86_64/mm/tlb.c) and may still know where the tables are: the interrupt is taken when it has loaded it.
 */
static void free_many_tables(struct mm_struct *mm)
{
	LIST_HEAD(tables);

	if (pgd_pages(mm->pgd) < MANY_TABLES)
		return;
	pgd_detach_tables(mm->pgd, &tables);
	flush_tlb_mm(mm);
	on_each_cpu(take_interrupt, NULL, true);
	free_detached_tables(&tables);
}

/*
 * mm_users is 0: no task runs in the address space and /proc cannot reach it, so the areas need no lock. A CPU may
 * still have it loaded for a kernel thread, which never touches user addresses; its TLB entries go with the flush at
 * the end, before the tables can be freed (mmdrop) or the address-space id used again.
 */
void exit_mmap(struct mm_struct *mm)
{
	struct gather g = {.mm = mm, .start = ~0UL, .full_mm = true};
	struct vm_area_struct *vma, *next;
	const struct mm_part *part;

	for_each_in_table(mm_parts, part)
		part->exit(mm);
	list_for_each_entry_safe(vma, next, &mm->area_list, list) {
		zap_gather(&g, vma->vm_start, vma->vm_end);
		if (unlikely(vma->vm_flags & VM_WHOLE))
			flush_batch(&g); /* its file counts on that no page of it is mapped when it is released */
		vma_free(vma);
	}
	flush_batch(&g);
	flush_tlb_mm(mm);
	free_many_tables(mm);
	INIT_LIST_HEAD(&mm->area_list);
	mm->areas = RB_ROOT;
	mm->nr_areas = 0;
}
