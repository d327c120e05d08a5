/*
 * mmap, munmap and brk: making, placing and removing areas. A mapping without a fixed address goes top down, into the
 * highest hole below mmap_base that is large enough; the tree of areas finds that hole by size (vma.c).
 *
 * A call that fails leaves the address space as it was. Therefore everything that may fail comes before the first area
 * is removed, and what a fixed mapping replaces goes last.
 *
 * Locks: mmap_lock is taken by do_mmap(), do_munmap() and do_brk(); functions marked [m] need it held.
 */
#include <lib/string.h>
#include <proc/personality.h>
#include <sched/sched.h>
#include <uapi/mman.h>
#include <uapi/mount.h>

#include "vma.h"

static_assert(VM_READ == PROT_READ && VM_WRITE == PROT_WRITE && VM_EXEC == PROT_EXEC, "one bit, one meaning");

/* Linux's default. */
unsigned sysctl_max_map_count = 65530;

unsigned prot_to_vm_flags(unsigned prot)
{
	return prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* [m] Is [addr, addr + len) inside user space, and free with the distance that a stack above it keeps? */
static bool range_is_free(struct mm_struct *mm, unsigned long addr, unsigned long len)
{
	struct vm_area_struct *vma;

	if (addr < MMAP_MIN_ADDR || len > TASK_SIZE || addr > TASK_SIZE - len)
		return false;
	vma = find_vma(mm, addr);
	return !vma || addr + len <= start_with_gap(vma);
}

/*
 * [m] The highest hole below mmap_base, from its upper end; -ENOMEM. The hole that the base cuts is looked at by
 * itself, and all others through the tree. Areas above the base (the stack) matter only by the distance that they keep.
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

/* An address that the caller prefers is taken if it is free there; otherwise it is only a hint. */
long get_unmapped_area(struct mm_struct *mm, unsigned long addr, unsigned long len)
{
	addr = ALIGN(addr, PAGE_SIZE);
	return addr && range_is_free(mm, addr, len) ? (long)addr : search_top_down(mm, len);
}

/*
 * [m] Cut areas at the edges of the range, so that it consists of whole ones. 0 or -ENOMEM: the areas are as they were,
 * since the first cut is undone when there is no memory for the second.
 */
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
	if (!vma || vma->vm_end <= end)
		return 0;
	err = vma_split(vma, end);
	if (err)
		vma_merge(find_vma(mm, start));
	return err;
}

/*
 * A thread that faults in the range meanwhile waits for mmap_lock; it then finds no area and gets its signal. A fault
 * that came before has stored its entry, and zap_range() takes it out.
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
	tell_unmapped(mm, start, end);
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

/*
 * Does the type of the mapping go with what else is asked for? Shared memory that no file backs has no type whose flags
 * are checked, and a fixed size, so that it cannot grow as a stack does. A flag that MAP_SHARED_VALIDATE does not know
 * is one that the caller relies on. 0, -EINVAL, -EOPNOTSUPP.
 */
static int check_type(const struct file *file, unsigned flags)
{
	if (flags & MAP_HUGETLB) /* there are no huge pages */
		return -EINVAL;
	switch (flags & MAP_TYPE) {
	case MAP_PRIVATE:
		return 0;
	case MAP_SHARED:
		return !file && flags & MAP_GROWSDOWN ? -EINVAL : 0;
	case MAP_SHARED_VALIDATE:
		return !file ? -EINVAL : flags & ~MAP_VALIDATED ? -EOPNOTSUPP : 0;
	default:
		return -EINVAL;
	}
}

/*
 * The VM_* flags of a new mapping, after a check of what the file allows: it must be open for reading, for a writable
 * shared mapping also for writing, and on a mount without noexec for PROT_EXEC. VM_MAYWRITE and VM_NOEXEC remember for
 * mprotect() what may be added later. Returns the flags, which are positive, or -errno.
 */
