/*
 * Areas of an address space: kept by address in a tree and in a list, split, and united. The tree finds an area by
 * address, the list its neighbours.
 *
 * The tree finds holes by size as well (lib/hole_tree.h). The hole below an area depends on the start of the area and
 * on the end of the one before it in the list, so code that changes one of the two must tell the tree: update_hole()
 * for the area, update_hole_above() for the next one.
 *
 * mmap_lock is held throughout [m].
 */
#include <mm/slab.h>

#include "vma.h"

static struct kmem_cache *vma_cache;

#define vma_of(n) rb_entry(n, struct vm_area_struct, place.node)

void vma_init(void)
{
	vma_cache = kmem_cache_create("vm_area_struct", sizeof(struct vm_area_struct), 0, SLAB_PANIC, NULL);
}

struct vm_area_struct *vma_alloc(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned flags)
{
	struct vm_area_struct *vma = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (vma)
		*vma = (struct vm_area_struct){.vm_start = start, .vm_end = end, .vm_flags = flags, .vm_mm = mm};
	return vma;
}

/* A copy counts as a shared mapping of its own (i_shared_writers), as vma_free() counts each one out. */
struct vm_area_struct *vma_dup(struct mm_struct *mm, const struct vm_area_struct *vma)
{
	struct vm_area_struct *copy = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (!copy)
		return NULL;
	*copy = *vma;
	copy->vm_mm = mm;
	if (copy->vm_file)
		get_file(copy->vm_file);
	if (vma_writes_shared(copy))
		atomic_inc(&copy->vm_file->f_inode->i_shared_writers);
	if (copy->vm_shm)
		shm_get(copy->vm_shm);
	return copy;
}

void vma_free(struct vm_area_struct *vma)
{
	if (vma_writes_shared(vma))
		atomic_dec(&vma->vm_file->f_inode->i_shared_writers);
	if (vma->vm_file)
		fput(vma->vm_file);
	if (vma->vm_shm)
		shm_put(vma->vm_shm);
	kmem_cache_free(vma_cache, vma);
}

/*
 * The lowest area that ends above addr; the way down goes left whenever an area qualifies, and stops early when it
 * contains addr.
 */
noinline struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr)
{
	struct rb_node *n = mm->areas.node, *found = NULL;

	while (n) {
		if (vma_of(n)->vm_end > addr) {
			found = n;
			if (vma_of(n)->vm_start <= addr)
				break;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return found ? vma_of(found) : NULL;
}

/* The lowest area that ends behind `start`, if it begins before `end`; areas above it begin later still. */
struct vm_area_struct *find_vma_intersection(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma(mm, start);

	return vma && vma->vm_start < end ? vma : NULL;
}

struct vm_area_struct *vma_prev(struct vm_area_struct *vma)
{
	return vma->list.prev == &vma->vm_mm->area_list ? NULL : list_prev_entry(vma, list);
}

struct vm_area_struct *vma_next(struct vm_area_struct *vma)
{
	return vma->list.next == &vma->vm_mm->area_list ? NULL : list_next_entry(vma, list);
}

/* The bytes between an area and the one before it that a mapping may use. */
static unsigned long hole_below(struct vm_area_struct *vma)
{
	struct vm_area_struct *prev = vma_prev(vma);
	unsigned long from = prev ? prev->vm_end : 0, to = start_with_gap(vma);

	return to > from ? to - from : 0;
}

/* The area's start, or the end of the one before it, has changed. */
static void update_hole(struct vm_area_struct *vma)
{
	hole_set(&vma->place, hole_below(vma));
}

/* The area's end has changed. */
static void update_hole_above(struct vm_area_struct *vma)
{
	struct vm_area_struct *next = vma_next(vma);

	if (next)
		update_hole(next);
}

struct vm_area_struct *vma_above_hole(struct mm_struct *mm, struct vm_area_struct *before, unsigned long len)
{
	struct hole_node *found = hole_highest(&mm->areas, before ? &before->place : NULL, len);

	return found ? vma_of(&found->node) : NULL;
}

/* Add to what is mapped, and to what is locked if the area is. */
static void count_pages(struct vm_area_struct *vma, long pages)
{
	vma->vm_mm->total_vm += pages;
	if (vma->vm_flags & VM_LOCKED)
		WRITE_ONCE(vma->vm_mm->locked_vm, vma->vm_mm->locked_vm + pages);
}

void vma_set_lock(struct vm_area_struct *vma, unsigned lock)
{
	count_pages(vma, -(long)vma_pages(vma));
	vma->vm_flags = (vma->vm_flags & ~VM_LOCK_MASK) | lock;
	count_pages(vma, vma_pages(vma));
}

/* The last node passed on its right side is the predecessor, so the place in the list comes from the walk. */
void vma_insert(struct mm_struct *mm, struct vm_area_struct *vma)
{
	struct rb_node **link = &mm->areas.node, *parent = NULL;
	struct list_head *before = &mm->area_list;

	while (*link) {
		parent = *link;
		if (vma->vm_start < vma_of(parent)->vm_start) {
			link = &parent->left;
		} else {
			link = &parent->right;
			before = &vma_of(parent)->list;
		}
	}
	list_add(&vma->list, before);
	hole_insert(&vma->place, hole_below(vma), parent, link, &mm->areas);
	update_hole_above(vma);
	mm->nr_areas++;
	count_pages(vma, vma_pages(vma));
}

/* The node of the copy of an area, which fork has noted in vma->dup. */
static struct rb_node *copy_of_node(struct rb_node *n)
{
	return n ? &vma_of(n)->dup->place.node : NULL;
}

/*
 * Nothing is searched or balanced: the copy gets the same shape and the same colours, and what a node knows about holes
 * came with the copied area.
 */
void vma_copy_tree(struct mm_struct *new, const struct mm_struct *old)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &old->area_list, list) {
		struct rb_node *n = &vma->dup->place.node, *from = &vma->place.node;

		n->left = copy_of_node(from->left);
		n->right = copy_of_node(from->right);
		n->parent_color = (unsigned long)copy_of_node(rb_parent(from)) | (from->parent_color & RB_BLACK);
	}
	new->areas.node = copy_of_node(old->areas.node);
	new->nr_areas = old->nr_areas;
	new->total_vm = old->total_vm;
}

