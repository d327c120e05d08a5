/* Ranges of the vmalloc space; users see <mm/vmalloc.h>. */
#pragma once

#include <asm/pgtable.h>
#include <lib/hole_tree.h>
#include <sched/spinlock.h>

/* Locks: v vmap_area_lock; I immutable once it is made. */
struct vmap_area {
	struct hole_node place;	  /* [v] by start */
	unsigned long start, end; /* [I] end includes the guard page */
	struct page **pages;	  /* [I] those that vfree frees; NULL: not ours */
	unsigned nr_pages;	  /* [I] */
};

/* Room for `size` bytes (whole pages), nothing mapped. NULL: out of memory or of room. Thread context. */
struct vmap_area *alloc_vmap_area(unsigned long size);
/* The area that starts there, NULL when there is none. Its owner keeps it from going away. */
struct vmap_area *find_vmap_area(unsigned long start);
/* Nothing is mapped in it any more, and no TLB remembers otherwise. */
void free_vmap_area(struct vmap_area *area);
unsigned long vmalloc_nr_pages(void);
