/*
 * mremap: a mapping that shrinks, grows where it is, or moves together with its pages. Pages move by their page-table
 * entries, without a copy.
 *
 * do_mremap() checks the arguments and takes mmap_lock; remap_locked() chooses the way. All that may refuse a call,
 * except for lack of memory, is asked before anything changes.
 */
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/mman.h>

#include "../vma.h"

/* The arguments of a call in whole pages. new_addr counts with MREMAP_FIXED only. */
struct remap {
	unsigned long addr, old_len, new_len, new_addr;
	unsigned flags; /* MREMAP_* */
};

/* [m] Is there room for `len` more bytes right behind the area? */
static bool can_grow(const struct vm_area_struct *vma, unsigned long end, unsigned long len)
{
	return vma->vm_end == end && len <= TASK_SIZE - end && !find_vma_intersection(vma->vm_mm, end, end + len);
}

/* A move of entries by `distance` bytes. */
struct move {
	struct mm_struct *mm;
	unsigned long distance;
	struct pte_pause pause;
};

/*
 * [p] Move one entry to its new place. mmap_lock keeps all others out of both tables. Returns 0, 1 for a pause, or
 * -ENOMEM.
 */
static int move_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct move *move = arg;
	pte_t *to = pte_alloc(move->mm->pgd, va + move->distance);

	if (!to)
		return -ENOMEM;
	set_pte(to, ptep_get_and_clear(slot));
	return pte_pause(&move->pause, va);
}

/*
 * [m] Move the entries of [from, from + len) to `to`. The flush at the end is enough: the pages stay what they were,
 * and only the old addresses must be forgotten before mmap_lock is released. 0 or -ENOMEM, with a part of the entries
 * moved.
 */
static int move_pages(struct mm_struct *mm, unsigned long from, unsigned long len, unsigned long to)
{
	struct move move = {.mm = mm, .distance = to - from};
	unsigned long at = from;
	int ret;

	do {
		spin_lock(&mm->page_table_lock);
		ret = pte_range(mm->pgd, at, from + len, move_pte, &move);
		spin_unlock(&mm->page_table_lock);
		at = move.pause.next;
	} while (ret > 0);
	flush_tlb_range(mm, from, from + len);
	return ret;
}

/* [m] May there be `more` areas more? Three are kept in reserve for a move, as on Linux. */
static bool has_areas_left(const struct mm_struct *mm, unsigned more)
{
	return mm->nr_areas + more + 3 < READ_ONCE(sysctl_max_map_count);
}

/* [m] See struct mm_part. */
static void tell_before_move(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	const struct mm_part *part;

	for_each_in_table(mm_parts, part)
		if (part->before_move)
			part->before_move(mm, start, end);
}

/*
 * [m] Make a second area of the new size at `to`, which is free, with the same backing, and move the pages. When a page
 * table cannot be had half way, what has moved is moved back; the tables for that exist. keep: the old area stays,
 * without its pages.
 */
static long move_area(struct vm_area_struct *vma, unsigned long addr, unsigned long old_len, unsigned long new_len,
		      unsigned long to, bool keep)
{
	struct mm_struct *mm = vma->vm_mm;
	struct vm_area_struct *new;

	new = has_areas_left(mm, 0) ? vma_dup(mm, vma) : NULL;
	if (!new)
		return -ENOMEM;
	new->vm_pgoff += (addr - vma->vm_start) >> PAGE_SHIFT;
	new->vm_start = to;
	new->vm_end = to + new_len;
	tell_before_move(mm, addr, addr + old_len);
	if (move_pages(mm, addr, old_len, to)) {
		move_pages(mm, to, old_len, addr);
		tell_mapped(vma);
		vma_free(new);
		return -ENOMEM;
	}
	vma_insert(mm, new);
	tell_unmapped(mm, addr, addr + old_len);
	tell_mapped(new);
	/* This may fail to split the area; then an empty area stays, which does no harm. */
	if (keep)
		vma_set_lock(vma, 0);
	else
		unmap_locked(mm, addr, addr + old_len);
	vma_merge(new);
	return to;
}

