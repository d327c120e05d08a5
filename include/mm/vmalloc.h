/* Kernel virtual memory: ranges made of scattered pages, device mappings, stacks with guard pages. */
#pragma once

#include <arch/pgtable.h>
#include <lib/types.h>
#include <mm/gfp.h>

struct page;
/*
 * Whole pages; an unmapped guard page follows each area. More than LARGE_VMALLOC pages are a large request
 * (large_request_begin). NULL when out of memory. Thread context, vfree too.
 */
#define LARGE_VMALLOC 256
void *vmalloc(unsigned long size);
void *vzalloc(unsigned long size);
void *__vmalloc(unsigned long size, gfp_t gfp); /* the same with these flags */
void vfree(const void *addr);
/* Map given pages contiguously; vunmap leaves the pages alone. */
void *vmap(struct page **pages, unsigned n, pgprot_t prot);
void vunmap(const void *addr);
/* Device memory, uncached. NULL on failure. Boot (after vmalloc_init) or thread context. */
void *ioremap(phys_addr_t phys, unsigned long size);
void iounmap(void *addr);
/*
 * Memory for a module: zeroed, from the range that the kernel's calls reach; vfree frees it. NULL when out of memory.
 * Thread context.
 */
void *module_alloc(unsigned long size);
/*
 * Give whole mapped pages of vmalloc or module_alloc other rights, in force on every CPU on return. The pages' places
 * in the linear map stay writable. Thread context.
 */
void vmalloc_protect(const void *addr, unsigned long size, pgprot_t prot);
/* Is the address in the range of module_alloc? This says nothing about what is mapped there. Any context. */
bool is_module_addr(const void *p);
/* Is the address in the range of vmalloc? This says nothing about what is mapped there. Any context. */
bool is_vmalloc_addr(const void *p);
/* The page behind an address of vmalloc, vmap or module_alloc; NULL for other addresses. Any context. */
struct page *vmalloc_to_page(const void *p);
/*
 * A kernel stack: THREAD_SIZE bytes with an unmapped page below, or NULL. A small per-CPU cache makes fork cheap.
 * alloc: thread context; free: any context but nmi.
 */
void *alloc_thread_stack(void);
void free_thread_stack(void *stack);
void vmalloc_init(void); /* boot */
