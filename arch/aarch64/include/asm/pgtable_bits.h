/* Bits of a translation table entry (Arm ARM D8.3.1, D8.3.2). Also read by assembly: macros only. */
#pragma once

#include <asm/page.h>
#include <asm/sysreg.h>

#define PTE_VALID     (_UL(1) << 0)
#define PTE_TABLE     (_UL(3) << 0)  /* levels 1 and 2: points to a table */
#define PTE_PAGE      (_UL(3) << 0)  /* level 3: a page */
#define PTE_BLOCK     (_UL(1) << 0)  /* level 2: 2 MiB */
#define PTE_ATTR(mt)  (_UL(mt) << 2) /* AttrIndx: byte of MAIR */
#define PTE_USER      (_UL(1) << 6)  /* AP[1]: EL0 may */
#define PTE_RDONLY    (_UL(1) << 7)  /* AP[2] */
#define PTE_SH_INNER  (_UL(3) << 8)
#define PTE_AF	      (_UL(1) << 10) /* access flag */
#define PTE_NG	      (_UL(1) << 11) /* belongs to one ASID */
#define PTE_PXN	      (_UL(1) << 53) /* EL1 may not execute */
#define PTE_UXN	      (_UL(1) << 54) /* EL0 may not */
#define PTE_SW_DIRTY  (_UL(1) << 55) /* ours: was writable once */
#define PTE_PROT_NONE (_UL(1) << 58) /* ours: a page is here but nobody may touch it; VALID is 0 */
#define PTE_ADDR_MASK _UL(0x0000fffffffff000)

#define PROT_NORMAL	(PTE_PAGE | PTE_ATTR(MT_NORMAL) | PTE_SH_INNER | PTE_AF)
#define PROT_KERNEL	(PROT_NORMAL | PTE_PXN | PTE_UXN)
#define PROT_KERNEL_RO	(PROT_KERNEL | PTE_RDONLY)
#define PROT_KERNEL_ROX (PROT_NORMAL | PTE_UXN | PTE_RDONLY)
#define PROT_DEVICE	(PTE_PAGE | PTE_ATTR(MT_DEVICE_nGnRE) | PTE_SH_INNER | PTE_AF | PTE_PXN | PTE_UXN)
#define PROT_USER	(PROT_NORMAL | PTE_NG | PTE_USER | PTE_PXN)
#define PROT_USER_NONE	(PTE_PROT_NONE | (PROT_USER & ~PTE_VALID) | PTE_UXN | PTE_RDONLY)
