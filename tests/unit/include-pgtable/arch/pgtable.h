/* Entries of the page-table tests: what kernel/mm/pgtable.c and linear_map.c ask for, in bits of our own. */
#pragma once

#include <asm/page.h>

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

#define HOST_TABLE     1UL
#define HOST_LEAF      2UL
#define HOST_BLOCK     4UL
#define HOST_WRITE     8UL
#define PTE_ADDR_MASK  0x000ffffffffff000UL
#define PAGE_KERNEL    __pgprot(HOST_LEAF | HOST_WRITE)
#define PAGE_KERNEL_RO __pgprot(HOST_LEAF)

extern pgd_t *swapper_pg_dir;
extern unsigned host_user_entries; /* of a top level */
#define USER_PGD_ENTRIES host_user_entries

static inline bool entry_is_table(u64 entry)
{
	return entry & HOST_TABLE;
}
static inline u64 table_entry(phys_addr_t phys)
{
	return phys | HOST_TABLE;
}
static inline pte_t mk_block(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){phys | prot.v | HOST_BLOCK};
}
static inline pte_t mk_pte(phys_addr_t phys, pgprot_t prot)
{
	return (pte_t){phys | prot.v};
}
static inline bool pte_none(pte_t pte)
{
	return !pte.v;
}
static inline void set_pte(pte_t *slot, pte_t v)
{
	__atomic_store_n(&slot->v, v.v, __ATOMIC_RELEASE);
}