/* [m] An area with VM_WHOLE moves in one piece, keeps its size and leaves nothing behind. 0, -EFAULT, -EINVAL. */
static int check_whole(const struct vm_area_struct *vma, const struct remap *r)
{
	if (!(vma->vm_flags & VM_WHOLE))
		return 0;
	if (r->flags & MREMAP_DONTUNMAP)
		return -EINVAL;
	if (r->new_len > r->old_len)
		return -EFAULT;
	return r->addr != vma->vm_start || r->old_len != vma->vm_end - vma->vm_start ? -EINVAL : 0;
}

/*
 * [m] The area that holds the whole range and may become so long, or ERR_PTR. Shared anonymous memory cannot grow: its
 * array of pages has the size that it was made with.
 */
static struct vm_area_struct *area_to_move(struct mm_struct *mm, const struct remap *r)
{
	struct vm_area_struct *vma = find_vma_intersection(mm, r->addr, r->addr + 1);
	int err;

	if (!vma || r->old_len > vma->vm_end - r->addr)
		return ERR_PTR(-EFAULT);
	if (vma->vm_shm && r->new_len > r->old_len)
		return ERR_PTR(-EINVAL);
	err = check_whole(vma, r);
	return err ? ERR_PTR(err) : vma;
}

/* [m] Do the limits allow the pages that are added, when the pages `goes` are unmapped first? */
static bool has_room_to_move(const struct vm_area_struct *vma, const struct remap *r, struct mapped_pages goes)
{
	unsigned long more = 0;

	if (r->flags & MREMAP_DONTUNMAP)
		more = r->new_len;
	else if (r->new_len > r->old_len)
		more = r->new_len - r->old_len;
	return !more || may_replace_vm(vma->vm_mm, vma->vm_flags, more >> PAGE_SHIFT, goes);
}

/* [m] Does RLIMIT_MEMLOCK allow the pages that are added to a locked area? */
static bool may_lock_added(const struct vm_area_struct *vma, const struct remap *r)
{
	return r->new_len <= r->old_len ||
	       may_lock_more(vma->vm_mm, vma->vm_flags, (r->new_len - r->old_len) >> PAGE_SHIFT);
}

/*
 * May a mapping be put at the place that the caller names? 0, or -errno: mremap(2)'s or, where nothing may be mapped,
 * mmap(2)'s.
 */
static int check_place(const struct remap *r)
{
	if (r->new_addr & ~PAGE_MASK || r->new_len > TASK_SIZE || r->new_addr > TASK_SIZE - r->new_len ||
	    (r->new_addr < r->addr + r->old_len && r->addr < r->new_addr + r->new_len))
		return -EINVAL;
	return r->new_addr < MMAP_MIN_ADDR ? -EPERM : 0;
}

/*
 * [m] To a place that the caller names (MREMAP_FIXED). What lies there goes, as with MAP_FIXED, after everything that
 * can refuse the call except for lack of memory. That may cut the moving area in two, so it is looked up again. Each of
 * the two cuts may leave one area more than before.
 */
static long remap_to(struct mm_struct *mm, const struct remap *r)
{
	struct vm_area_struct *vma = area_to_move(mm, r);
	int err;

	if (IS_ERR(vma))
		return PTR_ERR(vma);
	err = check_place(r);
	if (!err && !may_lock_added(vma, r))
		err = -EAGAIN;
	if (!err && (!has_areas_left(mm, 2) ||
		     !has_room_to_move(vma, r, count_mapped(mm, r->new_addr, r->new_addr + r->new_len))))
		err = -ENOMEM;
	if (!err)
		err = unmap_locked(mm, r->new_addr, r->new_addr + r->new_len);
	if (!err && r->new_len < r->old_len)
		err = unmap_locked(mm, r->addr + r->new_len, r->addr + r->old_len);
	if (err)
		return err;
	vma = find_vma_intersection(mm, r->addr, r->addr + 1);
	return move_area(vma, r->addr, min(r->old_len, r->new_len), r->new_len, r->new_addr,
			 r->flags & MREMAP_DONTUNMAP);
}

/* [m] To the highest place where there is room. */
static long remap_anywhere(struct vm_area_struct *vma, const struct remap *r)
{
	long to = get_unmapped_area(vma->vm_mm, 0, r->new_len);

	return to < 0 ? to : move_area(vma, r->addr, r->old_len, r->new_len, to, r->flags & MREMAP_DONTUNMAP);
}

