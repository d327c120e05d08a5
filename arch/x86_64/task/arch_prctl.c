/*
 * arch_prctl(2): the bases of FS and GS. The C library uses FS for thread-local storage. While the kernel runs, GS has
 * the kernel's base, and user mode's base waits in KERNEL_GS_BASE.
 */
#include <asm/msr.h>
#include <asm/page.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <proc/syscall.h>

#include "segments.h"

/*
 * An address that is not canonical would raise #GP, and one of the kernel's would pass for the kernel's own GS
 * (entry.S, paranoid_entry): both are refused with -EPERM, as in Linux.
 */
static int set_base(void (*set)(u64 base), unsigned long addr)
{
	if (addr >= TASK_SIZE)
		return -EPERM;
	set(addr);
	return 0;
}

/*
 * arch_prctl(2): the bases of FS and GS, which a program's threads use for their own data. To set one makes the
 * selector null. -EPERM for a base outside user space (set_base), -EFAULT, -EINVAL.
 */
SYSCALL_DEFINE2(arch_prctl, int, option, unsigned long, arg2)
{
	switch (option) {
	case ARCH_SET_FS:
		return set_base(segments_set_fs, arg2);
	case ARCH_SET_GS:
		return set_base(segments_set_gs, arg2);
	/* From the register: a program that loads a selector clears the base, without the kernel's knowledge. */
	case ARCH_GET_FS:
		return put_user(rdmsrl(MSR_FS_BASE), (u64 __user *)arg2);
	case ARCH_GET_GS:
		return put_user(rdmsrl(MSR_KERNEL_GS_BASE), (u64 __user *)arg2);
	}
	return -EINVAL;
}
