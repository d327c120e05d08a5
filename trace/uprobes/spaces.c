/*
 * Watched places in address spaces.
 *
 * A place is watched where the file is mapped privately and for execution: the page of text becomes one of the
 * process's own, as for a debugger, and gets a breakpoint. It is looked for when the probe is registered, and each time
 * an area is made, moved or made executable. A place is left alone whose text is not that of the file, because the
 * process or a debugger has changed it.
 *
 * fork copies the pages with their breakpoints, so the child is watched like its parent. A page that goes takes its
 * sites along (munmap, exec, exit).
 *
 * A site that has, or had, a slot stays when its probe has gone: a thread may still be in the slot. It is used again
 * when the place is watched again, and goes with the page of text.
 */
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm_part.h>
#include <mm/slab.h>

#include "internal.h"

/* [m] Read or write memory of the program that may lie in two pages; writing by force makes a page its own. */
static bool access_text(struct mm_struct *mm, unsigned long addr, void *buf, unsigned n, bool write)
{
	unsigned how = FAULT_FLAG_FORCE | (write ? FAULT_FLAG_WRITE : 0);
	unsigned first = min((unsigned long)n, PAGE_SIZE - (addr & ~PAGE_MASK));

	return access_vm_locked(mm, addr, buf, first, how) &&
	       (first == n || access_vm_locked(mm, addr + first, (u8 *)buf + first, n - first, how));
}

static bool is_break(const void *text)
{
	return !memcmp(text, arch_uprobe_break, UPROBE_BREAK_SIZE);
}

/* Does the area show this byte of the file? Then its address, else 0. */
static unsigned long address_in(const struct vm_area_struct *vma, const struct inode *inode, unsigned long offset)
{
	unsigned long start = vma->vm_pgoff << PAGE_SHIFT;

	if (!vma->vm_file || vma->vm_file->f_inode != inode || vma->vm_flags & VM_SHARED || offset < start ||
	    offset - start >= vma->vm_end - vma->vm_start)
		return 0;
	return vma->vm_start + (offset - start);
}

/* [m] Change the counter, which lies in a writable area of the same file. False: there is no such area (yet). */
static bool change_counter(struct mm_struct *mm, const struct uprobe *uprobe, int by)
{
	struct vm_area_struct *vma;
	unsigned long addr;
	u16 count;

	list_for_each_entry(vma, &mm->area_list, list) {
		addr = vma->vm_flags & VM_WRITE ? address_in(vma, uprobe->inode, uprobe->ref_ctr_offset) : 0;
		if (!addr || !access_vm_locked(mm, addr, &count, sizeof(count), 0))
			continue;
		count += by;
		return access_vm_locked(mm, addr, &count, sizeof(count), FAULT_FLAG_WRITE);
	}
	return false;
}

/* [m] */
static void count_site(struct mm_struct *mm, struct uprobe_site *site, const struct uprobe *uprobe, bool on)
{
	if (!uprobe->ref_ctr_offset || site->counted == on)
		return;
	if (change_counter(mm, uprobe, on ? 1 : -1))
		site->counted = on;
}

/* [m] What an address space has of its own for probes. False: out of memory. */
static bool has_uprobes(struct mm_struct *mm)
{
	if (!mm->uprobes)
		smp_store_release(&mm->uprobes, (struct mm_uprobes *)kzalloc(sizeof(*mm->uprobes), GFP_KERNEL));
	return mm->uprobes;
}

static void free_site_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct uprobe_site, rcu));
	no_tail_call();
}

/* [m] The page has gone, so nothing is restored. A hit may be looking at the site. */
void uprobe_free_site(struct mm_struct *mm, struct uprobe_site *site)
{
	hlist_del(&site->node);
	uprobe_free_slot(mm->uprobes, site);
	if (site->uprobe)
		uprobe_put(site->uprobe);
	call_rcu(&site->rcu, free_site_rcu);
}