/*
 * [m] Make it shorter, or leave it as long as it is, at its place. As on Linux, what goes may lie in other areas or be
 * unmapped.
 */
static long remap_shrink(struct mm_struct *mm, const struct remap *r)
{
	int err = 0;

	if (!find_vma_intersection(mm, r->addr, r->addr + 1))
		return -EFAULT;
	if (r->old_len > TASK_SIZE - r->addr)
		return -EINVAL;
	if (r->new_len < r->old_len)
		err = unmap_locked(mm, r->addr + r->new_len, r->addr + r->old_len);
	return err ? err : (long)r->addr;
}

/*
 * [m] Choose the way: a named place, shrinking, a copy of the area elsewhere (DONTUNMAP), growing in place, and moving
 * if the caller allows it.
 */
static long remap_locked(struct mm_struct *mm, const struct remap *r)
{
	struct vm_area_struct *vma;

	if (r->flags & MREMAP_FIXED)
		return remap_to(mm, r);
	if (r->new_len <= r->old_len && !(r->flags & MREMAP_DONTUNMAP))
		return remap_shrink(mm, r);
	vma = area_to_move(mm, r);
	if (IS_ERR(vma))
		return PTR_ERR(vma);
	if (!has_room_to_move(vma, r, (struct mapped_pages){0, 0}))
		return -ENOMEM;
	if (!may_lock_added(vma, r))
		return -EAGAIN;
	if (r->flags & MREMAP_DONTUNMAP)
		return remap_anywhere(vma, r);
	if (can_grow(vma, r->addr + r->old_len, r->new_len - r->old_len)) {
		vma_set_range(vma, vma->vm_start, r->addr + r->new_len);
		vma_merge(vma); /* it may touch an area now that is alike */
		return r->addr;
	}
	return r->flags & MREMAP_MAYMOVE ? remap_anywhere(vma, r) : -ENOMEM;
}

/*
 * Which flags mremap(2) allows together: a named place needs MAYMOVE, and so does an old area that stays; that one
 * keeps its size.
 */
static bool flags_are_valid(unsigned long flags, unsigned long old_len, unsigned long new_len)
{
	if (flags & ~(unsigned long)(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP))
		return false;
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) && !(flags & MREMAP_MAYMOVE))
		return false;
	return !(flags & MREMAP_DONTUNMAP) || old_len == new_len;
}

/*
 * The work of mremap(2). With MREMAP_FIXED the mapping goes to new_addr, and what lay there is gone. With
 * MREMAP_DONTUNMAP the old area stays, without its pages. A range that grows by more pages than there is RAM is refused
 * like a mapping of that size. Returns the new address, -EINVAL, -EFAULT (not mapped as a whole), -EPERM (nothing may
 * be mapped there) or -ENOMEM. Thread context; takes m.
 */
static long do_mremap(struct mm_struct *mm, unsigned long addr, unsigned long old_len, unsigned long new_len,
		      unsigned long flags, unsigned long new_addr)
{
	struct remap r = {addr, ALIGN(old_len, PAGE_SIZE), ALIGN(new_len, PAGE_SIZE), new_addr, flags};
	long ret;

	if (addr & ~PAGE_MASK || !flags_are_valid(flags, r.old_len, r.new_len) || !old_len || !new_len)
		return -EINVAL;
	if (new_len > TASK_SIZE || old_len > TASK_SIZE)
		return -EINVAL;
	if (new_len > old_len && (new_len - old_len) >> PAGE_SHIFT > totalram_pages())
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	ret = remap_locked(mm, &r);
	mutex_unlock(&mm->mmap_lock);
	return ret;
}

SYSCALL_DEFINE5(mremap, unsigned long, addr, unsigned long, old_len, unsigned long, new_len, unsigned long, flags,
		unsigned long, new_addr)
{
	long ret = do_mremap(current->mm, addr, old_len, new_len, flags, new_addr);

	if (ret > 0 && new_len > old_len)
		mm_populate(current->mm, ret, ret + new_len, POPULATE_LOCKED);
	return ret;
}
