/* What the system calls of memory need of each other's files. */
#pragma once

struct mm_struct;
/*
 * mremap(2). new_addr: for MREMAP_FIXED, where the mapping goes; what lay there is gone. MREMAP_DONTUNMAP: the
 * old area stays, without its pages. Returns the new address, -EINVAL, -EFAULT (not mapped so), -EPERM (nothing may
 * be mapped there), -ENOMEM. Takes m.
 */
long do_mremap(struct mm_struct *mm, unsigned long addr, unsigned long old_len, unsigned long new_len,
	       unsigned flags, unsigned long new_addr);
