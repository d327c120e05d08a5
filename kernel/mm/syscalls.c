/*
 * The system calls of memory that every program makes. The work is in mmap.c, mprotect.c and zap.c; this file turns
 * descriptors into files.
 */
#include <fs/vfs.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/mman.h>

#include "vma.h"

/* An anonymous mapping ignores the descriptor and the offset. The area takes a reference to the file of its own. */
SYSCALL_DEFINE6(mmap, unsigned long, addr, unsigned long, len, unsigned long, prot, unsigned long, flags, unsigned long,
		fd, unsigned long, off)
{
	struct file *file = NULL;
	long ret;

	if (off & ~PAGE_MASK)
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		file = fget(fd);
		if (!file)
			return -EBADF;
	}
	ret = do_mmap(current->mm, file, addr, len, prot, flags, file ? off >> PAGE_SHIFT : 0);
	if (file)
		fput(file);
	return ret;
}

SYSCALL_DEFINE2(munmap, unsigned long, addr, size_t, len)
{
	return do_munmap(current->mm, addr, len);
}

SYSCALL_DEFINE3(mprotect, unsigned long, start, size_t, len, unsigned long, prot)
{
	return do_mprotect(current->mm, start, len, prot);
}

SYSCALL_DEFINE1(brk, unsigned long, brk)
{
	return do_brk(current->mm, brk);
}
