/*
 * Making the pages of an area at once, as its program's accesses would: for MAP_POPULATE, and for areas that are
 * locked. No page ever leaves memory here, so a lock means two things: all pages of the area are made at once, and they
 * count for RLIMIT_MEMLOCK, which bounds what a process without CAP_IPC_LOCK may lock.
 *
 * Areas that are locked have VM_LOCKED; mm->locked_vm is the sum of their pages, kept by vma.c as areas come, go, and
 * change their ends. A child of fork has no locks.
 *
 * Locks: mmap_lock [m] while flags change. The pages are made afterwards, one fault after the other, so that other
 * threads can run: an area that goes meanwhile is no longer populated.
 */
#include <proc/capability.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <uapi/mman.h>

#include "vma.h"

/* Without the right and with a limit of 0 nothing can be locked at all. */
bool can_do_mlock(void)
{
	return rlimit(RLIMIT_MEMLOCK) || capable(CAP_IPC_LOCK);
}

bool may_lock_more(const struct mm_struct *mm, unsigned vm_flags, unsigned long pages)
{
	return !(vm_flags & VM_LOCKED) || capable(CAP_IPC_LOCK) ||
	       mm->locked_vm + pages <= rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
}

/* One page, as an access of the program would make it. A private page that may be written becomes the program's own. */
static int populate_page(struct mm_struct *mm, unsigned long addr, unsigned vm_flags)
{
	bool write = (vm_flags & (VM_WRITE | VM_SHARED)) == VM_WRITE, there;
	pte_t *slot;

	mutex_lock(&mm->mmap_lock);
	slot = pte_lookup(mm->pgd, addr);
	there = slot && pte_present(READ_ONCE(*slot)) && (!write || pte_write(READ_ONCE(*slot)));
	mutex_unlock(&mm->mmap_lock);
	return there ? 0 : handle_mm_fault(mm, addr, write ? FAULT_FLAG_WRITE : 0);
}

/* The next area with these flags in *start..end: its flags, and its part of the range in *start and *stop; 0: none. */
static unsigned next_to_populate(struct mm_struct *mm, unsigned long *start, unsigned long *stop, unsigned long end,
				 bool only_locked)
{
	struct vm_area_struct *vma;
	unsigned flags = 0;

	mutex_lock(&mm->mmap_lock);
	vma = find_vma_intersection(mm, *start, end);
	while (vma && vma->vm_start < end && only_locked && (vma->vm_flags & VM_LOCK_MASK) != VM_LOCKED)
		vma = vma_next(vma);
	if (vma && vma->vm_start < end) {
		*start = max(*start, vma->vm_start);
		*stop = min(end, vma->vm_end);
		flags = vma->vm_flags;
	}
	mutex_unlock(&mm->mmap_lock);
	return flags;
}

/* The areas are looked up again and again, since mmap_lock is let go between two pages. */
int mm_populate(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned how)
{
	unsigned long stop;
	unsigned flags;

	for (; start < end && (flags = next_to_populate(mm, &start, &stop, end, how & POPULATE_LOCKED)); start = stop)
		for (; start < stop; start += PAGE_SIZE) {
			int err = populate_page(mm, start, flags);

			if (err && !(how & POPULATE_ALL))
				return err;
			if (err)
				break;
			if (fatal_signal_pending(current))
				return -EINTR;
		}
	return 0;
}
