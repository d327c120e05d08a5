/*
 * Layout of the address space: 39-bit halves, three levels of 4 KiB tables.
 *
 *     0x0000000000000000  user (TTBR0)                                                512 GiB
 *     0xffffff8000000000  linear map: physical address + PAGE_OFFSET                  256 GiB
 *     0xffffffc000000000  vmalloc, ioremap, kernel stacks                             1936 MiB
 *     0xffffffc079000000  modules, within reach of a BL to the image                  112 MiB
 *     0xffffffc080000000  kernel image                                                at most 16 MiB
 *     0xfffffffeffe00000  fixmap: FDT, early console, patch window
 */
#pragma once

#define PAGE_SHIFT  12
#define PAGE_SIZE   (1 << PAGE_SHIFT)
#define PMD_SHIFT   21
#define PUD_SHIFT   30
#define PGDIR_SHIFT PUD_SHIFT /* what one entry of the top level maps */

#ifdef __ASSEMBLY__
#define _UL(x) x
#else
#define _UL(x) x##UL
#undef PAGE_SIZE
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PMD_SIZE  (1UL << PMD_SHIFT)
#define PUD_SIZE  (1UL << PUD_SHIFT)
#endif

#define PAGE_OFFSET   _UL(0xffffff8000000000)
#define LINEAR_END    _UL(0xffffffc000000000)
#define VMALLOC_START _UL(0xffffffc000000000)
#define VMALLOC_END   _UL(0xffffffc079000000)
#define MODULES_VADDR _UL(0xffffffc079000000)
#define MODULES_END   _UL(0xffffffc080000000)
#define FIXMAP_START  _UL(0xfffffffeffe00000)
#define TASK_SIZE     _UL(0x8000000000)

#ifndef __ASSEMBLY__
#include <lib/types.h>

/* Physical to linear and back. Only for RAM; an address in the image has __pa_symbol(). */
#define __va(pa) ((void *)((unsigned long)(pa) + PAGE_OFFSET))
#define __pa(va) ((phys_addr_t)((unsigned long)(va)-PAGE_OFFSET))

extern unsigned long kimage_voffset; /* image: virtual minus physical address [immutable, set before C] */
#define __pa_symbol(sym) ((phys_addr_t)((unsigned long)(sym)-kimage_voffset))

/* Whole pages at linear addresses; DC ZVA and 16-byte pairs. */
void clear_page(void *page);
void copy_page(void *to, const void *from);
#endif
