/*
 * From the machine's fault entry to the address space. A fault ends in one of four ways: the memory manager makes the
 * access good and it is repeated; a program gets a signal; a kernel access goes on at its fix-up; or it is a bug and
 * the kernel dies with a report.
 *
 * Kernel code that touches user memory on purpose has a fix-up for each such instruction in the exception table
 * (<mm/uaccess.h>). The table is asked first: an access without an entry is never made good, so a stray pointer into
 * user space is found and not repaired.
 */
#include <arch/stacktrace.h>
#include <asm/ptrace.h>
#include <kernel/extable.h>
#include <kernel/printk.h>
#include <proc/signal.h>
#include <sched/sched.h>

#include "vma.h"

/*
 * May the fault be handled, which sleeps and takes mmap_lock? A user's always. A kernel access only where it has a
 * fix-up and could sleep: with interrupts or preemption off, without an address space, or with that mmap_lock held
 * already, it takes the fix-up at once.
 */
static bool may_handle(struct pt_regs *regs, const struct mm_struct *mm)
{
	if (user_mode(regs))
		return true;
	return mm && interrupts_enabled(regs) && !in_atomic() && mutex_owner(&mm->mmap_lock) != current &&
	       search_exception_tables(instruction_pointer(regs));
}

/* Go on at the fix-up of the instruction that faulted, or die. */
static void fixup_or_die(struct pt_regs *regs, unsigned long addr)
{
	unsigned long fixup = search_exception_tables(instruction_pointer(regs));

	if (!fixup)
		die_kernel_fault(regs, addr, "access to user memory outside uaccess routines", 0);
	instruction_pointer_set(regs, fixup);
}

void die_kernel_fault(struct pt_regs *regs, unsigned long addr, const char *what, unsigned long code)
{
	arch_fault_head(addr, what, code);
	die("Oops", regs, code);
}

/*
 * Three cases. An instruction fetch, or an access without a fix-up, is a bug. A user address goes to do_page_fault(),
 * which may make it good. A kernel address that was touched by intent (copy_from_kernel_nofault) takes its fix-up.
 */
void do_kernel_fault(struct pt_regs *regs, unsigned long addr, unsigned flags, const char *what, unsigned long code)
{
	if (flags & FAULT_FLAG_EXEC || !search_exception_tables(instruction_pointer(regs)))
		die_kernel_fault(regs, addr, what, code);
	if (addr < TASK_SIZE)
		do_page_fault(regs, addr, flags);
	else
		fixup_or_die(regs, addr);
}

/*
 * Send the signal for what handle_mm_fault() returned: nothing is mapped there, or not for this access. Tutorials trace
 * the function by this name, which Linux has on x86_64 only.
 */
static noinline void __bad_area_nosemaphore(unsigned long addr, int err)
{
	switch (err) {
	case -EACCES:
		force_sig_fault(SIGSEGV, SEGV_ACCERR, addr);
		break;
	case -EIO:
		force_sig_fault(SIGBUS, BUS_ADRERR, addr);
		break;
	case -ENOMEM:
		break; /* out_of_memory() has given this task up: SIGKILL is pending */
	default:
		force_sig_fault(SIGSEGV, SEGV_MAPERR, addr);
	}
}

/* A kernel access that cannot be made good takes its fix-up, and a program gets its signal. */
noinline void do_page_fault(struct pt_regs *regs, unsigned long addr, unsigned flags)
{
	struct mm_struct *mm = current->mm;
	int err;

	if (unlikely(!may_handle(regs, mm))) {
		fixup_or_die(regs, addr);
		return;
	}
	err = handle_mm_fault(mm, addr, flags);
	if (likely(!err))
		return;
	if (user_mode(regs))
		__bad_area_nosemaphore(addr, err);
	else
		fixup_or_die(regs, addr);
}
