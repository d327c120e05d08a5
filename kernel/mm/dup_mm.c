/*
 * fork's copy of an address space. The areas are copied one by one, and with them the entries of their pages: parent
 * and child share the pages then, and where an area is private both lose the right to write, so that the first write
 * copies the page (do_wp_page).
 *
 * Tables of file areas that hold no private copies are not copied, unless one fault would map the whole area again:
 * faults bring those pages back, and a child that execs never needs them. The tree of areas is copied by its shape,
 * without searching or balancing (vma_copy_tree).
 *
 * Locks: mmap_lock of the parent, then that of the child, for the whole copy; see dup_mm() for why two of them are safe
 * here.
 */
#include <lib/string.h>
#include <mm/mm_part.h>

#include "vma.h"

#define TABLE_SPAN    (PAGE_SIZE * (PAGE_SIZE / sizeof(pte_t))) /* bytes that one leaf table maps */
#define REFAULT_PAGES 16					/* file areas with more pages are left to faults */

/* One area being copied. */
struct copy {
	struct mm_struct *old, *new;
	pte_t *table; /* the child's slot for table_start */
	unsigned long table_start;
	unsigned long lacking; /* the address whose table there was no memory for under the spinlock */
	bool cow;	       /* write-protect in both */
	unsigned flags;	       /* of all areas that have come along */
	int anon, file;	       /* pages copied */
	struct pte_pause pause;
};

/*
 * The child's slot for va. Entries of a leaf table are consecutive, so the tables are walked only once for each table.
 * NULL: out of memory.
 */
static pte_t *child_slot(struct copy *c, unsigned long va)
{
	unsigned long start = ALIGN_DOWN(va, TABLE_SPAN);

	if (!c->table || c->table_start != start) {
		c->table = pte_alloc(c->new->pgd, start);
		c->table_start = start;
	}
	return c->table ? c->table + ((va - start) >> PAGE_SHIFT) : NULL;
}

/*
 * [p of the parent] Copy one entry, and write-protect it in both when the area is private. The child's mmap_lock keeps
 * all others out of its tables, so its page_table_lock is not needed. Returns 0, 1 for a pause, or -ENOMEM.
 */
static int copy_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct copy *c = arg;
	pte_t pte = READ_ONCE(*slot), *to = child_slot(c, va);
	struct page *page = phys_to_page(pte_phys(pte));

	if (!to) {
		c->lacking = va;
		return -ENOMEM;
	}
	if (c->cow && pte_write(pte)) {
		pte = pte_wrprotect(pte);
		set_pte(slot, pte);
	}
	if (page != zero_page) {
		get_page(page);
		atomic_inc(&page->mapcount);
		if (page->flags & PG_ANON)
			c->anon++;
		else
			c->file++;
	}
	set_pte(to, pte);
	return pte_pause(&c->pause, va);
}

/* A table that there was no memory for: it is made where the allocator may wait. The address to go on at, or 0. */
static unsigned long make_lacking_table(struct copy *c)
{
	return pte_alloc(c->new->pgd, c->lacking) ? c->lacking : 0;
}

/*
 * Copy the entries of one area, with a pause in the parent's spinlock after each PAUSE_AFTER entries. Returns 0 or
 * -ENOMEM.
 */
static int copy_page_range(struct copy *c, const struct vm_area_struct *vma)
{
	unsigned long start = vma->vm_start;
	int ret;

	c->flags |= vma->vm_flags;
	if (vma->vm_file && !(vma->vm_flags & VM_HASANON) && vma_pages(vma) > REFAULT_PAGES)
		return 0;
	c->cow = !(vma->vm_flags & VM_SHARED);
	do {
		spin_lock(&c->old->page_table_lock);
		ret = pte_range(c->old->pgd, start, vma->vm_end, copy_pte, c);
		spin_unlock(&c->old->page_table_lock);
		if (likely(!ret))
			return 0;
		start = ret > 0 ? c->pause.next : make_lacking_table(c);
	} while (start);
	return ret;
}

