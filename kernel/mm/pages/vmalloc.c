/*
 * Kernel memory that is contiguous in virtual addresses only: vmalloc (pages of its own) and vmap (pages of the
 * caller's). vmap_area.c finds the addresses; this file maps and unmaps them in the kernel's page tables, which all
 * address spaces share. ioremap.c maps device memory.
 *
 * An area is private to its owner between alloc_vmap_area() and free_vmap_area(), so its leaf entries need no lock.
 * Each area is followed by an unmapped page, so that an overrun faults.
 */
#include <kernel/export.h>
#include <mm/vmalloc.h>

#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/oom.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/task.h>

#include "thread_stack.h"
#include "vmap_area.h"

bool is_vmalloc_addr(const void *p)
{
	return (unsigned long)p >= VMALLOC_START && (unsigned long)p < VMALLOC_END;
}

bool is_module_addr(const void *p)
{
	return (unsigned long)p >= MODULES_VADDR && (unsigned long)p < MODULES_END;
}

/* The slot was empty and no TLB knows it, so nothing is flushed. */
int vmap_page(unsigned long addr, phys_addr_t phys, pgprot_t prot)
{
	pte_t *slot = pte_alloc(init_mm.pgd, addr);

	if (!slot)
		return -ENOMEM;
	set_pte(slot, mk_pte(phys, prot));
	return 0;
}

/*
 * Empty the entries, and flush before the range or its pages can be used for something else. The flush is eager. A lazy
 * one would save a broadcast for each vfree, but a stale translation of a freed stack is a bug that no one can find.
 */
static void unmap_range(unsigned long start, unsigned long end)
{
	for (unsigned long addr = start; addr < end; addr += PAGE_SIZE) {
		pte_t *slot = pte_lookup(init_mm.pgd, addr);

		if (slot)
			ptep_get_and_clear(slot);
	}
	flush_tlb_kernel_range(start, end);
}

/* All but the guard page, which never was mapped. */
void remove_vmap_area(struct vmap_area *area)
{
	unmap_range(area->start, area->end - PAGE_SIZE);
	free_vmap_area(area);
}

/* Map n pages behind `lead` bytes. After a failure nothing is mapped, and the area is gone. */
static int map_area_pages(struct vmap_area *area, unsigned long lead, struct page **pages, unsigned n, pgprot_t prot)
{
	for (unsigned i = 0; i < n; i++) {
		if (vmap_page(area->start + lead + i * PAGE_SIZE, page_to_phys(pages[i]), prot)) {
			remove_vmap_area(area);
			return -ENOMEM;
		}
	}
	return 0;
}

static void free_page_array(struct page **pages, unsigned n)
{
	while (n--)
		put_page(pages[n]);
	kfree(pages);
}

/* n single pages, or NULL. Single pages can be had when memory is fragmented. */
static struct page **alloc_page_array(unsigned n, gfp_t gfp)
{
	struct page **pages = kmalloc(n * sizeof(*pages), gfp & ~__GFP_ZERO);
	bool large = n > LARGE_VMALLOC;

	for (unsigned i = 0; pages && i < n; i++) {
		pages[i] = large && large_request_dead() ? NULL : alloc_page(gfp);
		if (!pages[i]) {
			free_page_array(pages, i);
			return NULL;
		}
	}
	return pages;
}

/* The same for many, which must be available before the first is taken. */
static struct page **alloc_large_page_array(unsigned n, gfp_t gfp)
{
	struct page **pages;

	if (large_request_begin(n))
		return NULL;
	pages = alloc_page_array(n, gfp);
	large_request_end();
	return pages;
}

/*
 * `size` bytes behind `lead` bytes (0 or a page) that stay unmapped, or NULL. map_area_pages() removes the area when it
 * fails, so both failures only have to free the pages.
 */
