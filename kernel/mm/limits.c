/*
 * How large an address space may become: RLIMIT_AS bounds all areas, and RLIMIT_DATA the private writable ones that are
 * not a stack, as on Linux since 4.7. The pages of the former are counted in mm->total_vm. Those of the latter are not:
 * a process that sets that limit pays for a walk over the areas, and all others pay nothing.
 *
 * All functions run under mmap_lock [m] and read the limits of the current process.
 */
#include <proc/resource.h>
#include <sched/sched.h>

#include "vma.h"

/* Does RLIMIT_DATA count an area with these flags? */
static bool is_data(unsigned vm_flags)
{
	return (vm_flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE;
}

/* [m] The pages that RLIMIT_DATA counts now. */
static unsigned long data_pages(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	unsigned long pages = 0;

	list_for_each_entry(vma, &mm->area_list, list)
		if (is_data(vma->vm_flags))
			pages += vma_pages(vma);
	return pages;
}

/* Areas that reach over the edges of [start, end) count with their part inside it. */
struct mapped_pages count_mapped(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, start, end);
	struct mapped_pages there = {0, 0};

	for (; vma && vma->vm_start < end; vma = vma_next(vma)) {
		unsigned long pages = (min(end, vma->vm_end) - max(start, vma->vm_start)) >> PAGE_SHIFT;

		there.all += pages;
		there.data += is_data(vma->vm_flags) ? pages : 0;
	}
	return there;
}

/* [m] May `pages` come, when `goes` of the pages that the limit counts go first? */
static bool fits_data(struct mm_struct *mm, unsigned vm_flags, unsigned long pages, unsigned long goes)
{
	u64 limit = rlimit(RLIMIT_DATA);

	return limit == RLIM_INFINITY || !is_data(vm_flags) || data_pages(mm) - goes + pages <= limit >> PAGE_SHIFT;
}

bool may_expand_data(struct mm_struct *mm, unsigned vm_flags, unsigned long pages)
{
	return fits_data(mm, vm_flags, pages, 0);
}

bool may_expand_vm(struct mm_struct *mm, unsigned vm_flags, unsigned long pages)
{
	return may_replace_vm(mm, vm_flags, pages, (struct mapped_pages){0, 0});
}

bool may_replace_vm(struct mm_struct *mm, unsigned vm_flags, unsigned long pages, struct mapped_pages goes)
{
	u64 limit = rlimit(RLIMIT_AS);

	if (limit != RLIM_INFINITY && mm->total_vm - goes.all + pages > limit >> PAGE_SHIFT)
		return false;
	return fits_data(mm, vm_flags, pages, goes.data);
}