/* [m] The site for addr, which is made if it is not there. NULL: out of memory. */
static struct uprobe_site *get_site(struct mm_uprobes *mu, unsigned long addr)
{
	struct uprobe_site *site = uprobe_find_site(mu, addr);

	if (site)
		return site;
	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return NULL;
	site->addr = addr;
	hlist_add_head(&site->node, uprobe_bucket(mu, addr));
	return site;
}

/*
 * [m] Watch one place. The site is there before the breakpoint, so that who meets the one finds the other. 0, also
 * where the text is another; -ENOMEM.
 */
static int install_at(struct mm_struct *mm, unsigned long addr, struct uprobe *uprobe)
{
	u8 text[UPROBE_MAX_INSN];
	struct uprobe_site *site;
	struct uprobe *left; /* of a breakpoint that could not be taken out */

	if (!has_uprobes(mm))
		return -ENOMEM;
	site = uprobe_find_site(mm->uprobes, addr);
	if (site && site->uprobe == uprobe)
		return 0;
	if (!access_text(mm, addr, text, uprobe->insn.len, false) ||
	    (memcmp(text, uprobe->insn.bytes, uprobe->insn.len) && !is_break(text)))
		return 0;
	site = get_site(mm->uprobes, addr);
	if (!site)
		return -ENOMEM;
	uprobe_get(uprobe);
	left = site->uprobe;
	smp_store_release(&site->uprobe, uprobe);
	if (left)
		uprobe_put(left);
	memcpy(text, arch_uprobe_break, UPROBE_BREAK_SIZE);
	if (!access_text(mm, addr, text, UPROBE_BREAK_SIZE, true)) {
		uprobe_remove_site(mm, site);
		return -ENOMEM;
	}
	count_site(mm, site, uprobe, true);
	return 0;
}

/*
 * [m] First the instruction, then the site: a thread that met the breakpoint and finds no site looks at the text
 * again. Where there is no memory for a page of the process's own, as after a fork, the breakpoint has to stay, and so
 * does the site with its reference: the program goes on in the slot, and the probe has no consumers any more.
 */
void uprobe_remove_site(struct mm_struct *mm, struct uprobe_site *site)
{
	struct uprobe *uprobe = site->uprobe;
	u8 text[UPROBE_BREAK_SIZE];

	if (access_text(mm, site->addr, text, UPROBE_BREAK_SIZE, false) && is_break(text) &&
	    !access_text(mm, site->addr, uprobe->insn.bytes, UPROBE_BREAK_SIZE, true))
		return;
	count_site(mm, site, uprobe, false);
	smp_store_release(&site->uprobe, (struct uprobe *)NULL);
	uprobe_put(uprobe);
	if (!site->slot)
		uprobe_free_site(mm, site);
}

int uprobe_install(struct mm_struct *mm, struct uprobe *uprobe)
{
	struct vm_area_struct *vma;
	int err = 0;

	list_for_each_entry(vma, &mm->area_list, list) {
		unsigned long addr = vma->vm_flags & VM_EXEC ? address_in(vma, uprobe->inode, uprobe->offset) : 0;

		if (addr && !err)
			err = install_at(mm, addr, uprobe);
	}
	return err;
}

/* [m] All sites at once: areas may have lost the right to execute since. */
void uprobe_remove(struct mm_struct *mm, struct uprobe *uprobe)
{
	struct vm_area_struct *vma;

	if (!mm->uprobes)
		return;
	list_for_each_entry(vma, &mm->area_list, list) {
		unsigned long addr = address_in(vma, uprobe->inode, uprobe->offset);
		struct uprobe_site *site = addr ? uprobe_find_site(mm->uprobes, addr) : NULL;

		if (site && site->uprobe == uprobe)
			uprobe_remove_site(mm, site);
	}
}

/* [m] The counters of these places whose area has come now. */
static void count_late(struct mm_struct *mm, const struct uprobe *uprobe)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &mm->area_list, list) {
		unsigned long addr = address_in(vma, uprobe->inode, uprobe->offset);
		struct uprobe_site *site = addr ? uprobe_find_site(mm->uprobes, addr) : NULL;

		if (site && site->uprobe == uprobe)
			count_site(mm, site, uprobe, true);
	}
}

