/* Bits of a paging-structure entry (SDM vol. 3, tables 4-15 to 4-20). Also read by assembly: macros only. */
#pragma once

#include <asm/page.h>

#define PTE_PRESENT   (_UL(1) << 0)
#define PTE_RW	      (_UL(1) << 1)
#define PTE_USER      (_UL(1) << 2)
#define PTE_PWT	      (_UL(1) << 3)
#define PTE_PCD	      (_UL(1) << 4)
#define PTE_ACCESSED  (_UL(1) << 5)
#define PTE_DIRTY     (_UL(1) << 6) /* leaves only */
#define PTE_PSE	      (_UL(1) << 7) /* above the last level: a leaf (2 MiB, 1 GiB) */
#define PTE_GLOBAL    (_UL(1) << 8) /* leaves only: survives a load of CR3 */
#define PTE_PROT_NONE (_UL(1) << 9) /* ours: a page is here but nobody may touch it; PRESENT is 0 */
#define PTE_NX	      (_UL(1) << 63)
#define PTE_ADDR_MASK _UL(0x000ffffffffff000)

/*
 * The hardware sets ACCESSED and DIRTY by itself, in entries that another CPU may be changing: fork reads an entry and
 * write-protects it, while another thread writes to the page. The store would lose the bit that the hardware has set in
 * between. We leave it nothing to set: what we make present is ACCESSED, and what is writable DIRTY, from the start. So
 * the walker only reads, and no store of ours can lose anything. aarch64 does the same, as its baseline has no such
 * hardware.
 */
#define PTE_TABLE	 (PTE_PRESENT | PTE_RW | PTE_USER | PTE_ACCESSED) /* the leaf decides */
#define PTE_KERNEL_TABLE (PTE_PRESENT | PTE_RW | PTE_ACCESSED)
#define PROT_KERNEL_RO	 (PTE_PRESENT | PTE_ACCESSED | PTE_GLOBAL | PTE_NX)
#define PROT_KERNEL	 (PROT_KERNEL_RO | PTE_RW | PTE_DIRTY)
#define PROT_KERNEL_ROX	 (PTE_PRESENT | PTE_ACCESSED | PTE_GLOBAL)
/* PAT as at reset (SDM vol. 3, table 11-12): PCD and PWT choose entry 3, uncacheable. */
#define PROT_DEVICE    (PROT_KERNEL | PTE_PCD | PTE_PWT)
#define PROT_USER      (PTE_PRESENT | PTE_USER | PTE_ACCESSED)
#define PROT_USER_NONE (PTE_PROT_NONE | PTE_USER | PTE_ACCESSED | PTE_NX)
