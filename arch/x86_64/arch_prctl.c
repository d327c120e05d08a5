/*
 * arch_prctl(2): the bases of FS and GS. The C library uses FS for thread-local storage. While the kernel runs, GS has
 * the kernel's base, and user mode's base waits in KERNEL_GS_BASE.
 */
#include <arch/thread.h>
#include <asm/msr.h>
#include <asm/page.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/preempt.h>

/* Linux's uapi asm/prctl.h. */
#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

/*
 * Change register and field together, preemption off, since a switch of tasks loads the one from
 * the other. An address that is not canonical would raise #GP, and one of the kernel's would pass
 * for the kernel's own GS (entry.S, paranoid_entry): both are refused with -EPERM, as in Linux.
 */
static int set_base(u64 *field, u32 msr, unsigned long addr)
{
	if (addr >= TASK_SIZE)
		return -EPERM;
	preempt_disable();
	*field = addr;
	wrmsrl(msr, addr);
	preempt_enable();
	return 0;
}

/*
 * arch_prctl(2): the bases of FS and GS, which a program's threads use for their own data. -EPERM for a base outside
 * user space (set_base), -EFAULT, -EINVAL.
 */
SYSCALL_DEFINE2(arch_prctl, int, option, unsigned long, arg2)
{
	struct thread_struct *thread = &current->thread;

	switch (option) {
	case ARCH_SET_FS:
		return set_base(&thread->fsbase, MSR_FS_BASE, arg2);
	case ARCH_SET_GS:
		return set_base(&thread->gsbase, MSR_KERNEL_GS_BASE, arg2);
	/* From the register: a program that loads a null selector clears the base, without the kernel's knowledge. */
	case ARCH_GET_FS:
		return put_user(rdmsrl(MSR_FS_BASE), (u64 __user *)arg2);
	case ARCH_GET_GS:
		return put_user(rdmsrl(MSR_KERNEL_GS_BASE), (u64 __user *)arg2);
	}
	return -EINVAL;
}
