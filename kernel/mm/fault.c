/* Page faults of areas: demand zero, file pages, copy-on-write, stack growth. */
#include <lib/string.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/sched.h>

#include "vma.h"

#define FAULT_AROUND_PAGES 16 /* aligned window of neighbours that a file fault maps along */

/* One fault under way. mmap_lock is held, so neither area nor entry change under us. */
struct fault {
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	unsigned long addr; /* page aligned */
	unsigned flags;	    /* FAULT_FLAG_* */
	pte_t *slot;
	struct page *page; /* of a file's or shared memory's area, with a reference; by __do_fault() */
};

/* A page the CPU will fetch from must be coherent; once is enough until somebody writes into it. */
static void sync_exec_page(const struct vm_area_struct *vma, struct page *page)
{
	if (!(vma->vm_flags & VM_EXEC) || READ_ONCE(page->flags) & PG_ICACHE)
		return;
	arch_sync_icache(page_to_virt(page), PAGE_SIZE);
	__atomic_fetch_or(&page->flags, PG_ICACHE, __ATOMIC_RELAXED);
}

/* Private pages that others may see are mapped read-only, so that the first write comes to do_wp_page. */
static pte_t make_pte(const struct vm_area_struct *vma, struct page *page, bool writable)
{
	pte_t pte = pte_mkyoung(mk_pte(page_to_phys(page), vm_get_page_prot(vma->vm_flags)));

	return writable ? pte : pte_wrprotect(pte);
}

/* Put a page into an empty slot; our caller's reference becomes the mapping's. */
static void install_page(struct fault *f, pte_t *slot, struct page *page, bool writable)
{
	pte_t pte = make_pte(f->vma, page, writable);

	sync_exec_page(f->vma, page);
	spin_lock(&f->mm->page_table_lock);
	if (page != zero_page)
		atomic_inc(&page->mapcount);
	count_page(f->mm, page, 1);
	set_pte(slot, pte);
	spin_unlock(&f->mm->page_table_lock);
}

