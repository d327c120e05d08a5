/*
 * mlock(2) and its kin: areas that exist already, or all to come, become locked or are no longer locked. What a lock
 * means is said in kernel/mm/populate.c, which also locks areas of MAP_LOCKED.
 */
#include <proc/capability.h>
#include <proc/resource.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/mman.h>

#include "../vma.h"

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
