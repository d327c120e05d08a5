/* What the system calls of memory need of mremap.c. */
#pragma once

struct mm_struct;
/*
 * The work of mremap(2). With MREMAP_FIXED the mapping goes to new_addr, and what lay there is gone. With
 * MREMAP_DONTUNMAP the old area stays, without its pages. Returns the new address, -EINVAL, -EFAULT (not mapped as a
 * whole), -EPERM (nothing may be mapped there) or -ENOMEM. Thread context; takes m.
 */
long do_mremap(struct mm_struct *mm, unsigned long addr, unsigned long old_len, unsigned long new_len,
	       unsigned long flags, unsigned long new_addr);
