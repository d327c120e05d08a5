/*
 * Page tables after boot: finding, making and freeing them, with the same code for both machines. The number of levels
 * comes from the machine's constants, and the loops over levels are unrolled (pgtable_walk.h).
 *
 * Look-ups take no lock: a table, once installed, stays until its address space is gone. Two CPUs that both lack a
 * table may both make one; a compare-and-exchange lets one win, and the other frees its own. Leaf entries are the
 * business of the caller, which holds the page_table_lock of the address space or owns the range (vmalloc).
 */
#include <mm/pgtable.h>

#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/list.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <sched/preempt.h>

#include "pgtable_walk.h"

/*
 * The table below an entry; NULL when the entry is empty or maps a block. Acquire pairs with the release of the CPU
 * that installed the table, so its zeroes are seen.
 */
static __always_inline u64 *table_of(const u64 *entry)
{
	u64 v = smp_load_acquire(entry), *table = __va(v & PTE_ADDR_MASK);

	if (!table)
		__builtin_unreachable(); /* a linear address is never NULL: saves the walks a second test */
	return entry_is_table(v) ? table : NULL;
}

/*
 * page->private of a table that leads to other tables has a bit for each group of eight entries, set before one of them
 * leads anywhere. An address space uses a handful of the 512 entries, and pgd_free() looks only into groups that are
 * marked.
 */
#define GROUP 8

static inline unsigned long *groups_of(const void *table)
{
	return &virt_to_page(table)->private;
}

/* How many tables an address space has: page->index of its top level. [a] */
static inline unsigned long *count_of(const void *pgd)
{
	return &virt_to_page(pgd)->index;
}

/* Without a free page: where the allocator may wait it does, and calls the OOM killer. */
static noinline void *wait_for_table(void)
{
	return in_atomic() || irqs_disabled() ? NULL : get_zeroed_page(GFP_KERNEL);
}

/* An empty table without marked groups, or NULL: there is no memory, or (with preemption off) none without a wait. */
static __always_inline void *new_table(void)
{
	void *table = get_zeroed_page(GFP_USER);

	if (unlikely(!table))
		table = wait_for_table();
	if (table)
		*groups_of(table) = 0;
	return table;
}

/*
 * Make the table below an entry. Two CPUs may come here for one entry: the first to install its table wins, and both
 * use that one. NULL: out of memory, or a block is there.
 */
