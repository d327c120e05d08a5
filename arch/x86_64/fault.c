/* Page faults: user addresses go to the memory manager, the kernel's own to a fix-up or an oops. */
#include <asm/cpufeature.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <mm/mm.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <trace/events/exceptions.h>

#include "exception.h"

/* The error code in the memory manager's terms. A fetch is neither a read nor a write there. */
static unsigned fault_flags(u64 error_code)
{
	unsigned flags = error_code & PF_USER ? FAULT_FLAG_USER : 0;

	if (error_code & PF_INSTR)
		flags |= FAULT_FLAG_EXEC;
	else if (error_code & PF_WRITE)
		flags |= FAULT_FLAG_WRITE;
	return flags;
}

/* What the kernel tried, for the message of an oops; NULL when the address is not mapped at all. */
static const char *describe(u64 error_code, u64 address)
{
	if (!(error_code & PF_PROT))
		return NULL;
	if (error_code & PF_INSTR)
		return address < TASK_SIZE ? "execute from user memory" : "execute from non-executable memory";
	return error_code & PF_WRITE ? "write to read-only memory" : "read from unreadable memory";
}

/*
 * Did the kernel touch user memory outside of STAC and CLAC? That is a bug even where a fix-up
 * stands, and not one that a page would mend.
 */
static bool smap_violation(const struct pt_regs *regs, u64 error_code, u64 address)
{
	return cpu_features.smap && address < TASK_SIZE && !(regs->rflags & X86_EFLAGS_AC) && !(error_code & PF_INSTR);
}

/* A fault of the kernel itself. Without a fix-up it ends in an oops. */
static void kernel_fault(struct pt_regs *regs, u64 error_code, u64 address)
{
	if (unlikely(smap_violation(regs, error_code, address)))
		die_kernel_fault(regs, address, "access to user memory", error_code);
	do_kernel_fault(regs, address, fault_flags(error_code), describe(error_code, address), error_code);
}

/*
 * The CPU can access memory on user mode's behalf with the kernel's rights (SDM vol. 3, 4.6.1, "implicit
 * supervisor-mode access"). On hardware that is its own tables only; QEMU (TCG, 7.2) uses the stack of an
 * IRET or far call so, and where SMAP refuses it the page is as it should be: making it good would go on for
 * ever.
 */
static bool implicit_access_refused(u64 error_code)
{
	return (error_code & (PF_PROT | PF_USER)) == PF_PROT && cpu_features.smap;
}

/*
 * A fault of user mode: a page, or a signal. Interrupts are on if they were. A program reads the error code in the
 * frame of its signal, and whether a page of the kernel is there is not its business: as on Linux, it always looks so.
 */
static void user_fault(struct pt_regs *regs, u64 error_code, u64 address)
{
	current->thread.cr2 = address;
	current->thread.error_code = error_code | (address >= TASK_SIZE ? PF_PROT : 0);
	current->thread.trap_nr = X86_TRAP_PF;
	if (unlikely(address >= TASK_SIZE))
		force_sig_fault(SIGSEGV, SEGV_MAPERR, address);
	else if (unlikely(implicit_access_refused(error_code)))
		force_sig_fault(SIGSEGV, SEGV_ACCERR, address);
	else
		do_page_fault(regs, address, fault_flags(error_code));
}

noinline void exc_page_fault(struct pt_regs *regs, u64 error_code, u64 address)
{
	if (user_mode(regs))
		trace_page_fault_user(address, regs, error_code);
	else
		trace_page_fault_kernel(address, regs, error_code);
	/* The kernel sets no reserved bit: after any such access the tables are not to be trusted. */
	if (unlikely(error_code & PF_RSVD))
		die_kernel_fault(regs, address, "paging request through a corrupted page table", error_code);
	if (user_mode(regs))
		user_fault(regs, error_code, address);
	else
		kernel_fault(regs, error_code, address);
}
