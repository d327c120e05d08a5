/* From the machine's fault entry to the address space: make it good, signal the program, or fix the kernel
 * access up. */
#include <asm/ptrace.h>
#include <kernel/extable.h>
#include <kernel/printk.h>
#include <mm/oom.h>
#include <proc/signal.h>
#include <sched/sched.h>

#include "vma.h"

/* The owner word of a mutex is the task, its lowest bit says that there are waiters. */
static bool holds_mmap_lock(const struct mm_struct *mm)
{
	return (READ_ONCE(mm->mmap_lock.owner) & ~1UL) == (unsigned long)current;
}

/*
 * Kernel code may fault on user memory where it has a fix-up and may sleep. With interrupts or preemption
 * off, without an address space, or with the lock held that the fault needs, it gets the fix-up at once.
 */
static bool may_handle(struct pt_regs *regs, const struct mm_struct *mm)
{
	if (user_mode(regs))
		return true;
	return mm && interrupts_enabled(regs) && !in_atomic() && !holds_mmap_lock(mm) &&
	       search_exception_tables(instruction_pointer(regs));
}

static void fixup_or_die(struct pt_regs *regs, unsigned long addr)
{
	unsigned long fixup = search_exception_tables(instruction_pointer(regs));

	if (fixup) {
		instruction_pointer_set(regs, fixup);
		return;
	}
	pr_emerg("Unable to handle kernel access to user memory at virtual address %016lx\n", addr);
	die("Oops", regs, addr);
}

void die_kernel_fault(struct pt_regs *regs, unsigned long addr, const char *what, unsigned long code)
{
	if (addr < PAGE_SIZE)
		what = "NULL pointer dereference";
	pr_emerg("Unable to handle kernel %s at virtual address %016lx\n", what ? what : "paging request",
		 addr);
	die("Oops", regs, code);
}

/*
 * To user memory on purpose: the memory manager may make it good. Else the fix-up, and without one it is a
 * bug.
 */
void do_kernel_fault(struct pt_regs *regs, unsigned long addr, unsigned flags, const char *what,
		     unsigned long code)
{
	if (flags & FAULT_FLAG_EXEC || !search_exception_tables(instruction_pointer(regs)))
		die_kernel_fault(regs, addr, what, code);
	if (addr < TASK_SIZE)
		do_page_fault(regs, addr, flags);
	else
		fixup_or_die(regs, addr);
}

/* Nothing of the program's own is there, or not for this access. Linux has the name on x86_64 alone. */
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
		break; /* out_of_memory() has given up on us: SIGKILL is waiting */
	default:
		force_sig_fault(SIGSEGV, SEGV_MAPERR, addr);
	}
}

noinline void do_page_fault(struct pt_regs *regs, unsigned long addr, unsigned flags)
{
	struct mm_struct *mm = current->mm;
	int err;

	if (unlikely(!may_handle(regs, mm))) {
		fixup_or_die(regs, addr);
		return;
	}
	do
		err = handle_mm_fault(mm, addr, flags);
	while (unlikely(err == -ENOMEM) && out_of_memory());
	if (likely(!err))
		return;
	if (user_mode(regs))
		__bad_area_nosemaphore(addr, err);
	else
		fixup_or_die(regs, addr);
}
