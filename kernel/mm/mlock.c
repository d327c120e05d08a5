/*
 * mlock(2) and its kin. No page ever leaves memory here, so a lock means two things: all pages of the area are made at
 * once (populate), and they count for RLIMIT_MEMLOCK, which bounds what a process without CAP_IPC_LOCK may lock.
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
#include <proc/syscall.h>
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

/* [m] The pages of the range that are locked already. */
static unsigned long count_locked(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, start, end);
	unsigned long pages = 0;

	for (; vma && vma->vm_start < end; vma = vma_next(vma))
		if (vma->vm_flags & VM_LOCKED)
			pages += (min(end, vma->vm_end) - max(start, vma->vm_start)) >> PAGE_SHIFT;
	return pages;
}

/*
 * [m] Give every area of the range these VM_LOCK flags. 0; -ENOMEM at the first hole, with what is in front of it
 * changed, as on Linux, or when a split fails.
 */
static int set_lock_flags(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned lock)
{
	struct vm_area_struct *vma;
	int err = 0;

	while (start < end && !err) {
		vma = find_vma_intersection(mm, start, end);
		if (!vma || vma->vm_start > start)
			return -ENOMEM;
		if ((vma->vm_flags & VM_LOCK_MASK) == lock) {
			start = vma->vm_end;
			continue;
		}
		if (vma->vm_start < start) {
			err = vma_split(vma, start);
			continue; /* the next round finds the upper part */
		}
		if (vma->vm_end > end)
			err = vma_split(vma, end);
		if (err)
			break;
		vma_set_lock(vma, lock);
		start = vma->vm_end;
		vma_merge(vma);
	}
	return err;
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

/* What cannot be had of memory that is mapped is -EAGAIN, and what cannot be touched at all -ENOMEM, as POSIX says. */
static int mlock_error(int err)
{
	if (err == -EACCES || err == -EFAULT || err == -EIO)
		return -ENOMEM;
	return err == -ENOMEM ? -EAGAIN : err;
}

/* The range becomes whole pages. A length of 0 is nothing to do; one that wraps is -EINVAL. */
static int do_mlock(unsigned long start, size_t len, unsigned lock)
{
	struct mm_struct *mm = current->mm;
	unsigned long end, pages;
	int err = -ENOMEM;

	if (!can_do_mlock())
		return -EPERM;
	len = ALIGN(len + start % PAGE_SIZE, PAGE_SIZE);
	start &= PAGE_MASK;
	end = start + len;
	pages = len >> PAGE_SHIFT;
	mutex_lock(&mm->mmap_lock);
	if (may_lock_more(mm, VM_LOCKED, pages) || may_lock_more(mm, VM_LOCKED, pages - count_locked(mm, start, end)))
		err = end < start ? -EINVAL : set_lock_flags(mm, start, end, lock);
	mutex_unlock(&mm->mmap_lock);
	return err || lock != VM_LOCKED ? err : mlock_error(mm_populate(mm, start, end, POPULATE_LOCKED));
}

SYSCALL_DEFINE2(mlock, unsigned long, start, size_t, len)
{
	return do_mlock(start, len, VM_LOCKED);
}

SYSCALL_DEFINE3(mlock2, unsigned long, start, size_t, len, int, flags)
{
	if (flags & ~MLOCK_ONFAULT)
		return -EINVAL;
	return do_mlock(start, len, flags ? VM_LOCK_MASK : VM_LOCKED);
}

/* The pages stay where they are. A range that wraps is -EINVAL. */
SYSCALL_DEFINE2(munlock, unsigned long, start, size_t, len)
{
	struct mm_struct *mm = current->mm;
	unsigned long end;
	int err;

	len = ALIGN(len + start % PAGE_SIZE, PAGE_SIZE);
	start &= PAGE_MASK;
	end = start + len;
	if (end < start)
		return -EINVAL;
	mutex_lock(&mm->mmap_lock);
	err = set_lock_flags(mm, start, end, 0);
	mutex_unlock(&mm->mmap_lock);
	return err;
}

/* [m] All areas there are. */
static void lock_all(struct mm_struct *mm, unsigned lock)
{
	struct vm_area_struct *vma;

	for (vma = find_vma(mm, 0); vma; vma = vma_next(vma)) {
		vma_set_lock(vma, lock);
		vma = vma_merge(vma);
	}
}

/* Areas of now, areas that will come, or both; what cannot be touched stays without pages, which is no error. */
SYSCALL_DEFINE1(mlockall, int, flags)
{
	struct mm_struct *mm = current->mm;
	unsigned lock = flags & MCL_ONFAULT ? VM_LOCK_MASK : VM_LOCKED;
	int err = -ENOMEM;

	if (!flags || flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || flags == MCL_ONFAULT)
		return -EINVAL;
	if (!can_do_mlock())
		return -EPERM;
	mutex_lock(&mm->mmap_lock);
	if (!(flags & MCL_CURRENT) || capable(CAP_IPC_LOCK) || mm->total_vm <= rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT) {
		mm->def_flags = flags & MCL_FUTURE ? lock : 0;
		if (flags & MCL_CURRENT)
			lock_all(mm, lock);
		err = 0;
	}
	mutex_unlock(&mm->mmap_lock);
	if (!err && flags & MCL_CURRENT)
		mm_populate(mm, 0, TASK_SIZE, POPULATE_LOCKED | POPULATE_ALL);
	return err;
}

SYSCALL_DEFINE0(munlockall)
{
	struct mm_struct *mm = current->mm;

	mutex_lock(&mm->mmap_lock);
	mm->def_flags = 0;
	lock_all(mm, 0);
	mutex_unlock(&mm->mmap_lock);
	return 0;
}
