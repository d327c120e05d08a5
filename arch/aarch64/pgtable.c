/* Page tables after boot: finding, making and freeing them. */
#include <asm/barrier.h>
#include <asm/pgtable.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <mm/page.h>

#define PTRS 512UL

static inline unsigned pgd_index(unsigned long va)
{
	return (va >> PUD_SHIFT) & (PTRS - 1);
}
static inline unsigned pmd_index(unsigned long va)
{
	return (va >> PMD_SHIFT) & (PTRS - 1);
}
static inline unsigned pte_index(unsigned long va)
{
	return (va >> PAGE_SHIFT) & (PTRS - 1);
}

/* The table below an entry, NULL for none and for blocks. Acquire pairs with the release of who installed it.
 */
static inline u64 *table_of(const u64 *entry)
{
	u64 v = smp_load_acquire(entry);

	return (v & 3) == PTE_TABLE ? __va(v & PTE_ADDR_MASK) : NULL;
}

/*
 * page->private of a table that leads to others: a bit for each eight entries, set before one of them leads anywhere.
 * An address space uses a handful of 512 entries, and pgd_free looks only where something is.
 */
#define GROUP 8

static inline unsigned long *groups_of(const void *table)
{
	return &virt_to_page(table)->private;
}

static void *new_table(void)
{
	void *table = get_zeroed_page(GFP_KERNEL);

	if (table)
		*groups_of(table) = 0;
	return table;
}

/* The same, made if there is none. Two CPUs may both make one: the first to install it wins, both use that. */
static u64 *table_make_slow(u64 *entry)
{
	u64 expected = 0;
	void *table = new_table();

	if (!table)
		return NULL;
	/* The kernel's top table lies in the image, and is never freed. */
	if ((unsigned long)entry < LINEAR_END)
		set_bit(((unsigned long)entry & ~PAGE_MASK) / (sizeof(u64) * GROUP), groups_of(entry));
	/* Release: zeroes before the pointer, also for the table walkers of other CPUs. */
	if (!__atomic_compare_exchange_n(entry, &expected, __pa(table) | PTE_TABLE, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free_page(table);
	return table_of(entry);
}

static inline u64 *table_make(u64 *entry)
{
	u64 *table = table_of(entry);

	return likely(table || READ_ONCE(*entry)) ? table : table_make_slow(entry);
}

/* The image's own mapping was made with tables in the image, which lie in RAM: __va() is right for them too.
 */
pte_t *pte_lookup(pgd_t *pgd, unsigned long va)
{
	u64 *pmd = table_of(&pgd[pgd_index(va)].v);
	u64 *pte = pmd ? table_of(&pmd[pmd_index(va)]) : NULL;

	return pte ? (pte_t *)&pte[pte_index(va)] : NULL;
}

pte_t *pte_alloc(pgd_t *pgd, unsigned long va)
{
	u64 *pmd = table_make(&pgd[pgd_index(va)].v);
	u64 *pte = pmd ? table_make(&pmd[pmd_index(va)]) : NULL;

	return pte ? (pte_t *)&pte[pte_index(va)] : NULL;
}

/*
 * DSB: the store is seen by table walks before anything that follows (Arm ARM D8.2.6). Kernel entries may be
 * used by this very CPU next, hence the ISB; for user entries the return to user mode synchronises.
 */
notrace void set_pte(pte_t *slot, pte_t v)
{
	__atomic_store_n(&slot->v, v.v, __ATOMIC_RELEASE);
	if (v.v & PTE_VALID) {
		dsb(ishst);
		if (!(v.v & PTE_NG))
			isb();
	}
}

pte_t ptep_get_and_clear(pte_t *slot)
{
	return (pte_t){__atomic_exchange_n(&slot->v, 0, __ATOMIC_ACQ_REL)};
}

pgprot_t vm_get_page_prot(unsigned vm_flags)
{
	u64 prot = PROT_USER;

	if (!(vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return PAGE_NONE;
	if (!(vm_flags & VM_WRITE))
		prot |= PTE_RDONLY;
	if (!(vm_flags & VM_EXEC))
		prot |= PTE_UXN;
	return __pgprot(prot);
}

pgd_t *pgd_alloc(void)
{
	return new_table();
}

/* Calls fn with every table that `table` leads to. Nobody else uses them any more. */
static __always_inline void each_table(const u64 *table, void (*fn)(u64 *below))
{
	for (unsigned long groups = *groups_of(table); groups; groups &= groups - 1) {
		const u64 *entry = table + __builtin_ctzl(groups) * GROUP;

		for (unsigned i = 0; i < GROUP; i++) {
			u64 *below = table_of(&entry[i]);

			if (below)
				fn(below);
		}
	}
}

static void free_pte_table(u64 *pte)
{
	free_page(pte);
}

static void free_pmd_table(u64 *pmd)
{
	each_table(pmd, free_pte_table);
	free_page(pmd);
}

void pgd_free(pgd_t *pgd)
{
	each_table(&pgd->v, free_pmd_table);
	free_page(pgd);
}

/* The leaf entries of one level-3 table within [va, end). */
static int pte_table_range(u64 *table, unsigned long va, unsigned long end,
			   int (*fn)(pte_t *slot, unsigned long va, void *arg), void *arg)
{
	for (; va < end; va += PAGE_SIZE) {
		pte_t *slot = (pte_t *)&table[pte_index(va)];
		int ret;

		if (!READ_ONCE(slot->v))
			continue;
		ret = fn(slot, va, arg);
		if (ret)
			return ret;
	}
	return 0;
}

int pte_range(pgd_t *pgd, unsigned long start, unsigned long end,
	      int (*fn)(pte_t *slot, unsigned long va, void *arg), void *arg)
{
	unsigned long va = start, next;
	u64 *pmd, *pte;
	int ret = 0;

	for (; va < end && !ret; va = next) {
		pmd = table_of(&pgd[pgd_index(va)].v);
		if (!pmd) {
			next = ALIGN_DOWN(va, PUD_SIZE) + PUD_SIZE;
			continue;
		}
		next = ALIGN_DOWN(va, PMD_SIZE) + PMD_SIZE;
		pte = table_of(&pmd[pmd_index(va)]);
		if (pte)
			ret = pte_table_range(pte, va, min(next, end), fn, arg);
	}
	return ret;
}
