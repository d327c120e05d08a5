/* Reaching into an address space from outside: /proc, exec, debuggers. */
#include <lib/string.h>

#include "vma.h"

/* The page at addr with a reference, made present (and private, for writing) as a fault would. [m] ERR_PTR.
 */
static struct page *get_user_page(struct mm_struct *mm, unsigned long addr, bool write)
{
	pte_t *slot = pte_lookup(mm->pgd, addr);
	pte_t pte = slot ? READ_ONCE(*slot) : (pte_t){0};

	if (!pte_present(pte) || (write && !pte_write(pte)))
		return NULL;
	get_page(phys_to_page(pte_phys(pte)));
	return phys_to_page(pte_phys(pte));
}

/* As above, with faults where they are needed. Each may race with the program's own munmap: so a few times
 * only. */
static struct page *fault_in_page(struct mm_struct *mm, unsigned long addr, bool write)
{
	struct page *page;

	for (int tries = 0; tries < 4; tries++) {
		mutex_lock(&mm->mmap_lock);
		page = find_vma_intersection(mm, addr, addr + 1) ? get_user_page(mm, addr & PAGE_MASK, write)
								 : NULL;
		mutex_unlock(&mm->mmap_lock);
		if (page)
			return page;
		if (handle_mm_fault(mm, addr, write ? FAULT_FLAG_WRITE : 0))
			return NULL;
	}
	return NULL;
}

int access_remote_vm(struct mm_struct *mm, unsigned long addr, void *buf, int len, bool write)
{
	int done = 0;

	while (done < len) {
		unsigned long offset = addr & ~PAGE_MASK;
		int n = min((unsigned long)(len - done), PAGE_SIZE - offset);
		struct page *page = addr < TASK_SIZE ? fault_in_page(mm, addr, write) : NULL;
		char *at;

		if (!page)
			break;
		at = (char *)page_to_virt(page) + offset;
		if (write) {
			memcpy(at, buf, n);
			flush_dcache_page(page);
		} else {
			memcpy(buf, at, n);
		}
		if (page != zero_page)
			put_page(page);
		else
			atomic_dec(&page->refcount); /* only balances get_user_page: it is never freed */
		addr += n;
		buf = (char *)buf + n;
		done += n;
	}
	return done;
}

int access_process_vm(struct task_struct *t, unsigned long addr, void *buf, int len, bool write)
{
	struct mm_struct *mm = get_task_mm(t);
	int done;

	if (!mm)
		return 0;
	done = access_remote_vm(mm, addr, buf, len, write);
	mmput(mm);
	return done;
}
