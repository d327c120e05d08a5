/* The system calls of memory. */
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/mman.h>

#include "mremap.h"
#include "vma.h"

SYSCALL_DEFINE6(mmap, unsigned long, addr, unsigned long, len, unsigned, prot, unsigned, flags, unsigned, fd,
		unsigned long, offset)
{
	struct file *file = NULL;
	long ret;

	if (offset & ~PAGE_MASK)
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		file = fget(fd);
		if (!file)
			return -EBADF;
	}
	ret = do_mmap(current->mm, file, addr, len, prot, flags, file ? offset >> PAGE_SHIFT : 0);
	if (file)
		fput(file); /* the area holds its own reference */
	return ret;
}

SYSCALL_DEFINE2(munmap, unsigned long, addr, unsigned long, len)
{
	return do_munmap(current->mm, addr, len);
}

SYSCALL_DEFINE3(mprotect, unsigned long, addr, unsigned long, len, unsigned, prot)
{
	return do_mprotect(current->mm, addr, len, prot);
}

SYSCALL_DEFINE1(brk, unsigned long, brk)
{
	return do_brk(current->mm, brk);
}

SYSCALL_DEFINE5(mremap, unsigned long, addr, unsigned long, old_len, unsigned long, new_len, unsigned, flags,
		unsigned long, new_addr)
{
	return do_mremap(current->mm, addr, old_len, new_len, flags, new_addr);
}

/* Is every page of the range part of an area? [m] */
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

/* Whole pages inside user space? Sets *end. */
static bool valid_range(unsigned long addr, unsigned long len, unsigned long *end)
{
	if (addr & ~PAGE_MASK || len > TASK_SIZE || addr > TASK_SIZE - len)
		return false;
	*end = addr + ALIGN(len, PAGE_SIZE);
	return true;
}

/* Files live in memory and mappings of them are the file's own pages: there is nothing to write back. */
SYSCALL_DEFINE3(msync, unsigned long, addr, unsigned long, len, unsigned, flags)
{
	struct mm_struct *mm = current->mm;
	unsigned long end;
	bool mapped;

	if (flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
	    (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
		return -EINVAL;
	if (addr & ~PAGE_MASK)
		return -EINVAL;
	if (!valid_range(addr, len, &end))
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	mapped = range_is_mapped(mm, addr, end);
	mutex_unlock(&mm->mmap_lock);
	return mapped ? 0 : -ENOMEM;
}

/* The advice about order of access has no use here, but asking for it is no error; MADV_DONTNEED drops the
 * pages now. */
SYSCALL_DEFINE3(madvise, unsigned long, addr, unsigned long, len, int, advice)
{
	struct mm_struct *mm = current->mm;
	unsigned long end;
	int err = 0;

	if (addr & ~PAGE_MASK || addr + len < addr || advice < MADV_NORMAL || advice > MADV_DONTNEED)
		return -EINVAL;
	if (!valid_range(addr, len, &end))
		return -ENOMEM; /* beyond user space nothing is mapped, to the caller's knowledge */
	mutex_lock(&mm->mmap_lock);
	if (!range_is_mapped(mm, addr, end))
		err = -ENOMEM;
	else if (advice == MADV_DONTNEED)
		zap_range(mm, addr, end);
	mutex_unlock(&mm->mmap_lock);
	return err;
}

/* Up to 64 pages from addr on, one byte each: 1 when it is present. [m] */
static void look_at_pages(struct mm_struct *mm, unsigned long addr, unsigned n, u8 *vec)
{
	for (unsigned i = 0; i < n; i++) {
		pte_t *slot = pte_lookup(mm->pgd, addr + i * PAGE_SIZE);

		vec[i] = slot && pte_present(READ_ONCE(*slot));
	}
}

/* The answer is copied out without the lock: that copy may fault. */
SYSCALL_DEFINE3(mincore, unsigned long, addr, unsigned long, len, u8 __user *, result)
{
	struct mm_struct *mm = current->mm;
	unsigned long end;
	u8 vec[64];

	if (addr & ~PAGE_MASK)
		return -EINVAL;
	if (!valid_range(addr, len, &end))
		return -ENOMEM;
	while (addr < end) {
		unsigned n = min((end - addr) >> PAGE_SHIFT, sizeof(vec));
		bool mapped;

		mutex_lock(&mm->mmap_lock);
		mapped = range_is_mapped(mm, addr, addr + n * PAGE_SIZE);
		look_at_pages(mm, addr, n, vec);
		mutex_unlock(&mm->mmap_lock);
		if (!mapped)
			return -ENOMEM;
		if (copy_to_user(result, vec, n))
			return -EFAULT;
		addr += n * PAGE_SIZE;
		result += n;
	}
	return 0;
}
