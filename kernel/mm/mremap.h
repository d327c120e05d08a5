/* What the system calls of memory need of each other's files. */
#pragma once

struct mm_struct;
/* The new address, -EINVAL, -EFAULT (not mapped so), -ENOMEM. MREMAP_FIXED is not supported: -EINVAL. Takes
 * m. */
long do_mremap(struct mm_struct *mm, unsigned long addr, unsigned long old_len, unsigned long new_len,
	       unsigned flags);
