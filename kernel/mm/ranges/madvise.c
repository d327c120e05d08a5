/* msync(2) and madvise(2), which look at the areas of a range and drop pages at most. */
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/mman.h>

#include "../vma.h"

/* [m] Is every page of the range part of an area? */
static bool range_is_mapped(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma(mm, start);

	for (; start < end; start = vma->vm_end, vma = vma_next(vma)) {
		if (!vma || vma->vm_start > start)
			return false;
		if (vma->vm_end >= end)
			break;
	}
	return true;
}

/* [m] Is an area of the range locked? */
static bool range_is_locked(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, start, end);

	while (vma && vma->vm_start < end && !(vma->vm_flags & VM_LOCKED))
		vma = vma_next(vma);
	return vma && vma->vm_start < end;
}

/* Is the range page-aligned and inside user space? Sets *end to its end, rounded up. */
static bool valid_range(unsigned long addr, unsigned long len, unsigned long *end)
{
	if (addr & ~PAGE_MASK || len > TASK_SIZE || addr > TASK_SIZE - len)
		return false;
	*end = addr + ALIGN(len, PAGE_SIZE);
	return true;
}

/*
 * Files live in memory, and mappings of them are the file's own pages: nothing has to be written back. Only the
 * arguments are checked, as on Linux. Locked pages cannot be invalidated: -EBUSY.
 */
SYSCALL_DEFINE3(msync, unsigned long, start, size_t, len, int, flags)
{
	struct mm_struct *mm = current->mm;
	unsigned long end;
	int err = 0;

	if (flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC) || (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
		return -EINVAL;
	if (start & ~PAGE_MASK)
		return -EINVAL;
	if (!valid_range(start, len, &end))
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	if (flags & MS_INVALIDATE && range_is_locked(mm, start, end))
		err = -EBUSY;
	else if (!range_is_mapped(mm, start, end))
		err = -ENOMEM;
	mutex_unlock(&mm->mmap_lock);
	return err;
}

/* [m] Drop the pages of all areas of the range up to one that is locked: -EINVAL. What is not mapped is passed over. */
static int drop_pages(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, start, end);

	for (; vma && vma->vm_start < end; vma = vma_next(vma)) {
		if (vma->vm_flags & VM_LOCKED)
			return -EINVAL;
		zap_range(mm, max(start, vma->vm_start), min(end, vma->vm_end));
	}
	return 0;
}

/*
 * MADV_DONTNEED drops the pages at once, also when the range has holes, which the call then tells (-ENOMEM). Advice
 * about the order of access has no effect here, but is no error.
 */
SYSCALL_DEFINE3(madvise, unsigned long, start, size_t, len_in, int, behavior)
{
	struct mm_struct *mm = current->mm;
	unsigned long end;
	int err = 0;

	if (start & ~PAGE_MASK || start + len_in < start || behavior < MADV_NORMAL || behavior > MADV_DONTNEED)
		return -EINVAL;
	if (!valid_range(start, len_in, &end))
		return -ENOMEM; /* for the caller, a range beyond user space is one that is not mapped */
	mutex_lock(&mm->mmap_lock);
	if (behavior == MADV_DONTNEED)
		err = drop_pages(mm, start, end);
	if (!err && !range_is_mapped(mm, start, end))
		err = -ENOMEM;
	mutex_unlock(&mm->mmap_lock);
	return err;
}
