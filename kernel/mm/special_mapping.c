/* Areas that the kernel itself makes in an address space: exec's stack and the signal page. */
#include "vma.h"

/*
 * [m] Map each page at its place, read-only where it is shared with others. After a failure the caller removes the
 * area, and with it the pages that were mapped.
 */
static int map_pages(struct vm_area_struct *vma, struct page **pages)
{
	struct mm_struct *mm = vma->vm_mm;
	pgprot_t prot = vm_get_page_prot(vma->vm_flags);

	for (unsigned long i = 0; i < vma_pages(vma); i++) {
		pte_t *slot = pte_alloc(mm->pgd, vma->vm_start + i * PAGE_SIZE);

		if (!slot)
			return -ENOMEM;
		get_page(pages[i]);
		atomic_inc(&pages[i]->mapcount);
		count_page(mm, pages[i], 1);
		spin_lock(&mm->page_table_lock);
		set_pte(slot, pte_wrprotect(pte_mkyoung(mk_pte(page_to_phys(pages[i]), prot))));
		spin_unlock(&mm->page_table_lock);
	}
	return 0;
}

/* The area is inserted before its pages are mapped, so that one way of undoing serves every failure. */
int install_special_mapping(struct mm_struct *mm, unsigned long start, unsigned long len, unsigned vm_flags,
			    struct page **pages)
{
	unsigned long end = start + ALIGN(len, PAGE_SIZE);
	struct vm_area_struct *vma;
	int err = 0;

	mutex_lock(&mm->mmap_lock);
	if (find_vma_intersection(mm, start, end)) {
		err = -EEXIST;
		goto unlock;
	}
	vma = vma_alloc(mm, start, end, vm_flags);
	if (!vma) {
		err = -ENOMEM;
		goto unlock;
	}
	vma_insert(mm, vma);
	err = pages ? map_pages(vma, pages) : 0;
	if (err) {
		zap_range(mm, start, end);
		vma_remove(vma);
		vma_free(vma);
	}
unlock:
	mutex_unlock(&mm->mmap_lock);
	return err;
}
