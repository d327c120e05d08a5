/*
 * mincore(2): which pages of a range are in memory. A page that the caller has mapped is; one that it has not touched
 * yet is in memory all the same where others have touched it: the pages of a file, and those of a shared anonymous
 * mapping. Of a file that is not the caller's, and that it may not write, every page counts as present, as on Linux:
 * what others have read is not its business.
 */
#include <asm/uaccess.h>
#include <proc/capability.h>
#include <proc/syscall.h>
#include <sched/sched.h>

#include "../vma.h"

/* [m] Does the file have this page in memory? One that keeps no pages (9p) has none. */
static bool file_has_page(struct file *file, unsigned long index)
{
	struct page *page;

	if (!file->f_op->find_pages || !file->f_op->find_pages(file, index, &page, 1))
		return false;
	put_page(page);
	return true;
}

/* May the caller learn which pages of the file are in memory? */
static bool may_ask(const struct file *file)
{
	return current->fsuid == READ_ONCE(file->f_inode->i_uid) || capable(CAP_FOWNER) ||
	       !inode_permission(file->f_inode, MAY_WRITE);
}

/* [m] Of an area. */
static bool page_is_present(const struct vm_area_struct *vma, unsigned long addr)
{
	pte_t *slot = pte_lookup(current->mm->pgd, addr);

	if (slot && pte_present(READ_ONCE(*slot)))
		return true;
	if (vma->vm_shm)
		return shm_has_page(vma->vm_shm, area_index(vma, addr));
	return vma->vm_file && file_has_page(vma->vm_file, area_index(vma, addr));
}

/* [m] One byte for each page of [addr, end). -ENOMEM: a page is part of no area. */
static int look_at_pages(unsigned long addr, unsigned long end, u8 *vec)
{
	struct vm_area_struct *vma = find_vma(current->mm, addr);

	for (; addr < end; vma = vma_next(vma)) {
		bool hidden;

		if (!vma || vma->vm_start > addr)
			return -ENOMEM;
		hidden = vma->vm_file && !may_ask(vma->vm_file);
		for (; addr < min(end, vma->vm_end); addr += PAGE_SIZE)
			*vec++ = hidden || page_is_present(vma, addr);
	}
	return 0;
}

/* In pieces of 64 pages. The answer is copied out without mmap_lock, because the copy may fault and so take it. */
SYSCALL_DEFINE3(mincore, unsigned long, start, size_t, len, unsigned char __user *, vec)
{
	unsigned long end = start + ALIGN(len, PAGE_SIZE);
	u8 result[64];

	if (start & ~PAGE_MASK)
		return -EINVAL;
	if (len > TASK_SIZE || start > TASK_SIZE - len)
		return -ENOMEM;
	while (start < end) {
		unsigned n = min((end - start) >> PAGE_SHIFT, sizeof(result));
		int err;

		mutex_lock(&current->mm->mmap_lock);
		err = look_at_pages(start, start + n * PAGE_SIZE, result);
		mutex_unlock(&current->mm->mmap_lock);
		if (err)
			return err;
		if (copy_to_user(vec, result, n))
			return -EFAULT;
		start += n * PAGE_SIZE;
		vec += n;
	}
	return 0;
}
