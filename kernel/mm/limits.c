/*
 * How large an address space may become: RLIMIT_AS bounds all areas, RLIMIT_DATA the private writable ones
 * that are no stack, as on Linux since 4.7. The sum of the latter is not kept: who sets that limit pays for a
 * walk over the areas.
 */
#include <proc/resource.h>
#include <sched/sched.h>

#include "vma.h"

static bool is_data(unsigned vm_flags)
{
	return (vm_flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE;
}

/* [m] */
static unsigned long data_pages(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	unsigned long pages = 0;

	list_for_each_entry (vma, &mm->area_list, list)
		if (is_data(vma->vm_flags))
			pages += vma_pages(vma);
	return pages;
}

bool may_expand_data(struct mm_struct *mm, unsigned vm_flags, unsigned long pages)
{
	u64 limit = rlimit(RLIMIT_DATA);

	return limit == RLIM_INFINITY || !is_data(vm_flags) || data_pages(mm) + pages <= limit >> PAGE_SHIFT;
}

bool may_expand_vm(struct mm_struct *mm, unsigned vm_flags, unsigned long pages)
{
	u64 limit = rlimit(RLIMIT_AS);

	if (limit != RLIM_INFINITY && mm->total_vm + pages > limit >> PAGE_SHIFT)
		return false;
	return may_expand_data(mm, vm_flags, pages);
}
