/*
 * What an area has in memory, page by page: /proc/<pid>/smaps, smaps_rollup and pagemap.
 *
 * The entries are looked at with mmap_lock held. No entry is made or taken then, and a page that is mapped has the
 * mapping's reference, so no further lock is needed. The counts of mappings move with other address spaces; a sum
 * therefore describes about one moment.
 */
#include <fs/seq_file.h>
#include <uapi/statfs.h>

#include "../vma.h"

#define PSS_SHIFT 12 /* a page that is mapped n times counts as 1/n of it each time, in units of 1/4096 byte */

/* Sums over pages, in bytes. */
struct area_sums {
	const struct vm_area_struct *vma; /* the one that is being added */
	u64 size, rss;
	u64 pss, pss_dirty, pss_anon, pss_file, pss_shmem; /* << PSS_SHIFT */
	u64 shared_clean, shared_dirty, private_clean, private_dirty;
	u64 referenced, anonymous, locked; /* locked << PSS_SHIFT */
};

/* Which of three sums a page belongs to: private memory, a file, or a file that lives in memory, as Linux has them. */
static void sum_kind(struct area_sums *s, const struct page *page, u64 part)
{
	const struct file *f = s->vma->vm_file;

	if (page->flags & PG_ANON)
		s->pss_anon += part;
	else if (!f || (f->f_inode->i_sb && f->f_inode->i_sb->s_magic == TMPFS_MAGIC))
		s->pss_shmem += part;
	else
		s->pss_file += part;
}

/*
 * Add one mapped page. The zero page belongs to no one and does not count. mapcount may fall to 0 during the look
 * (another process ends), hence the maximum with 1.
 */
static int sum_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct area_sums *s = arg;
	pte_t pte = READ_ONCE(*slot);
	struct page *page = phys_to_page(pte_phys(pte));
	int maps = atomic_read(&page->mapcount);
	u64 part = (PAGE_SIZE << PSS_SHIFT) / max(maps, 1);

	if (page == zero_page)
		return 0;
	s->rss += PAGE_SIZE;
	s->pss += part;
	if (pte_dirty(pte))
		s->pss_dirty += part;
	sum_kind(s, page, part);
	if (maps > 1)
		*(pte_dirty(pte) ? &s->shared_dirty : &s->shared_clean) += PAGE_SIZE;
	else
		*(pte_dirty(pte) ? &s->private_dirty : &s->private_clean) += PAGE_SIZE;
	if (pte_young(pte))
		s->referenced += PAGE_SIZE;
	if (page->flags & PG_ANON)
		s->anonymous += PAGE_SIZE;
	return 0;
}

/* [m] Add an area and all its pages. */
static void sum_area(struct vm_area_struct *vma, struct area_sums *s)
{
	u64 pss = s->pss;

	s->vma = vma;
	s->size += vma->vm_end - vma->vm_start;
	pte_range(vma->vm_mm->pgd, vma->vm_start, vma->vm_end, sum_pte, s);
	if (vma->vm_flags & VM_LOCKED)
		s->locked += s->pss - pss;
}

static void show_kb(struct seq_file *m, const char *name, u64 bytes)
{
	seq_printf(m, "%-16s%8llu kB\n", name, (unsigned long long)bytes >> 10);
}

/*
 * The lines of smaps and smaps_rollup, in Linux's order; three of them are in the second file alone. Nothing is swapped
 * or merged and no page is huge, but programs wait for these lines: `pmap -x` prints an area when it comes to Swap.
 */
static void smaps_show_sums(struct seq_file *m, const struct area_sums *s, bool rollup)
{
	show_kb(m, "Rss:", s->rss);
	show_kb(m, "Pss:", s->pss >> PSS_SHIFT);
	show_kb(m, "Pss_Dirty:", s->pss_dirty >> PSS_SHIFT);
	if (rollup) {
		show_kb(m, "Pss_Anon:", s->pss_anon >> PSS_SHIFT);
		show_kb(m, "Pss_File:", s->pss_file >> PSS_SHIFT);
		show_kb(m, "Pss_Shmem:", s->pss_shmem >> PSS_SHIFT);
	}
	show_kb(m, "Shared_Clean:", s->shared_clean);
	show_kb(m, "Shared_Dirty:", s->shared_dirty);
	show_kb(m, "Private_Clean:", s->private_clean);
	show_kb(m, "Private_Dirty:", s->private_dirty);
	show_kb(m, "Referenced:", s->referenced);
	show_kb(m, "Anonymous:", s->anonymous);
	show_kb(m, "KSM:", 0);
	show_kb(m, "LazyFree:", 0);
	show_kb(m, "AnonHugePages:", 0);
	show_kb(m, "ShmemPmdMapped:", 0);
	show_kb(m, "FilePmdMapped:", 0);
	show_kb(m, "Shared_Hugetlb:", 0);
	seq_printf(m, "Private_Hugetlb: %7d kB\n", 0);
	show_kb(m, "Swap:", 0);
	show_kb(m, "SwapPss:", 0);
	show_kb(m, "Locked:", s->locked >> PSS_SHIFT);
}

