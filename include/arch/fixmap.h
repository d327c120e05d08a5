/* Mapping a page at a fixed address, before there is an allocator or for a moment. <asm/fixmap.h> has the slots. */
#pragma once

#include <asm/fixmap.h>

/* Boot, first of all: hang the fixmap's tables into the kernel's. */
void fixmap_init(void);
/*
 * Map a page (prot: of a leaf of 4 KiB), or with prot 0 unmap. Only this CPU forgets what its TLB held of the slot:
 * another CPU may use it only after a set_fixmap of its own. Callers serialise per slot. Any context.
 */
void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot);
/* The table of the slots, for kernel/mm/pages/fixmap.c. */
extern pte_t fixmap_pte[FIX_SLOTS];
