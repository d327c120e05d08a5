/*
 * Reaching into an address space from outside, for /proc, exec and ptrace. The page is found, or made as a fault of the
 * program would make it, and read or written through the linear map. mmap_lock is held from the look-up to the end of
 * the access. So the page stays mapped, and what a mapping promises holds: a file that can no longer be mapped for
 * writing (F_SEAL_WRITE) is not written.
 *
 * The rights of the area hold for the access too: a write to a page that its program may not write fails. A debugger is
 * let in by force (FAULT_FLAG_FORCE) where the area is private: a breakpoint is written into the text of a program. The
 * fault makes a page of the process's own then, which stays read-only to the program, and is told from one that others
 * see by page_is_private().
 */
#include <lib/string.h>
#include <mm/mm_part.h>

#include "vma.h"

/*
 * [m] Does this process alone have the page, with the entry as its only reference? Acquire: the task that dropped the
 * other reference has read the page for the last time before it is written here.
 */
static bool page_is_private(struct page *page)
{
	return (page->flags & PG_ANON) && smp_load_acquire(&page->refcount.counter) == 1;
}

/* [m] The page at addr, or NULL when it is not there or, for writing, still shared with others. */
static struct page *get_user_page(struct mm_struct *mm, unsigned long addr, unsigned how)
{
	pte_t *slot = pte_lookup(mm->pgd, addr);
	pte_t pte = slot ? READ_ONCE(*slot) : (pte_t){0};

	if (!pte_present(pte))
		return NULL;
	if (how & FAULT_FLAG_WRITE && !pte_write(pte) &&
	    !(how & FAULT_FLAG_FORCE && page_is_private(phys_to_page(pte_phys(pte)))))
		return NULL;
	return phys_to_page(pte_phys(pte));
}

/* [m] The same where an area is mapped whose rights let the program at it at all, or with force. */
static struct page *get_mapped_page(struct mm_struct *mm, unsigned long addr, unsigned how)
{
	const struct vm_area_struct *vma = find_vma_intersection(mm, addr, addr + 1);

	if (!vma || !(how & FAULT_FLAG_FORCE || vma->vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return NULL;
	return get_user_page(mm, addr & PAGE_MASK, how);
}

void *mm_writable_now(struct mm_struct *mm, unsigned long addr)
{
	struct page *page = addr < TASK_SIZE ? get_mapped_page(mm, addr, FAULT_FLAG_WRITE) : NULL;

	return page ? (char *)page_to_virt(page) + (addr & ~PAGE_MASK) : NULL;
}

/* [m] Read or write within a page. NULL writes zeros. */
static void access_page(struct page *page, unsigned long offset, void *buf, int n, unsigned how)
{
	char *at = (char *)page_to_virt(page) + offset;

	if (!(how & FAULT_FLAG_WRITE)) {
		memcpy(buf, at, n);
		return;
	}
	if (buf)
		memcpy(at, buf, n);
	else
		memset(at, 0, n);
	if (READ_ONCE(page->flags) & PG_ICACHE) /* it may be mapped for execution already */
		arch_sync_icache(at, n);
}

bool access_vm_locked(struct mm_struct *mm, unsigned long addr, void *buf, int len, unsigned how)
{
	struct page *page = addr < TASK_SIZE ? get_mapped_page(mm, addr, how) : NULL;

	if (!page && !handle_mm_fault_locked(mm, addr, how))
		page = get_user_page(mm, addr & PAGE_MASK, how);
	if (!page)
		return false;
	access_page(page, addr & ~PAGE_MASK, buf, len, how);
	return true;
}

/* The same without the lock. Memory may be full, which is waited for here, as a fault of the program would. */
static bool access_within_page(struct mm_struct *mm, unsigned long addr, void *buf, int n, unsigned how)
{
	bool ok = false;

	for (int tries = 0; !ok && tries < 2; tries++) {
		if (tries && handle_mm_fault(mm, addr, how))
			break;
		mutex_lock(&mm->mmap_lock);
		ok = access_vm_locked(mm, addr, buf, n, how);
		mutex_unlock(&mm->mmap_lock);
	}
	return ok;
}

/* Page by page, until all is done or a page cannot be had. */
int access_remote_vm(struct mm_struct *mm, unsigned long addr, void *buf, int len, unsigned how)
{
	int done = 0;

	while (done < len) {
		unsigned long offset = addr & ~PAGE_MASK;
		int n = min((unsigned long)(len - done), PAGE_SIZE - offset);

		if (!access_within_page(mm, addr, buf, n, how))
			break;
		addr += n;
		buf = buf ? (char *)buf + n : NULL;
		done += n;
	}
	return done;
}

int access_process_vm(struct task_struct *t, unsigned long addr, void *buf, int len, unsigned how)
{
	struct mm_struct *mm = get_task_mm(t);
	int done;

	if (!mm)
		return 0;
	done = access_remote_vm(mm, addr, buf, len, how);
	mmput(mm);
	return done;
}