static int mapping_flags(struct file *file, unsigned prot, unsigned flags)
{
	unsigned vm_flags = prot_to_vm_flags(prot) | VM_MAYWRITE;
	int err = check_type(file, flags);

	if (err)
		return err;
	if ((flags & MAP_TYPE) != MAP_PRIVATE)
		vm_flags |= VM_SHARED;
	if (flags & MAP_GROWSDOWN)
		vm_flags |= VM_GROWSDOWN;
	if (flags & MAP_LOCKED)
		vm_flags |= VM_LOCKED;
	if (!file)
		return vm_flags;
	if (!(file->f_mode & FMODE_READ))
		return -EACCES;
	if (vm_flags & VM_SHARED && !(file->f_mode & FMODE_WRITE)) {
		if (prot & PROT_WRITE)
			return -EACCES;
		vm_flags &= ~VM_MAYWRITE;
	}
	if (file->f_mnt && (file->f_mnt->mnt_flags & MS_NOEXEC)) {
		if (prot & PROT_EXEC)
			return -EPERM;
		vm_flags |= VM_NOEXEC;
	}
	if (!file->f_op->get_page && !file->f_op->mmap)
		return -ENODEV;
	return vm_flags & VM_GROWSDOWN ? -EINVAL : (int)vm_flags;
}

/*
 * More private memory than there is RAM could only fail later, in a fault, which kills a process. So what is plainly
 * too much is refused here.
 */
static bool plainly_too_much(unsigned long len, unsigned vm_flags)
{
	return (vm_flags & (VM_WRITE | VM_SHARED)) == VM_WRITE && len >> PAGE_SHIFT > totalram_pages();
}

/* [m] Where the mapping goes: the address, or -errno. */
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

/*
 * The file's own mmap may refuse or change the area. Then a shared area that may be written is counted, unless there
 * must be none (seals of memfd_create); an area that is not counted loses VM_MAYWRITE, by which vma_free() knows it.
 */
static int back_by_file(struct file *file, struct vm_area_struct *vma)
{
	int err = file->f_op->mmap ? file->f_op->mmap(file, vma) : 0;

	if (!err && vma_writes_shared(vma) && !get_shared_writer(file->f_inode))
		err = -EPERM;
	if (err)
		vma->vm_flags &= ~VM_MAYWRITE;
	return err;
}

/*
 * What backs the area: a reference to the file, or new shared pages. Then the file's own mmap may refuse or change the
 * area. On failure vma_free() drops what the area holds.
 */
static int back_mapping(struct vm_area_struct *vma, struct file *file, unsigned long pgoff)
{
	if (file) {
		vma->vm_file = get_file(file);
		vma->vm_pgoff = pgoff;
		WRITE_ONCE(file->f_inode->i_mapped, true);
		smp_mb(); /* i_mapped is set before a fault looks at the size; pairs with unmap_mapping_pages() */
		return back_by_file(file, vma);
	}
	if (!(vma->vm_flags & VM_SHARED))
		return 0;
	vma->vm_shm = shm_create(vma_pages(vma));
	return vma->vm_shm ? 0 : -ENOMEM;
}

int vma_share_zeroes(struct vm_area_struct *vma)
{
	vma->vm_shm = shm_create(vma_pages(vma));
	if (!vma->vm_shm)
		return -ENOMEM;
	fput(vma->vm_file);
	vma->vm_file = NULL;
	vma->vm_pgoff = 0;
	return 0;
}

/* [m] Do the limits allow it? What the mapping replaces (MAP_FIXED) goes, and is counted only where that decides. */
static bool has_room_for(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned vm_flags)
{
	unsigned long goes;

	if (may_expand_vm(mm, vm_flags, len >> PAGE_SHIFT))
		return true;
	goes = count_mapped(mm, addr, addr + len).all;
	return goes && may_expand_vm(mm, vm_flags, (len >> PAGE_SHIFT) - goes);
}

/*
 * [m] Make the area, in the place of what is there (MAP_FIXED). The old mapping goes last, when nothing else can fail,
 * so that a call that fails leaves it alone. Returns the address or -errno.
 */
static long mmap_region(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len,
			unsigned vm_flags, unsigned long pgoff)
{
	struct vm_area_struct *vma;
	int err;

	vm_flags |= mm->def_flags;
	if (!may_lock_more(mm, vm_flags, len >> PAGE_SHIFT))
		return -EAGAIN;
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
	tell_mapped(vma);
	vma_merge(vma);
	return addr;
}

/* May the pages from pgoff on be mapped? The position of each byte of a regular file is a loff_t, which has a sign. */
static bool in_file_range(const struct file *file, unsigned long pgoff, unsigned long len)
{
	return !file || !S_ISREG(file->f_inode->i_mode) || pgoff <= (LONG_MAX - len) >> PAGE_SHIFT;
}