/* A mapping is not refused for the lack of memory: the place is not watched then. */
static void spaces_mapped(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->vm_mm;
	struct uprobe **found;
	unsigned n;

	if (likely(!READ_ONCE(nr_uprobes)) || !vma->vm_file || !(vma->vm_flags & (VM_EXEC | VM_WRITE)))
		return;
	found = uprobes_of(vma->vm_file->f_inode, &n);
	for (unsigned i = 0; i < n; i++) {
		unsigned long addr = address_in(vma, found[i]->inode, found[i]->offset);

		if (addr && vma->vm_flags & VM_EXEC)
			install_at(mm, addr, found[i]);
		else if (mm->uprobes && found[i]->ref_ctr_offset)
			count_late(mm, found[i]);
		uprobe_put(found[i]);
	}
	kvfree(found);
}

/* [m] All sites are looked at: a range may be large, and few programs are probed. fn may free the site. */
static void each_site(struct mm_struct *mm, unsigned long start, unsigned long end,
		      void (*fn)(struct mm_struct *mm, struct uprobe_site *site))
{
	struct mm_uprobes *mu = mm->uprobes;

	if (likely(!mu))
		return;
	for (unsigned i = 0; i < UPROBE_BUCKETS; i++) {
		struct hlist_node *next;

		for (struct hlist_node *at = mu->sites[i].first; at; at = next) {
			struct uprobe_site *site = hlist_entry_safe(at, struct uprobe_site, node);

			next = at->next;
			if (site->addr - start < end - start)
				fn(mm, site);
		}
	}
}

static void spaces_unmapped(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	each_site(mm, start, end, uprobe_free_site);
}

static void lift_site(struct mm_struct *mm, struct uprobe_site *site)
{
	if (site->uprobe)
		uprobe_remove_site(mm, site);
}

static void spaces_before_move(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	each_site(mm, start, end, lift_site);
}

/* Neither has a user, so nobody looks at the sites. */
static void spaces_exit(struct mm_struct *mm)
{
	if (likely(!mm->uprobes))
		return;
	spaces_unmapped(mm, 0, ~0UL);
	uprobe_free_pages(mm->uprobes);
	kfree(mm->uprobes);
	mm->uprobes = NULL;
}

/* [m of both] */
static int copy_site(struct mm_uprobes *to, const struct uprobe_site *from)
{
	struct uprobe_site *site = get_site(to, from->addr);

	if (!site)
		return -ENOMEM;
	site->uprobe = from->uprobe;
	if (site->uprobe)
		uprobe_get(site->uprobe);
	site->slot = from->slot;
	site->len = from->len;
	site->done = from->done;
	site->pushed = from->pushed;
	site->pushes_flags = from->pushes_flags;
	site->counted = from->counted;
	if (site->slot)
		uprobe_own_slot(to, site);
	return 0;
}

/* What was made so far goes with the child's address space. */
static int spaces_dup(struct mm_struct *new, struct mm_struct *old)
{
	const struct mm_uprobes *from = old->uprobes;
	struct uprobe_site *site;
	int err = 0;

	if (likely(!from))
		return 0;
	if (!has_uprobes(new))
		return -ENOMEM;
	err = uprobe_dup_pages(new->uprobes, from);
	new->uprobes->trampoline = from->trampoline;
	for (unsigned i = 0; i < UPROBE_BUCKETS && !err; i++)
		hlist_for_each_entry(site, &from->sites[i], node)
			if (!err)
				err = copy_site(new->uprobes, site);
	return err;
}

static const struct mm_part spaces_mm_part = {
	.dup = spaces_dup,
	.exit = spaces_exit,
	.mapped = spaces_mapped,
	.before_move = spaces_before_move,
	.unmapped = spaces_unmapped,
};
REGISTER_MM_PART(spaces_mm_part);
