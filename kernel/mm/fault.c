/*
 * Page faults: demand zero, pages of files and of shared memory, copy-on-write, growth of stacks.
 *
 * handle_mm_fault() looks up the area, checks the rights, and then decides by the leaf entry. An empty entry gets a
 * page: a zeroed one (or the common zero page, for reading), a page of the file, or a private copy of that. An entry
 * without the right to write goes to do_wp_page(), which copies the page unless it has no other user. An entry that is
 * right already was made by another thread meanwhile, and only the TLB needs a flush.
 *
 * Locks: mmap_lock is held during a whole fault, so areas cannot change and two faults on one page come one after the
 * other. Entries are stored under page_table_lock as well; pages are allocated before it is taken.
 */
#include <lib/string.h>
#include <mm/oom.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <sched/sched.h>

#include "vma.h"

#define FAULT_AROUND_PAGES 16 /* the aligned window of pages that one fault on a file maps */

/* One fault under way. mmap_lock is held, so neither the area nor the entry changes. */
struct fault {
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	unsigned long addr; /* page aligned */
	unsigned flags;	    /* FAULT_FLAG_* */
	pte_t *slot;
	struct page *page; /* of the file or of shared memory, with a reference; set by __do_fault() */
};

DEFINE_PER_CPU(u64, page_faults);

void sync_exec_page(struct page *page)
{
	arch_sync_icache(page_to_virt(page), PAGE_SIZE);
	__atomic_fetch_or(&page->flags, PG_ICACHE, __ATOMIC_RELAXED);
}

/* Before a page is mapped in vma. Once is enough until the kernel writes into it (flush_dcache_page). */
static void sync_new_page(const struct vm_area_struct *vma, struct page *page)
{
	if (vma->vm_flags & VM_EXEC && !(READ_ONCE(page->flags) & PG_ICACHE))
		sync_exec_page(page);
}

/*
 * The entry for a page. One that others may see is mapped read-only even where the area may be written, so that the
 * first write comes to do_wp_page(). It is young at once, so that no CPU needs to write the entry.
 */
static pte_t make_pte(const struct vm_area_struct *vma, struct page *page, bool writable)
{
	pte_t pte = pte_mkyoung(mk_pte(page_to_phys(page), vm_get_page_prot(vma->vm_flags)));

	return writable ? pte : pte_wrprotect(pte);
}

/* [m] Put a page into an empty slot; the caller's reference becomes the mapping's. */
static void install_page(struct fault *f, pte_t *slot, struct page *page, bool writable)
{
	pte_t pte = make_pte(f->vma, page, writable);

	sync_new_page(f->vma, page);
	spin_lock(&f->mm->page_table_lock);
	if (page != zero_page)
		atomic_inc(&page->mapcount);
	count_page(f->mm, page, 1);
	set_pte(slot, pte);
	spin_unlock(&f->mm->page_table_lock);
}

/*
 * [m] The first access to anonymous memory. Reading maps the common zero page, so a program that only looks at its
 * memory needs no page; writing gets a page of its own.
 */
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

/* [m] The page that backs addr, with a reference; ERR_PTR behind the end of the file or when out of memory. */
static struct page *area_page(const struct vm_area_struct *vma, unsigned long addr)
{
	unsigned long index = area_index(vma, addr);

	return vma->vm_shm ? shm_get_page(vma->vm_shm, index) : vma->vm_file->f_op->get_page(vma->vm_file, index);
}

/* A private copy of `page`; NULL when out of memory. The copy of the zero page is a zeroed page. */
static struct page *copy_page_to_write(struct page *page)
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
 * [m] Map the pages of the aligned window around addr that the file has in memory and that are not mapped yet. Most
 * neighbours are wanted soon. They are asked for all at once and stored under one lock, so that one costs a tenth of a
 * fault. The window never crosses a leaf table, whose entries are consecutive, so the slots are found by counting.
 * Where the file has a hole or ends, the rest is left to the access that needs it.
 */
