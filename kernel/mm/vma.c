/* Areas of an address space: a tree and a list by address, splitting and uniting. mmap_lock is held
 * throughout. */
#include <mm/slab.h>

#include "vma.h"

static struct kmem_cache *vma_cache;

#define vma_of(n) rb_entry(n, struct vm_area_struct, node)

void vma_init(void)
{
	vma_cache = kmem_cache_create("vm_area_struct", sizeof(struct vm_area_struct), 0, SLAB_PANIC, NULL);
}

struct vm_area_struct *vma_alloc(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned flags)
{
	struct vm_area_struct *vma = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (vma)
		*vma = (struct vm_area_struct){
			.vm_start = start, .vm_end = end, .vm_flags = flags, .vm_mm = mm};
	return vma;
}

struct vm_area_struct *vma_dup(struct mm_struct *mm, const struct vm_area_struct *vma)
{
	struct vm_area_struct *copy = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (!copy)
		return NULL;
	*copy = *vma;
	copy->vm_mm = mm;
	if (copy->vm_file)
		get_file(copy->vm_file);
	if (copy->vm_shm)
		shm_get(copy->vm_shm);
	return copy;
}

void vma_free(struct vm_area_struct *vma)
{
	if (vma->vm_file)
		fput(vma->vm_file);
	if (vma->vm_shm)
		shm_put(vma->vm_shm);
	kmem_cache_free(vma_cache, vma);
}

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
			before = &vma_of(parent)
					  ->list; /* the last one we pass on its right is our predecessor */
		}
	}
	rb_link_node(&vma->node, parent, link);
	rb_insert_color(&vma->node, &mm->areas);
	list_add(&vma->list, before);
	mm->nr_areas++;
	mm->total_vm += vma_pages(vma);
}

void vma_remove(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->vm_mm;

	rb_erase(&vma->node, &mm->areas);
	list_del(&vma->list);
	mm->nr_areas--;
	mm->total_vm -= vma_pages(vma);
}

int vma_split(struct vm_area_struct *vma, unsigned long addr)
{
	struct mm_struct *mm = vma->vm_mm;
	struct vm_area_struct *upper;

	if (mm->nr_areas >= MAX_MAP_COUNT)
		return -ENOMEM;
	upper = vma_dup(mm, vma);
	if (!upper)
		return -ENOMEM;
	upper->vm_start = addr;
	upper->vm_pgoff += (addr - vma->vm_start) >> PAGE_SHIFT;
	mm->total_vm -= vma_pages(upper); /* the insertion counts them again */
	vma->vm_end = addr;
	vma_insert(mm, upper);
	return 0;
}

/* Would one area say the same as these two? */
static bool can_merge(const struct vm_area_struct *low, const struct vm_area_struct *high)
{
	return low && high && low->vm_end == high->vm_start && low->vm_flags == high->vm_flags &&
	       low->vm_file == high->vm_file && low->vm_shm == high->vm_shm &&
	       ((!low->vm_file && !low->vm_shm) || low->vm_pgoff + vma_pages(low) == high->vm_pgoff);
}

static void absorb(struct vm_area_struct *low, struct vm_area_struct *high)
{
	struct mm_struct *mm = low->vm_mm;
	unsigned long pages = vma_pages(high);

	vma_remove(high);
	low->vm_end = high->vm_end;
	mm->total_vm += pages;
	vma_free(high);
}

struct vm_area_struct *vma_merge(struct vm_area_struct *vma)
{
	struct vm_area_struct *prev = vma_prev(vma), *next = vma_next(vma);

	if (can_merge(vma, next))
		absorb(vma, next);
	if (!can_merge(prev, vma))
		return vma;
	absorb(prev, vma);
	return prev;
}