/* With READ_IMPLIES_EXEC of personality(2) what can be read can be executed, but for a file of a mount without it. */
static unsigned implied_prot(const struct file *file, unsigned prot)
{
	bool noexec = file && file->f_mnt && file->f_mnt->mnt_flags & MS_NOEXEC;

	return current->personality & READ_IMPLIES_EXEC && prot & PROT_READ && !noexec ? prot | PROT_EXEC : prot;
}

/* The checks that need no lock come first. `pgoff` comes from a number of bytes, so pgoff + length cannot wrap. */
noinline long do_mmap(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len, unsigned prot,
		      unsigned flags, unsigned long pgoff)
{
	bool populate;
	int vm_flags;
	long ret;

	if (!len)
		return -EINVAL;
	if (len > TASK_SIZE)
		return -ENOMEM;
	len = ALIGN(len, PAGE_SIZE);
	if (!in_file_range(file, pgoff, len))
		return -EOVERFLOW;
	vm_flags = mapping_flags(file, mm == current->mm ? implied_prot(file, prot) : prot, flags);
	if (vm_flags < 0)
		return vm_flags;
	if (plainly_too_much(len, vm_flags))
		return -ENOMEM;
	if (flags & MAP_LOCKED && !can_do_mlock())
		return -EPERM;
	mutex_lock(&mm->mmap_lock);
	ret = place_mapping(mm, addr, len, flags);
	if (ret >= 0)
		ret = mmap_region(mm, file, ret, len, vm_flags, pgoff);
	populate = (flags & (MAP_POPULATE | MAP_NONBLOCK)) == MAP_POPULATE || (vm_flags | mm->def_flags) & VM_LOCKED;
	mutex_unlock(&mm->mmap_lock);
	if (ret >= 0 && populate && mm == current->mm) /* what cannot be had now comes, or fails, when it is touched */
		mm_populate(mm, ret, ret + len, flags & MAP_POPULATE ? POPULATE_ALL : POPULATE_LOCKED);
	return ret;
}

/* [m] Extend the heap. The usual case moves the end of its last area, with no second area, no search and no merge. */
static int grow_heap(struct mm_struct *mm, unsigned long from, unsigned long to)
{
	struct vm_area_struct *vma;
	unsigned flags = VM_READ | VM_WRITE | VM_MAYWRITE | VM_HEAP | mm->def_flags;

	if (plainly_too_much(to - mm->start_brk, flags) || !range_is_free(mm, from, to - from))
		return -ENOMEM;
	if (!may_expand_vm(mm, flags, (to - from) >> PAGE_SHIFT) ||
	    !may_lock_more(mm, mm->def_flags, (to - from) >> PAGE_SHIFT))
		return -ENOMEM;
	vma = find_vma(mm, from - 1);
	if (vma && vma->vm_end == from && vma->vm_flags == flags) {
		vma_set_range(vma, vma->vm_start, to);
		return 0;
	}
	return mmap_region(mm, NULL, from, to - from, flags, 0) < 0 ? -ENOMEM : 0;
}

/*
 * The break may be anywhere in a page, but areas end at pages. A refused change leaves the old break, which is what the
 * system call returns then.
 */
noinline long do_brk(struct mm_struct *mm, unsigned long brk)
{
	unsigned long old_end = 0, new_end = 0;
	bool populate = false;
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
	populate = !err && new_end > old_end && (mm->def_flags & VM_LOCK_MASK) == VM_LOCKED;
out:
	brk = mm->brk;
	mutex_unlock(&mm->mmap_lock);
	if (populate)
		mm_populate(mm, old_end, new_end, POPULATE_LOCKED);
	return brk;
}

/* The highest hole below `near` that is one page large: what grows upwards, as a heap does, is farther below. */
long map_code_page(struct mm_struct *mm, unsigned long near, unsigned long reach, u32 vm_flag)
{
	struct vm_area_struct *vma, *below;

	for (vma = find_vma(mm, near); vma; vma = below) {
		unsigned long addr = start_with_gap(vma) - PAGE_SIZE;

		below = vma_prev(vma);
		if (addr >= TASK_SIZE || addr < MMAP_MIN_ADDR || near - addr >= reach)
			break;
		if (below && below->vm_end > addr)
			continue;
		vma = vma_alloc(mm, addr, addr + PAGE_SIZE, VM_READ | VM_EXEC | VM_MAYWRITE | vm_flag);
		if (!vma)
			break;
		vma_insert(mm, vma);
		return addr;
	}
	return -ENOMEM;
}
