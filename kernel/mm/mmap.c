/* mmap, munmap and brk: making, placing and removing areas. */
#include <lib/string.h>
#include <sched/sched.h>
#include <uapi/mman.h>
#include <uapi/mount.h>

#include "vma.h"

static_assert(VM_READ == PROT_READ && VM_WRITE == PROT_WRITE && VM_EXEC == PROT_EXEC, "one bit, one meaning");

unsigned sysctl_max_map_count = 65530;

unsigned prot_to_vm_flags(unsigned prot)
{
	return prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
}

static bool range_is_free(struct mm_struct *mm, unsigned long addr, unsigned long len)
{
	struct vm_area_struct *vma;

	if (addr < MMAP_MIN_ADDR || len > TASK_SIZE || addr > TASK_SIZE - len)
		return false;
	vma = find_vma(mm, addr);
	return !vma || addr + len <= start_with_gap(vma);
}

/*
 * Top down: the highest hole below mmap_base. The one that the base cuts is looked at by itself, all others
 * by the tree. Areas above the base (the stack) only matter by their distance.
 */
static long search_top_down(struct mm_struct *mm, unsigned long len)
{
	struct vm_area_struct *above = find_vma(mm, mm->mmap_base), *below;
	unsigned long top = above ? min(mm->mmap_base, start_with_gap(above)) : mm->mmap_base;

	below = above			     ? vma_prev(above)
		: list_empty(&mm->area_list) ? NULL
					     : list_last_entry(&mm->area_list, struct vm_area_struct, list);
	if (below && below->vm_end + len > top) {
		above = vma_above_hole(mm, above, len);
		if (!above)
			return -ENOMEM;
		top = start_with_gap(above);
	}
	return top >= len && top - len >= MMAP_MIN_ADDR ? (long)(top - len) : -ENOMEM;
}

long get_unmapped_area(struct mm_struct *mm, unsigned long addr, unsigned long len)
{
	addr = ALIGN(addr, PAGE_SIZE);
	return addr && range_is_free(mm, addr, len) ? (long)addr : search_top_down(mm, len);
}

/* Cut areas at the edges of the range, so that it consists of whole ones. */
static int split_at_edges(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, start, end);
	int err;

	if (vma && vma->vm_start < start) {
		err = vma_split(vma, start);
		if (err)
			return err;
	}
	vma = find_vma_intersection(mm, end - 1, end);
	return vma && vma->vm_end > end ? vma_split(vma, end) : 0;
}

/*
 * A thread that faults in the range while we hold the lock waits; it then finds no area and gets its signal.
 * One that was before us has its page installed, and zap_range takes it.
 */
int unmap_locked(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma, *next;
	int err;

	if (!find_vma_intersection(mm, start, end))
		return 0;
	err = split_at_edges(mm, start, end);
	if (err)
		return err;
	zap_range(mm, start, end);
	for (vma = find_vma(mm, start); vma && vma->vm_start < end; vma = next) {
		next = vma_next(vma);
		vma_remove(vma);
		vma_free(vma);
	}
	return 0;
}

int do_munmap(struct mm_struct *mm, unsigned long addr, unsigned long len)
{
	int err;

	if (addr & ~PAGE_MASK || !len || len > TASK_SIZE || addr > TASK_SIZE - len)
		return -EINVAL;
	mutex_lock(&mm->mmap_lock);
	err = unmap_locked(mm, addr, addr + ALIGN(len, PAGE_SIZE));
	mutex_unlock(&mm->mmap_lock);
	return err;
}

/* VM_* flags of a new mapping, after checking what the file allows. -errno, positive flags else. */
static int mapping_flags(struct file *file, unsigned prot, unsigned flags)
{
	unsigned vm_flags = prot_to_vm_flags(prot) | VM_MAYWRITE, type = flags & MAP_TYPE;

	if (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE)
		return -EINVAL;
	if (type != MAP_PRIVATE)
		vm_flags |= VM_SHARED;
	if (flags & MAP_GROWSDOWN)
		vm_flags |= VM_GROWSDOWN;
	if (!file)
		return vm_flags;
	if (!(file->f_mode & FMODE_READ))
		return -EACCES;
	if (vm_flags & VM_SHARED && !(file->f_mode & FMODE_WRITE)) {
		if (prot & PROT_WRITE)
			return -EACCES;
		vm_flags &= ~VM_MAYWRITE;
	}
	if (vm_flags & VM_GROWSDOWN)
		return -EINVAL;
	if (file->f_mnt && (file->f_mnt->mnt_flags & MS_NOEXEC)) {
		if (prot & PROT_EXEC)
			return -EPERM;
		vm_flags |= VM_NOEXEC;
	}
	return file->f_op->get_page ? (int)vm_flags : -ENODEV;
}

/* More private memory than there is can only fail later, and worse: refuse what is plainly too much. */
static bool plainly_too_much(unsigned long len, unsigned vm_flags)
{
	return (vm_flags & (VM_WRITE | VM_SHARED)) == VM_WRITE && len >> PAGE_SHIFT > totalram_pages();
}

