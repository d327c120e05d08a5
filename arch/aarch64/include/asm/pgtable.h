/*
 * Page tables (Arm ARM D8.3, VMSAv8-64, 4 KiB granule): three levels named pgd (level 1, 1 GiB an entry), pmd
 * (2 MiB) and pte (4 KiB). The kernel's half hangs off TTBR1 and is the same for all, the user's off TTBR0: a
 * user pgd has no kernel part in it. Entries change only through set_pte and ptep_get_and_clear.
 */
#pragma once

#include <asm/page.h>
#include <asm/pgtable_bits.h>
#include <lib/types.h>

typedef struct {
	u64 v;
} pte_t;
typedef struct {
	u64 v;
} pgd_t;
typedef struct {
	u64 v;
} pgprot_t;

#define __pgprot(x) ((pgprot_t){(x)})

/* The kernel's own: writable or executable, never both. */
#define PAGE_KERNEL	 __pgprot(PROT_KERNEL)
#define PAGE_KERNEL_RO	 __pgprot(PROT_KERNEL_RO)
#define PAGE_KERNEL_EXEC __pgprot(PROT_KERNEL_ROX)
#define PAGE_DEVICE	 __pgprot(PROT_DEVICE)
#define PAGE_NONE	 __pgprot(PROT_USER_NONE)

/* For the walks of kernel/mm/pgtable.c: all entries of a user top level are user mode's. */
#define USER_PGD_ENTRIES 512U
/* Does an entry above the last level lead to a table? */
static __always_inline bool entry_is_table(u64 entry)
{
	return (entry & 3) == PTE_TABLE;
}
/* The entry that leads to the table at `phys`. */
static __always_inline u64 table_entry(phys_addr_t phys)
{
	return phys | PTE_TABLE;
}

static inline pte_t mk_pte(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){(phys & PTE_ADDR_MASK) | prot.v};
}
/* A leaf of 2 MiB: of the kernel. */
static inline pte_t mk_block(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){phys | (prot.v & ~PTE_PAGE) | PTE_BLOCK};
}
static inline bool pte_none(pte_t p)
{
	return !p.v;
}
static inline bool pte_present(pte_t p)
{
	return p.v & (PTE_VALID | PTE_PROT_NONE);
}
static inline bool pte_write(pte_t p)
{
	return (p.v & (PTE_VALID | PTE_RDONLY)) == PTE_VALID;
}
/* There is no hardware dirty bit on this CPU's baseline: a page that could be written counts as written. */
static inline bool pte_dirty(pte_t p)
{
	return pte_write(p) || (p.v & PTE_SW_DIRTY);
}
static inline bool pte_young(pte_t p)
{
	return p.v & PTE_AF;
}
static inline phys_addr_t pte_phys(pte_t p)
{
	return p.v & PTE_ADDR_MASK;
}
static inline pte_t pte_wrprotect(pte_t p)
{
	return (pte_t){p.v | PTE_RDONLY | (pte_write(p) ? PTE_SW_DIRTY : 0)};
}
static inline pte_t pte_mkwrite(pte_t p)
{
	return (pte_t){(p.v & ~PTE_RDONLY) | PTE_SW_DIRTY};
}
static inline pte_t pte_mkyoung(pte_t p)
{
	return (pte_t){p.v | PTE_AF};
}

/* Store, visible to the walkers of all CPUs when it returns. Changing a valid entry needs a flush by the caller. */
void set_pte(pte_t *slot, pte_t v);

/* This CPU alone forgets all; or a kernel page (Arm ARM D8.13; no IS: the other CPUs are not asked). Any context. */
static __always_inline void flush_tlb_local_all(void)
{
	__asm__ volatile("dsb nshst\n\ttlbi vmalle1\n\tdsb nsh\n\tisb" : : : "memory");
}
static __always_inline void flush_tlb_local_page(unsigned long va)
{
	u64 page = (va >> PAGE_SHIFT) & (BIT(44) - 1);

	__asm__ volatile("dsb nshst\n\ttlbi vaae1, %0\n\tdsb nsh\n\tisb" : : "r"(page) : "memory");
}

/* Bytes written through the linear map will be executed: clean D to the point of unification, invalidate I. */
void arch_sync_icache(void *linear, size_t size);
