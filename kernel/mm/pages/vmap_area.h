/* Ranges of the vmalloc space. Users see <mm/vmalloc.h>; vmap_area.c hands the ranges out. */
#pragma once

#include <arch/pgtable.h>
#include <lib/hole_tree.h>
#include <sched/spinlock.h>

/* Locks: v vmap_area_lock; I immutable once it is made. */
struct vmap_area {
	struct hole_node place;	  /* [v] by start */
	unsigned long start, end; /* [I] end includes the guard page */
	struct page **pages;	  /* [I] the pages that vfree frees; NULL: they belong to someone else */
	unsigned nr_pages;	  /* [I] */
};

/* A range of addresses that areas are handed out from. Locks: v vmap_area_lock; I immutable. */
struct vmap_space {
	struct rb_root areas;	  /* [v] by start */
	unsigned long top;	  /* [v] the end of the last area */
	unsigned long start, end; /* [I] of the range */
};
extern struct vmap_space vmalloc_space, module_space;

/* Room for `size` bytes (whole pages), nothing mapped. NULL: out of memory or of room. Thread context. */
struct vmap_area *alloc_vmap_area(struct vmap_space *space, unsigned long size);
/* The area that starts there, or NULL. Its owner keeps it from going away. Any context but nmi. */
struct vmap_area *find_vmap_area(unsigned long start);
/* Nothing must be mapped in it any more, and no TLB must remember otherwise. Thread context. */
void free_vmap_area(struct vmap_area *area);
unsigned long vmalloc_nr_pages(void); /* in all areas, without guard pages. Any context */

/* vmalloc.c: map a page of an area; its slot was empty. 0 or -ENOMEM. Thread context, boot. */
int vmap_page(unsigned long addr, phys_addr_t phys, pgprot_t prot);
/* Unmap all pages of an area, on every CPU, and give the addresses back. Thread context, no lock of interrupts held. */
void remove_vmap_area(struct vmap_area *area);