static void do_fault_around(struct fault *f)
{
	struct vm_area_struct *vma = f->vma;
	unsigned long window = FAULT_AROUND_PAGES * PAGE_SIZE;
	unsigned long start = max(ALIGN_DOWN(f->addr, window), vma->vm_start);
	unsigned long end = min(ALIGN_DOWN(f->addr, window) + window, vma->vm_end);
	pte_t *slot = f->slot - ((f->addr - start) >> PAGE_SHIFT);
	pte_t like = make_pte(vma, zero_page, vma->vm_flags & VM_SHARED); /* all but the page */
	pgprot_t prot = {like.v ^ page_to_phys(zero_page)};
	struct page *pages[FAULT_AROUND_PAGES];
	unsigned mapped = 0, n;

	n = vma->vm_file->f_op->find_pages(vma->vm_file, area_index(vma, start), pages, (end - start) >> PAGE_SHIFT);
	if (vma->vm_flags & VM_EXEC)
		for (unsigned i = 0; i < n; i++)
			sync_new_page(vma, pages[i]);
	spin_lock(&f->mm->page_table_lock);
	for (unsigned i = 0; i < n; i++) {
		if (pte_none(READ_ONCE(slot[i]))) {
			atomic_inc(&pages[i]->mapcount);
			set_pte(&slot[i], mk_pte(page_to_phys(pages[i]), prot));
			mapped++;
		} else {
			pages[i - mapped] = pages[i]; /* left over */
		}
	}
	atomic_add(mapped, &f->mm->rss_file);
	spin_unlock(&f->mm->page_table_lock);
	release_pages(pages, n - mapped);
}

/*
 * [m] Get the page into f->page. 0, -ENOMEM or -EIO. It is a function of its own because tutorials trace it by this
 * name.
 */
static noinline int __do_fault(struct fault *f)
{
	f->page = area_page(f->vma, f->addr);
	if (IS_ERR(f->page))
		return PTR_ERR(f->page) == -ENOMEM ? -ENOMEM : -EIO;
	return 0;
}

/*
 * [m] An empty entry of a file's area, or of shared memory. Reading, and writing to a shared area, map the page itself,
 * which stays read-only in a private area; where the file keeps its pages, with its neighbours. Writing to a private
 * area maps a copy at once, and VM_HASANON tells fork that the area has pages that the file cannot bring back.
 */
static noinline int do_file_page(struct fault *f)
{
	bool needs_copy = f->flags & FAULT_FLAG_WRITE && !(f->vma->vm_flags & VM_SHARED);
	struct page *page, *copy;
	int err;

	if (!needs_copy && f->vma->vm_file && f->vma->vm_file->f_op->find_pages) {
		do_fault_around(f);
		if (!pte_none(READ_ONCE(*f->slot)))
			return 0;
	}
	err = __do_fault(f);
	if (err)
		return err;
	page = f->page;
	if (!needs_copy) {
		install_page(f, f->slot, page, f->vma->vm_flags & VM_SHARED);
		return 0;
	}
	copy = copy_page_to_write(page);
	put_page(page);
	if (!copy)
		return -ENOMEM;
	f->vma->vm_flags |= VM_HASANON;
	install_page(f, f->slot, copy, true);
	return 0;
}

/*
 * [m] May the page be written in place? Yes in a shared area, and when the entry that faulted is the only reference to
 * a page of private memory. No other code can get at the page then: a new reference comes from another mapping, which
 * only fork makes, under the mmap_lock that is held. A page of a file that does not keep it (9p) may have no other
 * reference either, but is copied all the same: the copy is what VM_HASANON tells fork of. Acquire: the task that
 * dropped the other reference has read the page for the last time before it is written here.
 */
static bool can_reuse(const struct vm_area_struct *vma, struct page *page)
{
	return vma->vm_flags & VM_SHARED || ((page->flags & PG_ANON) && smp_load_acquire(&page->refcount.counter) == 1);
}

/*
 * [m] Exchange the page under a live entry. The entry is emptied and flushed before the new one is stored, so that at
 * no time one CPU reads the old page while another writes the new one. A thread that faults in between waits for
 * mmap_lock. The old page goes last, when no TLB has it any more.
 */
