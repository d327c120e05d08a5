/*
 * Address space for vmalloc: areas in a tree by address, each followed by an unmapped guard page. A new one takes the
 * lowest hole that is large enough (lib/hole_tree.h), so that page tables, which are never given back, are used again.
 *
 * There are two spaces of addresses: one for vmalloc, and one for modules within reach of the kernel's calls.
 * A space's tree knows the hole below each area. The free space behind the last area is no hole of the tree; `top` is
 * its beginning.
 */
#include "vmap_area.h"

#include <lib/errno.h>
#include <mm/slab.h>

/* Locks: v vmap_area_lock, taken with interrupts off. */
static DEFINE_SPINLOCK(vmap_area_lock);
static unsigned long vmap_pages; /* [v] in areas, guard pages not counted */
struct vmap_space vmalloc_space = {.top = VMALLOC_START, .start = VMALLOC_START, .end = VMALLOC_END};
struct vmap_space module_space = {.top = MODULES_VADDR, .start = MODULES_VADDR, .end = MODULES_END};

#define area_of(n) rb_entry(n, struct vmap_area, place.node)

static struct vmap_space *space_of(unsigned long addr)
{
	return addr >= module_space.start && addr < module_space.end ? &module_space : &vmalloc_space;
}

/* [v] The area that starts at this address, or NULL. */
static struct vmap_area *area_at(unsigned long start)
{
	struct rb_node *n = space_of(start)->areas.node;

	while (n && area_of(n)->start != start)
		n = start < area_of(n)->start ? n->left : n->right;
	return n ? area_of(n) : NULL;
}

/* [v] No hole is left below the area: it stands at the lower end of the hole that it came from. */
static void insert_area(struct vmap_space *space, struct vmap_area *area)
{
	struct rb_node **link = &space->areas.node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = area->start < area_of(parent)->start ? &parent->left : &parent->right;
	}
	hole_insert(&area->place, 0, parent, link, &space->areas);
	vmap_pages += ((area->end - area->start) >> PAGE_SHIFT) - 1;
}

/*
 * [v] Choose the place: the lower end of the lowest hole that is large enough, or behind the last area. False: no room.
 */
static bool place_area(struct vmap_space *space, struct vmap_area *area, unsigned long size)
{
	struct hole_node *above = hole_lowest(&space->areas, size);

	if (!above && size > space->end - space->top)
		return false;
	area->start = above ? area_of(&above->node)->start - above->hole : space->top;
	area->end = area->start + size;
	if (above)
		hole_set(above, above->hole - size);
	else
		space->top = area->end;
	insert_area(space, area);
	return true;
}

/* The structure is allocated before the lock is taken, since interrupts are off under it. */
struct vmap_area *alloc_vmap_area(struct vmap_space *space, unsigned long size)
{
	struct vmap_area *area = kzalloc(sizeof(*area), GFP_KERNEL);
	unsigned long flags;
	bool placed;

	if (!area)
		return NULL;
	spin_lock_irqsave(&vmap_area_lock, flags);
	placed = place_area(space, area, size + PAGE_SIZE /* the guard */);
	spin_unlock_irqrestore(&vmap_area_lock, flags);
	if (placed)
		return area;
	kfree(area);
	return NULL;
}

struct vmap_area *find_vmap_area(unsigned long start)
{
	struct vmap_area *area;
	unsigned long flags;

	spin_lock_irqsave(&vmap_area_lock, flags);
	area = area_at(start);
	spin_unlock_irqrestore(&vmap_area_lock, flags);
	return area;
}

/*
 * The range and the hole below it are added to the hole of the area above or, if this was the last area, to the free
 * space behind.
 */
void free_vmap_area(struct vmap_area *area)
{
	struct vmap_space *space = space_of(area->start);
	struct rb_node *above;
	unsigned long flags;

	spin_lock_irqsave(&vmap_area_lock, flags);
	above = rb_next(&area->place.node);
	hole_erase(&area->place, &space->areas);
	if (above)
		hole_set(hole_of(above), area_of(above)->start - area->start + area->place.hole);
	else
		space->top = area->start - area->place.hole;
	vmap_pages -= ((area->end - area->start) >> PAGE_SHIFT) - 1;
	spin_unlock_irqrestore(&vmap_area_lock, flags);
	kfree(area);
}

unsigned long vmalloc_nr_pages(void)
{
	return READ_ONCE(vmap_pages);
}