static noinline int do_anonymous_page(struct fault *f)
{
	struct page *page = zero_page;

	if (f->flags & FAULT_FLAG_WRITE) {
		page = alloc_page(GFP_USER | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		page->flags = PG_ANON;
	}
	install_page(f, f->slot, page, page != zero_page);
	return 0;
}

static struct page *area_page(const struct vm_area_struct *vma, unsigned long addr)
{
	unsigned long index = vma->vm_pgoff + ((addr - vma->vm_start) >> PAGE_SHIFT);

	return vma->vm_shm ? shm_get_page(vma->vm_shm, index)
			   : vma->vm_file->f_op->get_page(vma->vm_file, index);
}

/* A copy of `page` (any content for the zero page's is zero), private to the address space. NULL: out of
 * memory. */
static struct page *copy_of(struct page *page)
{
	struct page *copy = alloc_page(page == zero_page ? GFP_USER | __GFP_ZERO : GFP_USER);

	if (!copy)
		return NULL;
	if (page != zero_page)
		copy_page(page_to_virt(copy), page_to_virt(page));
	copy->flags = PG_ANON;
	return copy;
}

/*
 * Neighbours in the aligned window that are not mapped yet: most will be wanted soon, and mapping one here
 * costs a tenth of a fault. The window never crosses a leaf table, whose entries are consecutive.
 */
static void do_fault_around(struct fault *f)
{
	struct vm_area_struct *vma = f->vma;
	unsigned long window = FAULT_AROUND_PAGES * PAGE_SIZE;
	unsigned long start = max(ALIGN_DOWN(f->addr, window), vma->vm_start);
	unsigned long end = min(ALIGN_DOWN(f->addr, window) + window, vma->vm_end);

	for (unsigned long addr = start; addr < end; addr += PAGE_SIZE) {
		pte_t *slot = f->slot + ((long)(addr - f->addr) >> PAGE_SHIFT);
		struct page *page;

		if (!pte_none(READ_ONCE(*slot)))
			continue;
		page = area_page(vma, addr);
		if (IS_ERR(page))
			break; /* behind the end of the file, or no memory: who really needs it will be told
				*/
		install_page(f, slot, page, vma->vm_flags & VM_SHARED);
	}
}

/* Gets the page. A function of its own because tutorials trace it by this name. */
static noinline int __do_fault(struct fault *f)
{
	f->page = area_page(f->vma, f->addr);
	if (IS_ERR(f->page))
		return PTR_ERR(f->page) == -ENOMEM ? -ENOMEM : -EIO;
	return 0;
}

static noinline int do_file_page(struct fault *f)
{
	struct page *page, *copy;
	int err = __do_fault(f);

	if (err)
		return err;
	page = f->page;
	if (!(f->flags & FAULT_FLAG_WRITE) || f->vma->vm_flags & VM_SHARED) {
		install_page(f, f->slot, page, f->vma->vm_flags & VM_SHARED);
		if (f->vma->vm_file)
			do_fault_around(f);
		return 0;
	}
	copy = copy_of(page);
	put_page(page);
	if (!copy)
		return -ENOMEM;
	f->vma->vm_flags |= VM_HASANON;
	install_page(f, f->slot, copy, true);
	return 0;
}

/*
 * Is the only reference to the page the entry that faulted? Then nobody else can get at it: a new one comes
 * from another mapping (only fork makes one, under the mmap_lock that we hold) or from a file that keeps the
 * page (and its reference). Acquire: whoever dropped the other reference has read the page for the last time
 * before we let it be written.
 */
static bool can_reuse(const struct vm_area_struct *vma, struct page *page)
{
	return vma->vm_flags & VM_SHARED ||
	       (page != zero_page && smp_load_acquire(&page->refcount.counter) == 1);
}

/* Exchange the page under a live entry: empty it and flush first, so that no CPU ever holds both
 * translations. */
static void replace_page(struct fault *f, struct page *old, struct page *new)
{
	pte_t pte = make_pte(f->vma, new, true);

	sync_exec_page(f->vma, new);
	spin_lock(&f->mm->page_table_lock);
	ptep_get_and_clear(f->slot);
	spin_unlock(&f->mm->page_table_lock);
	flush_tlb_page(f->mm, f->addr); /* another thread that faults now waits for the mmap_lock */
	spin_lock(&f->mm->page_table_lock);
	count_page(f->mm, old, -1);
	count_page(f->mm, new, 1);
	atomic_inc(&new->mapcount);
	set_pte(f->slot, pte);
	spin_unlock(&f->mm->page_table_lock);
	if (old == zero_page)
		return;
	atomic_dec(&old->mapcount);
	put_page(old);
}

static noinline int do_wp_page(struct fault *f, pte_t pte)
{
	struct page *old = phys_to_page(pte_phys(pte)), *copy;

	if (can_reuse(f->vma, old)) {
		spin_lock(&f->mm->page_table_lock);
		set_pte(f->slot, pte_mkyoung(pte_mkwrite(pte)));
		spin_unlock(&f->mm->page_table_lock);
		flush_tlb_page(f->mm, f->addr);
		return 0;
	}
	copy = copy_of(old);
	if (!copy)
		return -ENOMEM;
	if (f->vma->vm_file)
		f->vma->vm_flags |= VM_HASANON;
	replace_page(f, old, copy);
	return 0;
}

static noinline int handle_pte_fault(struct fault *f)
{
	pte_t pte;

	f->slot = pte_alloc(f->mm->pgd, f->addr);
	if (!f->slot)
		return -ENOMEM;
	pte = READ_ONCE(*f->slot);
	if (pte_none(pte))
		return f->vma->vm_file || f->vma->vm_shm ? do_file_page(f) : do_anonymous_page(f);
	if (f->flags & FAULT_FLAG_WRITE && !pte_write(pte))
		return do_wp_page(f, pte);
	/* Another thread made it good while we waited for the lock; what is left is our TLB's old view. */
	set_pte(f->slot, pte_mkyoung(pte));
	flush_tlb_page(f->mm, f->addr);
	return 0;
}

/* Grow a stack down to hold addr, if it may become that large and what lies below stays far enough away. [m]
 */
static noinline int expand_stack(struct vm_area_struct *vma, unsigned long addr)
{
	struct vm_area_struct *prev = vma_prev(vma);

	if (vma->vm_end - addr > rlimit(RLIMIT_STACK) || addr < MMAP_MIN_ADDR)
		return -EFAULT;
	if (!may_expand_vm(vma->vm_mm, vma->vm_flags, (vma->vm_start - addr) >> PAGE_SHIFT))
		return -EFAULT; /* what the fault's caller makes SIGSEGV of, as on Linux */
	if (prev && prev->vm_end + STACK_GUARD_GAP > addr)
		return -EFAULT;
	vma_set_range(vma, addr, vma->vm_end); /* anonymous: no offset to move; the order in the tree stays */
	return 0;
}

static int access_error(const struct vm_area_struct *vma, unsigned flags)
{
	unsigned need = VM_READ | VM_WRITE | VM_EXEC; /* any of them lets the machine read */

	if (flags & FAULT_FLAG_EXEC)
		need = VM_EXEC;
	else if (flags & FAULT_FLAG_WRITE)
		need = VM_WRITE;
	return vma->vm_flags & need ? 0 : -EACCES;
}

static int __handle_mm_fault(struct mm_struct *mm, unsigned long addr, unsigned flags)
{
	struct fault f = {.mm = mm, .addr = addr & PAGE_MASK, .flags = flags};
	int err;

	f.vma = find_vma(mm, f.addr);
	if (!f.vma)
		return -EFAULT;
	if (f.addr < f.vma->vm_start) {
		err = f.vma->vm_flags & VM_GROWSDOWN ? expand_stack(f.vma, f.addr) : -EFAULT;
		if (err)
			return err;
	}
	err = access_error(f.vma, flags);
	if (err)
		return err;
	mm->min_flt++;
	count_page_fault();
	return handle_pte_fault(&f);
}

noinline int handle_mm_fault(struct mm_struct *mm, unsigned long addr, unsigned flags)
{
	int err;

	mutex_lock(&mm->mmap_lock);
	err = __handle_mm_fault(mm, addr, flags);
	mutex_unlock(&mm->mmap_lock);
	return err;
}