/* Settle where it goes. [m] */
static long place_mapping(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned flags)
{
	if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
		return get_unmapped_area(mm, addr, len);
	if (addr & ~PAGE_MASK)
		return -EINVAL;
	if (addr > TASK_SIZE - len)
		return -ENOMEM;
	if (addr < MMAP_MIN_ADDR)
		return -EPERM;
	if (flags & MAP_FIXED_NOREPLACE && find_vma_intersection(mm, addr, addr + len))
		return -EEXIST;
	return addr;
}

/* What backs the area: a reference on the file, or new shared pages; then the file may have its say. */
static int back_mapping(struct vm_area_struct *vma, struct file *file, unsigned long pgoff)
{
	if (file) {
		vma->vm_file = get_file(file);
		vma->vm_pgoff = pgoff;
		WRITE_ONCE(file->f_inode->i_mapped, true);
		smp_mb(); /* before a fault looks at the size: see unmap_mapping_pages() */
		return file->f_op->mmap ? file->f_op->mmap(file, vma) : 0;
	}
	if (!(vma->vm_flags & VM_SHARED))
		return 0;
	vma->vm_shm = shm_create(vma_pages(vma));
	return vma->vm_shm ? 0 : -ENOMEM;
}

/* [m] Do the limits allow it? What it takes the place of (MAP_FIXED) goes, and is counted only where it must
 * be. */
static bool has_room_for(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned vm_flags)
{
	struct vm_area_struct *vma;
	unsigned long end = addr + len, goes = 0;

	if (may_expand_vm(mm, vm_flags, len >> PAGE_SHIFT))
		return true;
	for (vma = find_vma_intersection(mm, addr, end); vma && vma->vm_start < end; vma = vma_next(vma))
		goes += (min(end, vma->vm_end) - max(addr, vma->vm_start)) >> PAGE_SHIFT;
	return goes && may_expand_vm(mm, vm_flags, (len >> PAGE_SHIFT) - goes);
}

/*
 * [m] The area itself, in the place of what is there (MAP_FIXED). That goes last, when nothing else can fail:
 * a call that fails leaves the old mapping.
 */
static long mmap_region(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len,
			unsigned vm_flags, unsigned long pgoff)
{
	struct vm_area_struct *vma;
	int err;

	if (mm->nr_areas > READ_ONCE(sysctl_max_map_count) || !has_room_for(mm, addr, len, vm_flags))
		return -ENOMEM;
	vma = vma_alloc(mm, addr, addr + len, vm_flags);
	if (!vma)
		return -ENOMEM;
	err = back_mapping(vma, file, pgoff);
	if (!err)
		err = unmap_locked(mm, addr, addr + len);
	if (err) {
		vma_free(vma);
		return err;
	}
	vma_insert(mm, vma);
	vma_merge(vma);
	return addr;
}

noinline long do_mmap(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len,
		      unsigned prot, unsigned flags, unsigned long pgoff)
{
	int vm_flags;
	long ret;

	if (!len || prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC))
		return -EINVAL;
	if (len > TASK_SIZE)
		return -ENOMEM;
	len = ALIGN(len, PAGE_SIZE);
	if (pgoff + (len >> PAGE_SHIFT) < pgoff)
		return -EOVERFLOW;
	vm_flags = mapping_flags(file, prot, flags);
	if (vm_flags < 0)
		return vm_flags;
	if (plainly_too_much(len, vm_flags))
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	ret = place_mapping(mm, addr, len, flags);
	if (ret >= 0)
		ret = mmap_region(mm, file, ret, len, vm_flags, pgoff);
	mutex_unlock(&mm->mmap_lock);
	return ret;
}

/* [m] */
static int grow_heap(struct mm_struct *mm, unsigned long from, unsigned long to)
{
	struct vm_area_struct *vma;
	unsigned flags = VM_READ | VM_WRITE | VM_MAYWRITE | VM_HEAP;

	if (plainly_too_much(to - mm->start_brk, flags) || !range_is_free(mm, from, to - from))
		return -ENOMEM;
	if (!may_expand_vm(mm, flags, (to - from) >> PAGE_SHIFT))
		return -ENOMEM;
	vma = find_vma(mm, from - 1);
	if (vma && vma->vm_end == from && vma->vm_flags == flags) {
		vma_set_range(vma, vma->vm_start,
			      to); /* the usual case: no second area, no search, no merge */
		return 0;
	}
	return mmap_region(mm, NULL, from, to - from, flags, 0) < 0 ? -ENOMEM : 0;
}

noinline long do_brk(struct mm_struct *mm, unsigned long brk)
{
	unsigned long old_end, new_end;
	int err = 0;

	mutex_lock(&mm->mmap_lock);
	if (brk < mm->start_brk || brk > TASK_SIZE)
		goto out;
	old_end = ALIGN(mm->brk, PAGE_SIZE);
	new_end = ALIGN(brk, PAGE_SIZE);
	if (new_end > old_end)
		err = grow_heap(mm, old_end, new_end);
	else if (new_end < old_end)
		err = unmap_locked(mm, new_end, old_end);
	if (!err)
		mm->brk = brk;
out:
	brk = mm->brk;
	mutex_unlock(&mm->mmap_lock);
	return brk;
}
