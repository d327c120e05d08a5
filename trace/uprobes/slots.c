/*
 * Pages of a program in which probed instructions are executed: [uprobes] in /proc/<pid>/maps.
 *
 * Each place that was hit once has a slot of its own in its process, which stays until the place is unmapped. So no
 * thread waits for a slot, no thread is ever in one that changes, and an instruction needs no step: the slot ends in a
 * branch back. A page lies close to the program or library whose places it serves, because branches and operands reach
 * only so far. One slot of the first page is the trampoline, a breakpoint to which watched functions return.
 *
 * The page is an area of its own that the program may execute and read. A program that unmaps it, or maps something in
 * its place, breaks its own probes, and the kernel writes only where it is still the page.
 */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "internal.h"

/* What stands for an owner of the trampoline's slot: it never has a probe. */
static struct uprobe_site trampoline_site;

/* [m] Is it still there? */
static bool is_mapped(struct mm_struct *mm, const struct uprobe_page *page)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, page->addr, page->addr + 1);

	return vma && vma->vm_flags & VM_UPROBES;
}

/* [m] A new page near this address, or NULL. */
static struct uprobe_page *add_page(struct mm_struct *mm, unsigned long near)
{
	struct uprobe_page *page = kzalloc(sizeof(*page), GFP_KERNEL);
	long addr = page ? map_code_page(mm, near, UPROBE_REACH, VM_UPROBES) : -ENOMEM;

	if (addr < 0) {
		kfree(page);
		return NULL;
	}
	page->addr = addr;
	page->next = mm->uprobes->pages;
	smp_store_release(&mm->uprobes->pages, page);
	return page;
}

static struct uprobe_site **free_owner(struct uprobe_page *page)
{
	for (unsigned i = 0; i < UPROBE_PAGE_SLOTS; i++)
		if (!page->owner[i])
			return &page->owner[i];
	return NULL;
}

static bool is_near(const struct uprobe_page *page, unsigned long near)
{
	return page->addr - near + UPROBE_REACH < 2 * UPROBE_REACH;
}

static unsigned long slot_address(const struct uprobe_page *page, struct uprobe_site **owner)
{
	return page->addr + (owner - page->owner) * UPROBE_SLOT_SIZE;
}

/* [m] A free slot, and its page. NULL: out of memory. */
static struct uprobe_site **get_owner(struct mm_struct *mm, unsigned long near, struct uprobe_page **page)
{
	struct uprobe_site **owner;

	for (*page = mm->uprobes->pages; *page; *page = (*page)->next) {
		owner = is_near(*page, near) && is_mapped(mm, *page) ? free_owner(*page) : NULL;
		if (owner)
			return owner;
	}
	*page = add_page(mm, near);
	return *page ? free_owner(*page) : NULL;
}

/* [m] The slot is whole before the site says where it is. */
int uprobe_make_slot(struct mm_struct *mm, struct uprobe_site *site)
{
	struct uprobe_site **owner;
	struct uprobe_page *page;
	struct uprobe_code code;
	int err;

	if (site->slot)
		return 0;
	owner = get_owner(mm, site->addr, &page);
	if (!owner)
		return -ENOMEM;
	err = arch_uprobe_prepare(&site->uprobe->insn, &code, site->addr, slot_address(page, owner));
	if (err)
		return err;
	if (!access_vm_locked(mm, slot_address(page, owner), code.bytes, UPROBE_SLOT_SIZE,
			      FAULT_FLAG_FORCE | FAULT_FLAG_WRITE))
		return -ENOMEM;
	site->len = site->uprobe->insn.len;
	site->done = code.done;
	site->pushed = code.pushed;
	site->pushes_flags = code.pushes_flags;
	smp_store_release(owner, site);
	smp_store_release(&site->slot, slot_address(page, owner));
	return 0;
}

/* The breakpoint stands before its address can be found, as it does where an instruction's slot is made. */
unsigned long uprobe_make_trampoline(struct mm_struct *mm, unsigned long near)
{
	u8 code[UPROBE_BREAK_SIZE];
	struct uprobe_site **owner;
	struct uprobe_page *page;

	if (mm->uprobes->trampoline)
		return mm->uprobes->trampoline;
	owner = get_owner(mm, near, &page);
	memcpy(code, arch_uprobe_break, sizeof(code));
	if (!owner ||
	    !access_vm_locked(mm, slot_address(page, owner), code, sizeof(code), FAULT_FLAG_FORCE | FAULT_FLAG_WRITE))
		return 0;
	*owner = &trampoline_site;
	smp_store_release(&mm->uprobes->trampoline, slot_address(page, owner));
	return mm->uprobes->trampoline;
}

static __always_inline struct uprobe_page *page_of(struct mm_uprobes *mu, unsigned long pc)
{
	struct uprobe_page *page = smp_load_acquire(&mu->pages);

	while (page && pc - page->addr >= PAGE_SIZE)
		page = page->next;
	return page;
}

struct uprobe_site *uprobe_site_of_slot(struct mm_uprobes *mu, unsigned long pc)
{
	struct uprobe_page *page = page_of(mu, pc);
	struct uprobe_site *site = page ? smp_load_acquire(&page->owner[(pc - page->addr) / UPROBE_SLOT_SIZE]) : NULL;

	return site == &trampoline_site ? NULL : site;
}

void uprobe_own_slot(struct mm_uprobes *mu, struct uprobe_site *site)
{
	struct uprobe_page *page = page_of(mu, site->slot);

	page->owner[(site->slot - page->addr) / UPROBE_SLOT_SIZE] = site;
}

void uprobe_free_slot(struct mm_uprobes *mu, struct uprobe_site *site)
{
	struct uprobe_page *page = site->slot ? page_of(mu, site->slot) : NULL;

	if (page)
		smp_store_release(&page->owner[(site->slot - page->addr) / UPROBE_SLOT_SIZE],
				  (struct uprobe_site *)NULL);
}

int uprobe_dup_pages(struct mm_uprobes *new, const struct mm_uprobes *old)
{
	struct uprobe_page **to = &new->pages;

	for (const struct uprobe_page *page = old->pages; page; page = page->next) {
		*to = kzalloc(sizeof(**to), GFP_KERNEL);
		if (!*to)
			return -ENOMEM;
		(*to)->addr = page->addr;
		if (old->trampoline - page->addr < PAGE_SIZE)
			(*to)->owner[(old->trampoline - page->addr) / UPROBE_SLOT_SIZE] = &trampoline_site;
		to = &(*to)->next;
	}
	return 0;
}

void uprobe_free_pages(struct mm_uprobes *mu)
{
	while (mu->pages) {
		struct uprobe_page *page = mu->pages;

		mu->pages = page->next;
		kfree(page);
	}
}