static void replace_page(struct fault *f, struct page *old, struct page *new)
{
	pte_t pte = make_pte(f->vma, new, true);

	sync_new_page(f->vma, new);
	spin_lock(&f->mm->page_table_lock);
	ptep_get_and_clear(f->slot);
	spin_unlock(&f->mm->page_table_lock);
	flush_tlb_page(f->mm, f->addr);
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

/*
 * [m] A write to a page that is mapped without the right to write. When the page has no other user it becomes writable
 * where it is; otherwise the area gets a copy.
 */
static noinline int do_wp_page(struct fault *f, pte_t pte)
{
	struct page *old = phys_to_page(pte_phys(pte)), *copy;

	if (can_reuse(f->vma, old)) {
		spin_lock(&f->mm->page_table_lock);
		set_pte(f->slot, pte_mkyoung(f->vma->vm_flags & VM_WRITE ? pte_mkwrite(pte) : pte));
		spin_unlock(&f->mm->page_table_lock);
		flush_tlb_page(f->mm, f->addr);
		return 0;
	}
	copy = copy_page_to_write(old);
	if (!copy)
		return -ENOMEM;
	if (f->vma->vm_file)
		f->vma->vm_flags |= VM_HASANON;
	replace_page(f, old, copy);
	return 0;
}

/* [m] Decide by the leaf entry, as the head of this file says. */
static noinline int handle_pte_fault(struct fault *f)
{
	pte_t pte;

	f->slot = pte_alloc(f->mm->pgd, f->addr);
	if (!f->slot)
		return -ENOMEM;
	pte = READ_ONCE(*f->slot);
	if (pte_none(pte))
		return vma_is_anonymous(f->vma) ? do_anonymous_page(f) : do_file_page(f);
	if (f->flags & FAULT_FLAG_WRITE && !pte_write(pte))
		return do_wp_page(f, pte);
	/* Another thread made it good while this one waited for mmap_lock; only the TLB still has the old view. */
	set_pte(f->slot, pte_mkyoung(pte));
	flush_tlb_page(f->mm, f->addr);
	return 0;
}

/*
 * [m] Grow a stack down until it holds addr. Refused when it would become larger than RLIMIT_STACK, exceed the limits
 * on memory, reach below MMAP_MIN_ADDR, or come closer than STACK_GUARD_GAP to the area below. -EFAULT becomes SIGSEGV,
 * as on Linux.
 */
static noinline int expand_stack(struct vm_area_struct *vma, unsigned long addr)
{
	struct vm_area_struct *prev = vma_prev(vma);

	if (vma->vm_end - addr > rlimit(RLIMIT_STACK) || addr < MMAP_MIN_ADDR)
		return -EFAULT;
	if (!may_expand_vm(vma->vm_mm, vma->vm_flags, (vma->vm_start - addr) >> PAGE_SHIFT) ||
	    !may_lock_more(vma->vm_mm, vma->vm_flags, (vma->vm_start - addr) >> PAGE_SHIFT))
		return -EFAULT;
	if (prev && prev->vm_end + STACK_GUARD_GAP > addr)
		return -EFAULT;
	vma_set_range(vma, addr, vma->vm_end); /* it is anonymous, so it has no file offset that would have to move */
	return 0;
}

/*
 * Does the area allow the access? A debugger's force makes a private area's pages the process's own, except where the
 * area must show the page that all share (vdso.c). 0 or -EACCES.
 */
static int access_error(const struct vm_area_struct *vma, unsigned flags)
{
	unsigned need = VM_READ | VM_WRITE | VM_EXEC; /* each of them lets the machine read */

	if (flags & FAULT_FLAG_FORCE && !(vma->vm_flags & VM_SHARED) &&
	    (!(flags & FAULT_FLAG_WRITE) || vma->vm_flags & VM_MAYWRITE))
		return 0;
	if (flags & FAULT_FLAG_EXEC)
		need = VM_EXEC;
	else if (flags & FAULT_FLAG_WRITE)
		need = VM_WRITE;
	return vma->vm_flags & need ? 0 : -EACCES;
}

/* [m] Find the area (a stack may have to grow first), check the rights, and count the fault. */
static __always_inline int __handle_mm_fault(struct mm_struct *mm, unsigned long addr, unsigned flags)
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
	current->min_flt++;
	__atomic_fetch_add(this_cpu_ptr(&page_faults), 1, __ATOMIC_RELAXED);
	return handle_pte_fault(&f);
}

/*
 * When a page is lacking, out_of_memory() kills a process or waits, and the fault is tried again; it returns false when
 * this task is being killed itself.
 */
noinline int handle_mm_fault(struct mm_struct *mm, unsigned long addr, unsigned flags)
{
	int err;

	do {
		mutex_lock(&mm->mmap_lock);
		err = __handle_mm_fault(mm, addr, flags);
		mutex_unlock(&mm->mmap_lock);
	} while (unlikely(err == -ENOMEM) && out_of_memory(GFP_USER, 0));
	return err;
}

int handle_mm_fault_locked(struct mm_struct *mm, unsigned long addr, unsigned flags)
{
	return __handle_mm_fault(mm, addr, flags);
}