static u64 *table_make_slow(pgd_t *pgd, u64 *entry)
{
	u64 expected = 0;
	void *table = new_table();

	if (!table)
		return NULL;
	/* The kernel's top table lies in the image, and is never freed. */
	if ((unsigned long)entry < LINEAR_END)
		set_bit(((unsigned long)entry & ~PAGE_MASK) / (sizeof(u64) * GROUP), groups_of(entry));
	/* Release: zeroes before the pointer, also for the table walkers of other CPUs. */
	if (!__atomic_compare_exchange_n(entry, &expected, table_entry(__pa(table)), false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free_zeroed_page(table);
	else if ((unsigned long)pgd < LINEAR_END)
		__atomic_fetch_add(count_of(pgd), 1, __ATOMIC_RELAXED);
	return table_of(entry);
}

/* The table below an entry, made if it is missing. */
static __always_inline u64 *table_make(pgd_t *pgd, u64 *entry)
{
	u64 *table = table_of(entry);

	return likely(table || READ_ONCE(*entry)) ? table : table_make_slow(pgd, entry);
}

/*
 * The image's own mapping was made with tables that lie in the image. That is RAM as well, so __va() is right for them
 * too.
 */
pte_t *pte_lookup(pgd_t *pgd, unsigned long va)
{
	u64 *table = &pgd->v;

	for_each_upper_level(shift)
		if (!(table = table_of(&table[table_index(va, shift)])))
			return NULL;
	return (pte_t *)&table[table_index(va, PAGE_SHIFT)];
}

pte_t *pte_alloc(pgd_t *pgd, unsigned long va)
{
	u64 *table = &pgd->v;

	for_each_upper_level(shift)
		if (!(table = table_make(pgd, &table[table_index(va, shift)])))
			return NULL;
	return (pte_t *)&table[table_index(va, PAGE_SHIFT)];
}

pte_t ptep_get_and_clear(pte_t *slot)
{
	return (pte_t){__atomic_exchange_n(&slot->v, 0, __ATOMIC_ACQ_REL)};
}

/* Groups of the kernel's top table that are in use. [boot, then immutable; 0 where user tables have no kernel half] */
static unsigned long kernel_groups;

void pgd_kernel_complete(void)
{
	for (unsigned i = USER_PGD_ENTRIES; i < TABLE_ENTRIES; i++)
		if (swapper_pg_dir[i].v)
			kernel_groups |= BIT(i / GROUP);
}

/* The kernel's entries as in `from`; NULL: empty. */
static __always_inline void set_kernel_half(pgd_t *pgd, const pgd_t *from)
{
	for (unsigned long groups = kernel_groups; groups; groups &= groups - 1) {
		unsigned first = __builtin_ctzl(groups) * GROUP;

		for (unsigned i = first; i < first + GROUP; i++)
			pgd[i] = from ? from[i] : (pgd_t){0};
	}
}

/* The kernel's entries are not marked in the new table's own groups, so that pgd_free() does not follow them. */
pgd_t *pgd_alloc(void)
{
	pgd_t *pgd = new_table();

	if (!pgd)
		return NULL;
	*count_of(pgd) = 1;
	if (USER_PGD_ENTRIES < TABLE_ENTRIES)
		set_kernel_half(pgd, swapper_pg_dir);
	return pgd;
}

/*
 * Free a table, whose entries map 1 << shift bytes each, with all tables that it leads to. No CPU uses them any more.
 * All are empty then: those of leaves have been emptied before. The depth of the recursion is the number of levels.
 *
 * The next owner takes them without clearing them, so they must look empty to every CPU, whoever emptied them: between
 * those stores and this free a count of the address space fell to 0, an atomic operation that orders them, and the
 * release that installs the table again hands them on (table_make_slow). No walker of the hardware writes to a table.
 */
static void free_table(u64 *table, unsigned shift)
{
	for (unsigned long groups = *groups_of(table); groups; groups &= groups - 1) {
		u64 *entry = table + __builtin_ctzl(groups) * GROUP;

		for (unsigned i = 0; i < GROUP; i++) {
			u64 *below = entry[i] ? table_of(&entry[i]) : NULL; /* most are empty */

			if (!below)
				continue;
			entry[i] = 0;
			if (shift > PMD_SHIFT)
				free_table(below, shift - TABLE_BITS);
			else
				free_zeroed_page(below); /* of leaves */
		}
	}
	free_zeroed_page(table);
}

/* A table on its way out is in the list by its page. The top level is that of a new address space afterwards. */
void pgd_detach_tables(pgd_t *pgd, struct list_head *tables)
{
	for (unsigned long groups = *groups_of(pgd); groups; groups &= groups - 1) {
		u64 *entry = &pgd->v + __builtin_ctzl(groups) * GROUP;

		for (unsigned i = 0; i < GROUP; i++) {
			u64 *below = table_of(&entry[i]);

			if (!below)
				continue;
			WRITE_ONCE(entry[i], 0);
			list_add(&virt_to_page(below)->lru, tables);
		}
	}
	*groups_of(pgd) = 0;
	*count_of(pgd) = 1;
}

void free_detached_tables(struct list_head *tables)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, tables, lru)
		free_table(page_to_virt(page), PGDIR_SHIFT - TABLE_BITS);
}

void pgd_free(pgd_t *pgd)
{
	if (USER_PGD_ENTRIES < TABLE_ENTRIES)
		set_kernel_half(pgd, NULL);
	free_table(&pgd->v, PGDIR_SHIFT);
}

unsigned long pgd_pages(pgd_t *pgd)
{
	return READ_ONCE(*count_of(pgd));
}

/* `span` is what the entry maps at which the way down ended, so an absent table of a high level costs one step. */
static __always_inline pte_t *find_run(pgd_t *pgd, unsigned long *va, unsigned long end, unsigned *n)
{
	unsigned long span = PAGE_SIZE;

	for (; *va < end; *va = ALIGN_DOWN(*va, span) + span) {
		u64 *table = &pgd->v;

		/* Down to the leaves, or to the first entry that leads nowhere. */
		for_each_upper_level(shift) {
			span = 1UL << shift;
			table = table_of(&table[table_index(*va, shift)]);
			if (!table)
				break;
		}
		if (!table)
			continue;
		*n = DIV_ROUND_UP(min(ALIGN_DOWN(*va, span) + span, end) - *va, PAGE_SIZE);
		return (pte_t *)&table[table_index(*va, PAGE_SHIFT)];
	}
	return NULL;
}

pte_t *pte_run(pgd_t *pgd, unsigned long *va, unsigned long end, unsigned *n)
{
	return find_run(pgd, va, end, n);
}

/* Slots are looked at in runs of one table, and empty ones passed over eight at a time. */
int pte_range(pgd_t *pgd, unsigned long start, unsigned long end, int (*fn)(pte_t *slot, unsigned long va, void *arg),
	      void *arg)
{
	unsigned long va = start;
	pte_t *slot;
	unsigned n;

	while (va < end && (slot = find_run(pgd, &va, end, &n))) {
		for (pte_t *at = slot; (at = pte_skip_empty(at, slot + n)) < slot + n; at++) {
			int ret = fn(at, va + (at - slot) * PAGE_SIZE, arg);

			if (ret)
				return ret;
		}
		va += n * PAGE_SIZE;
	}
	return 0;
}