/*
 * The areas that are not the child's. They were copied, since the tree takes its shape from the parent's, and what they
 * map is taken out as by munmap. No CPU has the child loaded.
 */
static void drop_whole_areas(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *next;

	list_for_each_entry_safe(vma, next, &mm->area_list, list)
		if (vma->vm_flags & VM_WHOLE)
			unmap_locked(mm, vma->vm_start, vma->vm_end); /* no area is split, so it cannot fail */
}

/*
 * Copy the list of areas with their entries, then the tree. After a failure the child has a list and no tree;
 * exit_mmap() needs only the list.
 */
static int copy_areas(struct copy *c)
{
	struct vm_area_struct *vma;
	int err;

	list_for_each_entry(vma, &c->old->area_list, list) {
		vma->dup = vma_dup(c->new, vma);
		if (!vma->dup)
			return -ENOMEM;
		vma->dup->vm_flags &= ~VM_LOCK_MASK;
		list_add_tail(&vma->dup->list, &c->new->area_list);
		err = copy_page_range(c, vma);
		if (err)
			return err;
	}
	vma_copy_tree(c->new, c->old);
	return 0;
}

/* What exec has set of the address space: the bounds that /proc shows, and what prctl and membarrier left. */
static void copy_layout(struct mm_struct *new, const struct mm_struct *old)
{
	new->start_code = old->start_code;
	new->end_code = old->end_code;
	new->start_data = old->start_data;
	new->end_data = old->end_data;
	new->start_brk = old->start_brk;
	new->brk = old->brk;
	new->start_stack = old->start_stack;
	new->arg_start = old->arg_start;
	new->arg_end = old->arg_end;
	new->env_start = old->env_start;
	new->env_end = old->env_end;
	new->nr_auxv = old->nr_auxv;
	memcpy(new->saved_auxv, old->saved_auxv, sizeof(new->saved_auxv));
	new->mmap_base = old->mmap_base;
	atomic_set(&new->membarrier_state, atomic_read(&old->membarrier_state));
	new->dumpable = READ_ONCE(old->dumpable);
	if (old->exe_file)
		set_mm_exe_file(new, old->exe_file);
}

/* What other rooms keep for the parent. What they have made for the child before an error goes with it. */
static int dup_parts(struct copy *c)
{
	const struct mm_part *part;

	for_each_in_table(mm_parts, part) {
		int err = part->dup(c->new, c->old);

		if (err)
			return err;
	}
	return 0;
}

/*
 * Why this is safe while the parent's other threads run:
 *
 * Until the flush they may still write through their TLBs to pages that the tables already protect. The child sees such
 * a write or not, as if it had come before or after the fork, and the child does not run before the copy is complete.
 * After the flush every write faults, waits for mmap_lock, and finds the page shared.
 *
 * The flush is needed after a failure, too: entries that were protected stay so, and the next fork would take them for
 * flushed.
 *
 * The child is in the list of all address spaces from the beginning (mm_next), so unmap_mapping_pages() may reach it at
 * any time: its own lock is held until it is complete. No other code holds two of these locks, so parent before child
 * cannot deadlock.
 */
noinline struct mm_struct *dup_mm(struct mm_struct *old)
{
	struct mm_struct *new = mm_alloc();
	struct copy c = {.old = old, .new = new};
	int err;

	if (!new)
		return NULL;
	mutex_lock(&old->mmap_lock);
	mutex_lock(&new->mmap_lock);
	copy_layout(new, old);
	err = copy_areas(&c);
	if (!err)
		err = dup_parts(&c);
	flush_tlb_mm(old);
	atomic_set(&new->rss_anon, c.anon);
	atomic_set(&new->rss_file, c.file);
	if (c.flags & VM_WHOLE && !err)
		drop_whole_areas(new);
	mutex_unlock(&new->mmap_lock);
	mutex_unlock(&old->mmap_lock);
	if (err) {
		mmput(new);
		return NULL;
	}
	return new;
}