/*
 * Linux's two-letter names for the flags that exist here, and for what mprotect may grant: reading anywhere, execution
 * but on a mount that forbids it.
 */
static void show_flags(struct seq_file *m, unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *name;
	} names[] = {
		{VM_READ, "rd"},     {VM_WRITE, "wr"},	{VM_EXEC, "ex"},   {VM_SHARED, "sh"},	 {~0U, "mr"},
		{VM_MAYWRITE, "mw"}, {VM_NOEXEC, "me"}, {VM_SHARED, "ms"}, {VM_GROWSDOWN, "gd"}, {VM_LOCKED, "lo"},
		{VM_WHOLE, "dc"},    {VM_WHOLE, "de"},	{VM_WHOLE, "dd"},
	};

	seq_puts(m, "VmFlags: ");
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if ((flags ^ VM_NOEXEC) & names[i].flag)
			seq_printf(m, "%s ", names[i].name);
	seq_putc(m, '\n');
}

/* [m] The line of maps, and the figures of one area. */
static void show_smap(struct seq_file *m, struct vm_area_struct *vma, char *path)
{
	struct area_sums s = {0};

	sum_area(vma, &s);
	show_area(m, vma, path);
	show_kb(m, "Size:", s.size);
	show_kb(m, "KernelPageSize:", PAGE_SIZE);
	show_kb(m, "MMUPageSize:", PAGE_SIZE);
	smaps_show_sums(m, &s, false);
	seq_puts(m, "THPeligible:           0\n");
	show_flags(m, vma->vm_flags);
}

/* [m] One sum of all areas, from the start of the first to the end of the last. */
static void show_rollup(struct seq_file *m, struct mm_struct *mm)
{
	struct area_sums s = {0};
	struct vm_area_struct *vma;
	unsigned long start = 0, end = 0;

	list_for_each_entry(vma, &mm->area_list, list) {
		start = end ? start : vma->vm_start;
		end = vma->vm_end;
		sum_area(vma, &s);
	}
	seq_printf(m, "%08lx-%08lx ---p 00000000 00:00 0 %33s[rollup]\n", start, end, "");
	smaps_show_sums(m, &s, true);
}

/* seq_file makes the whole text in its own buffer, so the lock is not held while text is copied to user space. */
int show_smaps(struct seq_file *m, struct mm_struct *mm, bool rollup)
{
	char *path = get_free_page(GFP_KERNEL);
	struct vm_area_struct *vma;

	if (!path)
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	if (rollup)
		show_rollup(m, mm);
	else
		list_for_each_entry(vma, &mm->area_list, list)
			show_smap(m, vma, path);
	mutex_unlock(&mm->mmap_lock);
	free_page(path);
	return 0;
}

/* Bits of an entry of pagemap, with Linux's values. */
#define PM_PRESENT   (1ULL << 63)
#define PM_FILE	     (1ULL << 61) /* a page of a file, or of shared anonymous memory */
#define PM_EXCLUSIVE (1ULL << 56) /* no other entry maps it */

/*
 * [m] What pagemap says of one page; 0 when it is not present. Frame numbers are shown only to readers who may know
 * physical addresses (pfns).
 */
static u64 pagemap_entry(struct mm_struct *mm, unsigned long addr, bool pfns)
{
	pte_t *slot = pte_lookup(mm->pgd, addr), pte;
	struct page *page;
	u64 entry = PM_PRESENT;

	if (!slot)
		return 0;
	pte = READ_ONCE(*slot);
	if (!pte_present(pte))
		return 0;
	page = phys_to_page(pte_phys(pte));
	if (pfns)
		entry |= page_to_pfn(page);
	if (page != zero_page && !(page->flags & PG_ANON))
		entry |= PM_FILE;
	if (page != zero_page && atomic_read(&page->mapcount) == 1)
		entry |= PM_EXCLUSIVE;
	return entry;
}

/* The lock is taken for the whole batch, which so shows one moment. */
void read_pagemap(struct mm_struct *mm, unsigned long addr, u64 *entries, unsigned n, bool pfns)
{
	mutex_lock(&mm->mmap_lock);
	for (unsigned i = 0; i < n; i++, addr += PAGE_SIZE)
		entries[i] = pagemap_entry(mm, addr, pfns);
	mutex_unlock(&mm->mmap_lock);
}
