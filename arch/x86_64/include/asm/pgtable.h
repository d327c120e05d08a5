/*
 * Page tables (SDM vol. 3, 4.5): four levels, 512 entries a table, named pgd (512 GiB an entry), pud (1
 * GiB), pmd (2 MiB) and pte (4 KiB). One tree holds both halves: entries 256 to 511 of every top level are
 * the kernel's, the same in all and never changed after boot. Entries change only through set_pte and
 * ptep_get_and_clear.
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

/*
 * For the walks of kernel/mm/pgtable.c: entries of a top level that are user mode's; the others are copied
 * from swapper_pg_dir.
 */
#define USER_PGD_ENTRIES 256U
/* Does an entry above the last level lead to a table? */
static __always_inline bool entry_is_table(u64 entry)
{
	return (entry & (PTE_PRESENT | PTE_PSE)) == PTE_PRESENT;
}
/* The entry that leads to the table at `phys`. */
static __always_inline u64 table_entry(phys_addr_t phys)
{
	return phys | PTE_TABLE;
}
/* A leaf of 2 MiB: of the kernel. */
static inline pte_t mk_block(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){phys | prot.v | PTE_PSE};
}

static inline pte_t mk_pte(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){(phys & PTE_ADDR_MASK) | prot.v};
}
static inline bool pte_none(pte_t p)
{
	return !p.v;
}
static inline bool pte_present(pte_t p)
{
	return p.v & (PTE_PRESENT | PTE_PROT_NONE);
}
static inline bool pte_write(pte_t p)
{
	return p.v & PTE_RW;
}
/* The hardware's bit, which is set for all that is writable: what could be written counts as written. */
static inline bool pte_dirty(pte_t p)
{
	return p.v & PTE_DIRTY;
}
static inline bool pte_young(pte_t p)
{
	return p.v & PTE_ACCESSED;
}
static inline phys_addr_t pte_phys(pte_t p)
{
	return p.v & PTE_ADDR_MASK;
}
static inline pte_t pte_wrprotect(pte_t p)
{
	return (pte_t){p.v & ~PTE_RW};
}
static inline pte_t pte_mkwrite(pte_t p)
{
	return (pte_t){p.v | PTE_RW | PTE_DIRTY};
}
static inline pte_t pte_mkyoung(pte_t p)
{
	return (pte_t){p.v | PTE_ACCESSED};
}

/*
 * Store, visible to the walkers of all CPUs: they see memory as loads do, in the order of the stores (SDM
 * vol. 3, 4.10.4.2). An entry that was not present may be used at once, since none such is ever cached
 * (4.10.4.3); changing one that was needs a flush by the caller.
 */
static __always_inline void set_pte(pte_t *slot, pte_t v)
{
	__atomic_store_n(&slot->v, v.v, __ATOMIC_RELEASE);
}

/* This CPU alone forgets all, the kernel's global entries too; or one page of either half. Any context. */
void flush_tlb_local_all(void);
static __always_inline void flush_tlb_local_page(unsigned long va)
{
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

/*
 * Bytes written through the linear map will be executed. Instruction caches are coherent with stores by any
 * address (SDM vol. 3, 11.6), and the CPU that runs them next comes out of the kernel by IRET or SYSRET, or has
 * got the mapping only now: nothing was fetched before.
 */
static inline void arch_sync_icache(void *linear, size_t size)
{
	barrier();
}