void vma_remove(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->vm_mm;
	struct vm_area_struct *next = vma_next(vma);

	hole_erase(&vma->place, &mm->areas);
	list_del(&vma->list);
	if (next)
		update_hole(next);
	mm->nr_areas--;
	count_pages(vma, -(long)vma_pages(vma));
}

void vma_set_range(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	bool end_moves = vma->vm_end != end;

	count_pages(vma, (long)((end - start) >> PAGE_SHIFT) - (long)vma_pages(vma));
	vma->vm_start = start;
	vma->vm_end = end;
	update_hole(vma);
	if (end_moves)
		update_hole_above(vma);
}

/* No hole changes: the upper part ends where the whole area did. */
int vma_split(struct vm_area_struct *vma, unsigned long addr)
{
	struct mm_struct *mm = vma->vm_mm;
	struct vm_area_struct *upper;

	if (vma->vm_flags & VM_WHOLE)
		return -EINVAL;
	if (mm->nr_areas >= READ_ONCE(sysctl_max_map_count))
		return -ENOMEM;
	upper = vma_dup(mm, vma);
	if (!upper)
		return -ENOMEM;
	upper->vm_start = addr;
	upper->vm_pgoff += (addr - vma->vm_start) >> PAGE_SHIFT;
	count_pages(upper, -(long)vma_pages(upper)); /* the insertion counts them again */
	vma->vm_end = addr;
	vma_insert(mm, upper);
	return 0;
}

/* Would one area say the same as these two? */
static bool vma_can_merge(const struct vm_area_struct *low, const struct vm_area_struct *high)
{
	return low && high && low->vm_end == high->vm_start && low->vm_flags == high->vm_flags &&
	       low->vm_file == high->vm_file && low->vm_shm == high->vm_shm &&
	       ((!low->vm_file && !low->vm_shm) || low->vm_pgoff + vma_pages(low) == high->vm_pgoff);
}

/*
 * The lower area takes over the range of the higher one. Its end moves before the other is removed, so that the tree
 * never sees a hole between them.
 */
static void absorb(struct vm_area_struct *low, struct vm_area_struct *high)
{
	count_pages(low, vma_pages(high)); /* its removal counts them out */
	low->vm_end = high->vm_end;
	vma_remove(high);
	vma_free(high);
}

/* The upper neighbour first, because then `vma` still stands for both when the lower one takes it. */
struct vm_area_struct *vma_merge(struct vm_area_struct *vma)
{
	struct vm_area_struct *prev = vma_prev(vma), *next = vma_next(vma);

	if (vma_can_merge(vma, next))
		absorb(vma, next);
	if (!vma_can_merge(prev, vma))
		return vma;
	absorb(prev, vma);
	return prev;
}
