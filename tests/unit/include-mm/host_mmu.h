/*
 * A machine for address spaces: page tables, and a TLB that remembers what it saw until it is flushed, so
 * that a flush that was forgotten shows as a wrong access, and one that comes after the page was freed as
 * such. Include once, after host_kernel.h.
 */
#pragma once

#include <mm/mm.h>

pgd_t swapper_pg_dir[1];

pte_t *pte_lookup(pgd_t *pgd, unsigned long va)
{
	pte_t *table = pgd->table[va >> 21];

	return table ? &table[(va >> 12) & 511] : NULL;
}
static long host_tables_left = -1; /* page tables that there is memory for; -1: any number */
pte_t *pte_alloc(pgd_t *pgd, unsigned long va)
{
	if (!pgd->table[va >> 21] && host_tables_left) {
		pgd->table[va >> 21] = calloc(512, sizeof(pte_t));
		host_tables_left -= host_tables_left > 0;
	}
	return pte_lookup(pgd, va);
}
void set_pte(pte_t *slot, pte_t v)
{
	if (slot->v && v.v && pte_phys(*slot) != pte_phys(v))
		fail_msg("a live entry was pointed at another page: it must be emptied and flushed first");
	*slot = v;
}
pte_t ptep_get_and_clear(pte_t *slot)
{
	pte_t old = *slot;

	slot->v = 0;
	return old;
}
pgd_t *pgd_alloc(void)
{
	return calloc(1, sizeof(pgd_t));
}
void pgd_free(pgd_t *pgd)
{
	for (unsigned long i = 0; i < HOST_TABLES; i++)
		free(pgd->table[i]);
	free(pgd);
}
/* So few that all stay until pgd_free(). */
unsigned long pgd_pages(pgd_t *pgd)
{
	return 0;
}
void pgd_detach_tables(pgd_t *pgd, struct list_head *tables)
{
}
void free_detached_tables(struct list_head *tables)
{
}
/* As <mm/pgtable.h> declares them. Where there is no table, *va goes on behind the 2 MiB that it would cover. */
pte_t *pte_run(pgd_t *pgd, unsigned long *va, unsigned long end, unsigned *n)
{
	for (; *va < end; *va = (*va | ((1UL << 21) - 1)) + 1) {
		pte_t *slot = pte_lookup(pgd, *va);

		*n = (min((*va | ((1UL << 21) - 1)) + 1, end) - *va) / PAGE_SIZE;
		if (slot)
			return slot;
	}
	return NULL;
}
int pte_range(pgd_t *pgd, unsigned long start, unsigned long end, int (*fn)(pte_t *slot, unsigned long va, void *arg),
	      void *arg)
{
	unsigned long va = start;
	pte_t *slot;
	unsigned n;

	while ((slot = pte_run(pgd, &va, end, &n)))
		for (int ret; n; n--, slot++, va += PAGE_SIZE)
			if (slot->v && (ret = fn(slot, va, arg)))
				return ret;
	return 0;
}

#define TLB_SIZE 4096 /* the first half is one CPU's, the second another's */
#define TLB_CPUS 2
static struct {
	struct mm_struct *mm;
	unsigned long va;
	pte_t pte;
} tlb[TLB_SIZE];
static unsigned long host_tlb_flushes;

void flush_tlb_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	host_tlb_flushes++;
	for (unsigned i = 0; i < TLB_SIZE; i++)
		if (tlb[i].mm == mm && tlb[i].va >= start && tlb[i].va < end)
			tlb[i].mm = NULL;
}
void flush_tlb_page(struct mm_struct *mm, unsigned long va)
{
	flush_tlb_range(mm, va, va + PAGE_SIZE);
}
void flush_tlb_mm(struct mm_struct *mm)
{
	flush_tlb_range(mm, 0, TASK_SIZE);
}
static unsigned long icache_syncs;
void arch_sync_icache(void *linear, size_t size)
{
	icache_syncs++;
}

static bool pte_allows(pte_t pte, unsigned flags)
{
	return pte.v & HOST_PTE_ALLOW && (!(flags & FAULT_FLAG_WRITE) || pte.v & HOST_PTE_WRITE) &&
	       (!(flags & FAULT_FLAG_EXEC) || pte.v & HOST_PTE_EXEC);
}

/* Where another CPU has the address as well, it has the same page. */
static void check_other_cpu(unsigned i)
{
	unsigned other = (i + TLB_SIZE / TLB_CPUS) % TLB_SIZE;

	if (tlb[other].mm == tlb[i].mm && tlb[other].va == tlb[i].va &&
	    pte_phys(tlb[other].pte) != pte_phys(tlb[i].pte))
		fail_msg("two CPUs reach different pages at %lx: a flush is missing", tlb[i].va);
}

/* The program touches va on this CPU: through the TLB, the tables, or a fault. Where the byte is, or NULL and
 * the fault's errno. */
static void *user_touch_on(unsigned cpu, struct mm_struct *mm, unsigned long va, unsigned flags, int *err)
{
	unsigned i = ((va >> 12) + (unsigned long)mm / 64) % (TLB_SIZE / TLB_CPUS) + cpu * (TLB_SIZE / TLB_CPUS);

	for (int tries = 0; tries < 3; tries++) {
		pte_t *slot = pte_lookup(mm->pgd, va);

		if (tlb[i].mm != mm || tlb[i].va != (va & PAGE_MASK) || !pte_allows(tlb[i].pte, flags)) {
			if (!slot || !pte_allows(*slot, flags)) {
				*err = handle_mm_fault(mm, va, flags | FAULT_FLAG_USER);
				if (*err)
					return NULL;
				continue;
			}
			tlb[i].mm = mm;
			tlb[i].va = va & PAGE_MASK;
			tlb[i].pte = *slot;
			check_other_cpu(i);
		}
		assert_true(atomic_read(&phys_to_page(pte_phys(tlb[i].pte))->refcount) > 0);
		return (char *)__va(pte_phys(tlb[i].pte)) + (va & ~PAGE_MASK);
	}
	fail_msg("the access at %lx was never made good", va);
	return NULL;
}

/* A thread on any CPU. */
static void *user_touch(struct mm_struct *mm, unsigned long va, unsigned flags, int *err)
{
	return user_touch_on(host_random() % TLB_CPUS, mm, va, flags, err);
}

/* A page becomes somebody else's: by now no CPU may reach it. Address spaces that nobody runs in do not
 * count. */
static void host_check_freed(const struct page *page)
{
	for (unsigned i = 0; i < TLB_SIZE; i++)
		if (tlb[i].mm && atomic_read(&tlb[i].mm->mm_users) && phys_to_page(pte_phys(tlb[i].pte)) == page)
			fail_msg("page freed while CPU %u has it at %lx in its TLB: the flush is late or missing",
				 i / (TLB_SIZE / TLB_CPUS), tlb[i].va);
}