static void *vmalloc_area(struct vmap_space *space, unsigned long size, unsigned long lead, gfp_t gfp)
{
	unsigned long n = DIV_ROUND_UP(size, PAGE_SIZE);
	struct vmap_area *area;
	struct page **pages;

	if (!n || n > totalram_pages())
		return NULL;
	pages = n > LARGE_VMALLOC ? alloc_large_page_array(n, gfp) : alloc_page_array(n, gfp);
	if (!pages)
		return NULL;
	area = alloc_vmap_area(space, lead + (n << PAGE_SHIFT));
	if (!area)
		goto free_pages;
	if (map_area_pages(area, lead, pages, n, PAGE_KERNEL))
		goto free_pages;
	area->pages = pages;
	area->nr_pages = n;
	return (void *)(area->start + lead);

free_pages:
	free_page_array(pages, n);
	return NULL;
}

void *__vmalloc(unsigned long size, gfp_t gfp)
{
	return vmalloc_area(&vmalloc_space, size, 0, gfp);
}

noinline void *vmalloc(unsigned long size)
{
	return __vmalloc(size, GFP_KERNEL);
}
EXPORT_SYMBOL(vmalloc);

noinline void *vzalloc(unsigned long size)
{
	return __vmalloc(size, GFP_KERNEL | __GFP_ZERO);
}
EXPORT_SYMBOL(vzalloc);

void *module_alloc(unsigned long size)
{
	return vmalloc_area(&module_space, size, 0, GFP_KERNEL | __GFP_ZERO);
}

/* Rights alone change, so the old entry need not be broken before the new one is made (Arm ARM D8.13.1). */
void vmalloc_protect(const void *addr, unsigned long size, pgprot_t prot)
{
	unsigned long start = (unsigned long)addr, end = start + size;

	for (unsigned long at = start; at < end; at += PAGE_SIZE) {
		pte_t *slot = pte_lookup(init_mm.pgd, at);

		set_pte(slot, mk_pte(pte_phys(*slot), prot));
	}
	flush_tlb_kernel_range(start, end);
}

/*
 * What vfree and vunmap have in common. An address at which no area starts is reported and left alone.
 * area->pages is NULL where the pages belong to someone else.
 */
static void vfree_area(const void *addr, const char *what)
{
	struct vmap_area *area = find_vmap_area((unsigned long)addr);
	struct page **pages;
	unsigned n;

	if (!area) {
		pr_err("BUG: %s of %px, where no area starts\n", what, addr);
		dump_stack();
		return;
	}
	pages = area->pages;
	n = area->nr_pages;
	remove_vmap_area(area);
	if (pages)
		free_page_array(pages, n);
}

noinline void vfree(const void *addr)
{
	if (addr)
		vfree_area(addr, "vfree");
}
EXPORT_SYMBOL(vfree);

/* The page below the stack stays unmapped, so that an overflow faults; the guard page of the area lies above it. */
void *vmalloc_stack(void)
{
	return vmalloc_area(&vmalloc_space, THREAD_SIZE, PAGE_SIZE, GFP_KERNEL);
}

void vfree_stack(void *stack)
{
	vfree_area((char *)stack - PAGE_SIZE, "vfree_stack");
}

noinline void vunmap(const void *addr)
{
	if (addr)
		vfree_area(addr, "vunmap");
}

void *vmap(struct page **pages, unsigned n, pgprot_t prot)
{
	struct vmap_area *area = n ? alloc_vmap_area(&vmalloc_space, (unsigned long)n << PAGE_SHIFT) : NULL;

	if (!area || map_area_pages(area, 0, pages, n, prot))
		return NULL;
	return (void *)area->start;
}

/*
 * Boot, once pages and slabs work. The first tables of the range exist from here on; further ones come as they are
 * needed.
 */
void vmalloc_init(void)
{
	if (!pte_alloc(init_mm.pgd, VMALLOC_START))
		panic("vmalloc_init: no page table");
}

/* NULL also for device memory, which has no struct page. */
struct page *vmalloc_to_page(const void *p)
{
	pte_t *slot = is_vmalloc_addr(p) || is_module_addr(p) ? pte_lookup(init_mm.pgd, (unsigned long)p) : NULL;
	pte_t pte = slot ? READ_ONCE(*slot) : (pte_t){0};

	return pte_present(pte) && pfn_valid(pte_phys(pte) >> PAGE_SHIFT) ? phys_to_page(pte_phys(pte)) : NULL;
}
