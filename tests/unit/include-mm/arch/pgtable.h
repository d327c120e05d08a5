/* Page tables of the host: two levels, entries with the bits that generic code asks for. */
#pragma once

#include <asm/page.h>
#include <lib/types.h>

typedef struct {
	u64 v;
} pte_t;
typedef struct {
	u64 v;
} pgprot_t;
#define HOST_TABLES (1UL << 18) /* 39 bits of address, 2 MiB a table */
typedef struct {
	pte_t *table[HOST_TABLES];
} pgd_t;

#define HOST_PTE_HERE  1UL
#define HOST_PTE_WRITE 2UL
#define HOST_PTE_EXEC  4UL
#define HOST_PTE_YOUNG 8UL
#define HOST_PTE_ALLOW 16UL /* user mode may touch it at all */

static inline pgprot_t vm_get_page_prot(unsigned vm_flags)
{
	pgprot_t p = {HOST_PTE_HERE};

	if (vm_flags & 7)
		p.v |= HOST_PTE_ALLOW;
	if (vm_flags & 2)
		p.v |= HOST_PTE_WRITE;
	if (vm_flags & 4)
		p.v |= HOST_PTE_EXEC;
	return p;
}
static inline pte_t mk_pte(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){phys | prot.v};
}
static inline bool pte_none(pte_t p)
{
	return !p.v;
}
static inline bool pte_present(pte_t p)
{
	return p.v & HOST_PTE_HERE;
}
static inline bool pte_write(pte_t p)
{
	return p.v & HOST_PTE_WRITE;
}
static inline phys_addr_t pte_phys(pte_t p)
{
	return p.v & PAGE_MASK;
}
static inline pte_t pte_wrprotect(pte_t p)
{
	return (pte_t){p.v & ~HOST_PTE_WRITE};
}
static inline pte_t pte_mkwrite(pte_t p)
{
	return (pte_t){p.v | HOST_PTE_WRITE};
}
static inline pte_t pte_mkyoung(pte_t p)
{
	return (pte_t){p.v | HOST_PTE_YOUNG};
}
pte_t *pte_lookup(pgd_t *pgd, unsigned long va);
pte_t *pte_alloc(pgd_t *pgd, unsigned long va);
void set_pte(pte_t *slot, pte_t v);
pte_t ptep_get_and_clear(pte_t *slot);
pgd_t *pgd_alloc(void);
void pgd_free(pgd_t *pgd);
pte_t *pte_run(pgd_t *pgd, unsigned long *va, unsigned long end, unsigned *n);
int pte_range(pgd_t *pgd, unsigned long start, unsigned long end, int (*fn)(pte_t *slot, unsigned long va, void *arg),
	      void *arg);

struct mm_struct;
void flush_tlb_page(struct mm_struct *mm, unsigned long va);
void flush_tlb_range(struct mm_struct *mm, unsigned long start, unsigned long end);
void flush_tlb_mm(struct mm_struct *mm);
extern pgd_t swapper_pg_dir[];
void arch_sync_icache(void *linear, size_t size);
