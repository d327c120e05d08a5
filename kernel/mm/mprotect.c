/*
 * mprotect: new rights for a range, in its areas and in the page-table entries that exist already. The whole range is
 * checked before the first area changes. Areas are split at the edges of the range, and united with a neighbour that
 * has become alike.
 *
 * Taking rights away is complete only after the TLB flush, which comes before mmap_lock is released; a fault that meets
 * an old entry in between waits for that lock.
 */
#include <proc/personality.h>
#include <uapi/mman.h>

#include "vma.h"

struct change {
	const struct vm_area_struct *vma;
	struct pte_pause pause;
};

/*
 * [p] Give one entry the rights of its area. The page stays. In a private area the entry becomes writable again only
 * through do_wp_page(), which knows whether the page is shared. Code that was written through another mapping must
 * become visible to instruction fetch.
 */
static int change_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct change *change = arg;
	const struct vm_area_struct *vma = change->vma;
	phys_addr_t phys = pte_phys(READ_ONCE(*slot));
	pte_t pte = pte_mkyoung(mk_pte(phys, vm_get_page_prot(vma->vm_flags)));

	if (!(vma->vm_flags & VM_SHARED) || phys_to_page(phys) == zero_page)
		pte = pte_wrprotect(pte);
	if (vma->vm_flags & VM_EXEC)
		sync_exec_page(phys_to_page(phys));
	set_pte(slot, pte);
	return pte_pause(&change->pause, va);
}

/*
 * [m] Change a whole area: its flags, its entries, and then the TLBs. The spinlock pauses after each PAUSE_AFTER
 * entries.
 */
static void change_area(struct vm_area_struct *vma, unsigned prot)
{
	struct change change = {.vma = vma};
	struct mm_struct *mm = vma->vm_mm;
	unsigned long start = vma->vm_start;
	int more;

	vma->vm_flags = (vma->vm_flags & ~(VM_READ | VM_WRITE | VM_EXEC)) | prot_to_vm_flags(prot);
	do {
		spin_lock(&mm->page_table_lock);
		more = pte_range(mm->pgd, start, vma->vm_end, change_pte, &change);
		spin_unlock(&mm->page_table_lock);
		start = change.pause.next;
	} while (more);
	flush_tlb_range(mm, vma->vm_start, vma->vm_end);
	tell_mapped(vma);
}

/*
 * [m] Is [start, end) wholly mapped, and may all of it have these rights? Private pages that become writable count for
 * RLIMIT_DATA from then on. 0, -ENOMEM or -EACCES.
 */
static int check_range(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned prot)
{
	struct vm_area_struct *vma = find_vma(mm, start);
	unsigned long data = 0;

	for (; start < end; start = vma->vm_end, vma = vma_next(vma)) {
		if (!vma || vma->vm_start > start)
			return -ENOMEM;
		if (prot & PROT_EXEC && vma->vm_flags & VM_NOEXEC)
			return -EACCES;
		if (prot & PROT_WRITE && !(vma->vm_flags & VM_MAYWRITE))
			return -EACCES;
		if (prot & ~vma->vm_flags & PROT_WRITE && !(vma->vm_flags & (VM_SHARED | VM_GROWSDOWN)))
			data += min(end, vma->vm_end) - start;
		if (vma->vm_end >= end)
			break;
	}
	return data && !may_expand_data(mm, VM_WRITE, data >> PAGE_SHIFT) ? -ENOMEM : 0;
}

/* What an area gets where personality(2) says READ_IMPLIES_EXEC. [m] */
static unsigned mprotect_implied(const struct vm_area_struct *vma, unsigned prot)
{
	bool implied = current->personality & READ_IMPLIES_EXEC && prot & PROT_READ && !(vma->vm_flags & VM_NOEXEC);

	return implied ? prot | PROT_EXEC : prot;
}

/*
 * [m] Area by area. After a split the loop looks the area up again and finds the part inside the range. A split that
 * fails half way leaves the areas before it changed, as on Linux, but no cut in an area that keeps its rights.
 */
static int protect_locked(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned prot)
{
	struct vm_area_struct *vma;
	int err = check_range(mm, start, end, prot);
	unsigned wanted;

	while (!err && start < end) {
		vma = find_vma(mm, start);
		wanted = mprotect_implied(vma, prot);
		if (prot_to_vm_flags(vma->vm_flags) == prot_to_vm_flags(wanted)) {
			start = vma->vm_end;
			continue;
		}
		if (vma->vm_start < start) {
			err = vma_split(vma, start);
			continue; /* the next round finds the upper part */
		}
		if (vma->vm_end > end)
			err = vma_split(vma, end);
		if (err) {
			vma_merge(vma); /* with the part that was cut off below it */
			break;
		}
		change_area(vma, wanted);
		start = vma->vm_end;
		vma_merge(vma);
	}
	return err;
}

/* Only the arguments are checked without the lock. */
noinline int do_mprotect(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned long prot)
{
	int err;

	if (addr & ~PAGE_MASK || prot & ~(unsigned long)(PROT_READ | PROT_WRITE | PROT_EXEC | PROT_SEM))
		return -EINVAL;
	if (!len)
		return 0;
	if (len > TASK_SIZE || addr > TASK_SIZE - len)
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	err = protect_locked(mm, addr, addr + ALIGN(len, PAGE_SIZE), prot);
	mutex_unlock(&mm->mmap_lock);
	return err;
}
