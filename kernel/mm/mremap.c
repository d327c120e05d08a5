/* mremap: a mapping that shrinks, grows where it is, or moves with its pages. */
#include <uapi/mman.h>

#include "vma.h"
#include "mremap.h"

/* [m] Room right behind the area for `len` more bytes, and may there be so many? */
static bool can_grow(const struct vm_area_struct *vma, unsigned long end, unsigned long len)
{
	return vma->vm_end == end && len <= TASK_SIZE - end &&
	       !find_vma_intersection(vma->vm_mm, end, end + len);
}

/* One entry to its new place. Both tables belong to us, and the lock keeps everybody else out. [p] */
struct move {
	struct mm_struct *mm;
	unsigned long distance;
	struct pte_pause pause;
};

static int move_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct move *move = arg;
	pte_t *to = pte_alloc(move->mm->pgd, va + move->distance);

	if (!to)
		return -ENOMEM;
	set_pte(to, ptep_get_and_clear(slot));
	return pte_pause(&move->pause, va);
}

static int move_pages(struct mm_struct *mm, unsigned long from, unsigned long len, unsigned long to)
{
	struct move move = {.mm = mm, .distance = to - from};
	unsigned long at = from;
	int ret;

	do {
		spin_lock(&mm->page_table_lock);
		ret = pte_range(mm->pgd, at, from + len, move_pte, &move);
		spin_unlock(&mm->page_table_lock);
		at = move.pause.next;
	} while (ret > 0);
	flush_tlb_range(mm, from, from + len);
	return ret;
}

/*
 * [m] A second area of the new size with the same backing, then the pages. When a page table is missing half
 * way, what has moved is moved back: those tables are there.
 */
static long move_area(struct vm_area_struct *vma, unsigned long addr, unsigned long old_len,
		      unsigned long new_len)
{
	struct mm_struct *mm = vma->vm_mm;
	long to = get_unmapped_area(mm, 0, new_len);
	struct vm_area_struct *new;

	if (to < 0)
		return to;
	new = mm->nr_areas + 3 < READ_ONCE(sysctl_max_map_count) ? vma_dup(mm, vma)
								 : NULL; /* Linux keeps three */
	if (!new)
		return -ENOMEM;
	new->vm_pgoff += (addr - vma->vm_start) >> PAGE_SHIFT;
	new->vm_start = to;
	new->vm_end = to + new_len;
	if (move_pages(mm, addr, old_len, to)) {
		move_pages(mm, to, old_len, addr);
		vma_free(new);
		return -ENOMEM;
	}
	vma_insert(mm, new);
	unmap_locked(mm, addr,
		     addr + old_len); /* may fail to split; then an empty area stays, which is no harm */
	vma_merge(new);
	return to;
}

/* [m] */
static long remap_locked(struct mm_struct *mm, unsigned long addr, unsigned long old_len,
			 unsigned long new_len, unsigned flags)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, addr, addr + 1);
	int err;

	if (!vma || old_len > vma->vm_end - addr)
		return -EFAULT;
	if (new_len <= old_len) {
		err = new_len < old_len ? unmap_locked(mm, addr + new_len, addr + old_len) : 0;
		return err ? err : (long)addr;
	}
	if (vma->vm_shm)
		return -EINVAL; /* its pages were counted when it was made */
	if (!may_expand_vm(mm, vma->vm_flags, (new_len - old_len) >> PAGE_SHIFT))
		return -ENOMEM;
	if (can_grow(vma, addr + old_len, new_len - old_len)) {
		vma_set_range(vma, vma->vm_start, addr + new_len);
		vma_merge(vma); /* it may have grown up to its like */
		return addr;
	}
	return flags & MREMAP_MAYMOVE ? move_area(vma, addr, old_len, new_len) : -ENOMEM;
}

long do_mremap(struct mm_struct *mm, unsigned long addr, unsigned long old_len, unsigned long new_len,
	       unsigned flags)
{
	long ret;

	if (addr & ~PAGE_MASK || flags & ~MREMAP_MAYMOVE || !old_len || !new_len)
		return -EINVAL;
	if (new_len > TASK_SIZE || old_len > TASK_SIZE)
		return -EINVAL;
	if (new_len > old_len && (new_len - old_len) >> PAGE_SHIFT > totalram_pages())
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	ret = remap_locked(mm, addr, ALIGN(old_len, PAGE_SIZE), ALIGN(new_len, PAGE_SIZE), flags);
	mutex_unlock(&mm->mmap_lock);
	return ret;
}
