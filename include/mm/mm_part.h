/*
 * Rooms that keep something for address spaces, and are not known to kernel/mm. A room finds its own by the address of
 * the mm_struct. With no such address space about, each of these costs a call.
 */
#pragma once

#include <lib/types.h>

struct mm_struct;
struct vm_area_struct;

/* Each member but dup and exit may be NULL. Thread context; all may sleep. m: mmap_lock is held. */
struct mm_part {
	/*
	 * fork: all areas and pages are copied, and no task runs in `new` yet. 0 or -ENOMEM. mmap_lock of both is held,
	 * that of `old` first.
	 */
	int (*dup)(struct mm_struct *new, struct mm_struct *old);
	/*
	 * The last user has gone (exit, exec), and nothing is unmapped yet: whoever reaches into the address space with
	 * no more than a count of the structure must end here. No lock of mm is held; other mutexes may be.
	 */
	void (*exit)(struct mm_struct *mm);
	/* An area was made, has moved here, or has got other rights. [m] */
	void (*mapped)(struct vm_area_struct *vma);
	/*
	 * The pages of this range are about to move. `mapped` follows, for the new area, or for the old one when the
	 * move has failed. [m]
	 */
	void (*before_move)(struct mm_struct *mm, unsigned long start, unsigned long end);
	/* What was in this range has gone or moved; the areas may be there still. [m] */
	void (*unmapped)(struct mm_struct *mm, unsigned long start, unsigned long end);
};
#define REGISTER_MM_PART(p) REGISTER_IN(mm_parts, p)
DECLARE_TABLE(mm_parts, const struct mm_part);

/*
 * The kernel's address of a byte that the program could write now without a fault, good for what lies in the same page;
 * NULL: a fault has to make the page its own first, or must fail. mmap_lock held, and until the access is made.
 */
void *mm_writable_now(struct mm_struct *mm, unsigned long addr);
