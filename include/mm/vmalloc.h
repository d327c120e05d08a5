/* Kernel virtual memory: ranges made of scattered pages, device mappings, stacks with guard pages. */
#pragma once

#include <asm/pgtable.h>
#include <lib/types.h>

struct page;
/* Page-granular; an unmapped guard page follows every area. NULL when out of memory. Thread context. */
void *vmalloc(unsigned long size);
void *vzalloc(unsigned long size);
void vfree(const void *addr);
/* Map given pages contiguously; vunmap leaves the pages alone. */
void *vmap(struct page **pages, unsigned n, pgprot_t prot);
void vunmap(const void *addr);
/* Device memory, uncached. Boot (after vmalloc_init) or thread. NULL on failure. */
void *ioremap(phys_addr_t phys, unsigned long size);
void iounmap(void *addr);
bool is_vmalloc_addr(const void *p);
struct page *vmalloc_to_page(const void *p);
/* THREAD_SIZE bytes with a guard page below; a small per-CPU cache makes fork cheap. free: any context. */
void *alloc_thread_stack(void);
void free_thread_stack(void *stack);
void vmalloc_init(void); /* boot */
