/* Address space for vmalloc: areas in a tree by address, found by next fit, each followed by an unmapped
 * guard page. */
#include "vmap_area.h"

#include <lib/errno.h>
#include <mm/slab.h>

/* Locks: v vmap_area_lock, taken with interrupts off. */
static DEFINE_SPINLOCK(vmap_area_lock);
static struct rb_root vmap_areas; /* [v] */
static unsigned long vmap_hint =
	VMALLOC_START;		 /* [v] where the next search starts: behind the last area made */
static unsigned long vmap_pages; /* [v] in areas, guard pages not counted */

#define area_of(n) rb_entry(n, struct vmap_area, node)

/* The first area that ends above addr. [v] */
static struct vmap_area *first_area_above(unsigned long addr)
{
	struct rb_node *n = vmap_areas.node, *found = NULL;

	while (n) {
		if (area_of(n)->end > addr) {
			found = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return found ? area_of(found) : NULL;
}

/* The lowest gap of `size` bytes in [from, to); 0 when there is none. [v] */
static unsigned long find_gap(unsigned long from, unsigned long to, unsigned long size)
{
	struct vmap_area *area;
	struct rb_node *n;

	for (area = first_area_above(from); area; area = n ? area_of(n) : NULL) {
		if (area->start >= from + size)
			break;
		from = area->end;
		n = rb_next(&area->node);
	}
	return from + size <= to ? from : 0;
}

static void insert_area(struct vmap_area *area)
{
	struct rb_node **link = &vmap_areas.node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = area->start < area_of(parent)->start ? &parent->left : &parent->right;
	}
	rb_link_node(&area->node, parent, link);
	rb_insert_color(&area->node, &vmap_areas);
}

struct vmap_area *alloc_vmap_area(unsigned long size)
{
	struct vmap_area *area = kzalloc(sizeof(*area), GFP_KERNEL);
	unsigned long flags, start;

	if (!area)
		return NULL;
	size += PAGE_SIZE; /* the guard */
	spin_lock_irqsave(&vmap_area_lock, flags);
	/* Next fit: with many areas of one size (stacks) the first try nearly always succeeds at once. */
	start = find_gap(vmap_hint, VMALLOC_END, size);
	if (!start)
		start = find_gap(VMALLOC_START, VMALLOC_END, size);
	if (start) {
		area->start = start;
		area->end = vmap_hint = start + size;
		insert_area(area);
		vmap_pages += (size >> PAGE_SHIFT) - 1;
	}
	spin_unlock_irqrestore(&vmap_area_lock, flags);
	if (!start) {
		kfree(area);
		return NULL;
	}
	return area;
}

struct vmap_area *find_vmap_area(unsigned long start)
{
	struct vmap_area *area;
	unsigned long flags;

	spin_lock_irqsave(&vmap_area_lock, flags);
	area = first_area_above(start);
	spin_unlock_irqrestore(&vmap_area_lock, flags);
	return area && area->start == start ? area : NULL;
}

void free_vmap_area(struct vmap_area *area)
{
	unsigned long flags;

	spin_lock_irqsave(&vmap_area_lock, flags);
	rb_erase(&area->node, &vmap_areas);
	vmap_pages -= ((area->end - area->start) >> PAGE_SHIFT) - 1;
	spin_unlock_irqrestore(&vmap_area_lock, flags);
	kfree(area);
}

unsigned long vmalloc_nr_pages(void)
{
	return READ_ONCE(vmap_pages);
}
