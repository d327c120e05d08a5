/*
 * Rooms that keep something for address spaces, and are not known to kernel/mm. An address space has no member for
 * them: each finds its own by the mm_struct's address. With no such address space about, a fork and an exit pay a call.
 */
#pragma once

#include <lib/types.h>

struct mm_struct;

struct mm_part {
	/*
	 * fork: all areas and pages are copied, and no task runs in `new` yet. 0 or -ENOMEM. mmap_lock of both is held,
	 * that of `old` first; may sleep.
	 */
	int (*dup)(struct mm_struct *new, struct mm_struct *old);
	/*
	 * The last user has gone (exit, exec), and nothing is unmapped yet: whoever reaches into the address space with
	 * no more than a count of the structure must end here. No lock of mm is held; other mutexes may be. May sleep.
	 */
	void (*exit)(struct mm_struct *mm);
};
#define REGISTER_MM_PART(p) REGISTER_IN(mm_parts, p)
DECLARE_TABLE(mm_parts, const struct mm_part);

/*
 * The kernel's address of a byte that the program could write now without a fault, good for what lies in the same page;
 * NULL: a fault has to make the page its own first, or must fail. mmap_lock held, and until the access is made.
 */
void *mm_writable_now(struct mm_struct *mm, unsigned long addr);
