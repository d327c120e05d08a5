/*
 * Layout of the address space: 48-bit, four levels of 4 KiB tables, all in one tree.
 *
 *     0x0000000000000000  user, but for the last page below the hole                  128 TiB
 *     0xffff888000000000  linear map: physical address + PAGE_OFFSET                   64 TiB
 *     0xffffc90000000000  vmalloc, ioremap, kernel stacks                             512 GiB
 *     0xffffffff80000000  kernel image at 2 MiB, as in physical memory                512 MiB
 *     0xffffffffa0000000  modules, within reach of a CALL to the image               1520 MiB
 *     0xffffffffffa00000  fixmap: early console, patch window
 */
#pragma once

#define PAGE_SHIFT  12
#define PAGE_SIZE   (1 << PAGE_SHIFT)
#define PMD_SHIFT   21
#define PUD_SHIFT   30
#define PGDIR_SHIFT 39 /* what one entry of the top level maps */

#ifdef __ASSEMBLY__
#define _UL(x) x
#else
#define _UL(x) x##UL
#undef PAGE_SIZE
#define PAGE_SIZE  (1UL << PAGE_SHIFT)
#define PAGE_MASK  (~(PAGE_SIZE - 1))
#define PMD_SIZE   (1UL << PMD_SHIFT)
#define PUD_SIZE   (1UL << PUD_SHIFT)
#define PGDIR_SIZE (1UL << PGDIR_SHIFT)
#endif

#define PAGE_OFFSET   _UL(0xffff888000000000)
#define LINEAR_END    _UL(0xffffc88000000000)
#define VMALLOC_START _UL(0xffffc90000000000)
#define VMALLOC_END   _UL(0xffffc98000000000)
#define MODULES_VADDR _UL(0xffffffffa0000000)
#define MODULES_END   _UL(0xffffffffff000000)
#define FIXMAP_START  _UL(0xffffffffffa00000)
/*
 * The last page of the lower half stays free: a SYSCALL at its end would return to an address that SYSRET
 * takes badly.
 */
#define TASK_SIZE _UL(0x00007ffffffff000)

#ifndef __ASSEMBLY__
#include <asm/linker.h>
#include <lib/types.h>

/* Physical to linear and back. Only for RAM; an address in the image has __pa_symbol(). */
#define __va(pa) ((void *)((unsigned long)(pa) + PAGE_OFFSET))
#define __pa(va) ((phys_addr_t)((unsigned long)(va)-PAGE_OFFSET))

/* The image is never moved from where it is linked to be loaded. */
#define __pa_symbol(sym) ((phys_addr_t)((unsigned long)(sym)-LOAD_OFFSET))

/* Whole pages at linear addresses, by REP STOSQ and REP MOVSQ. */
void clear_page(void *page);
void copy_page(void *to, const void *from);
#endif
