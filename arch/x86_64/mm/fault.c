/* Page faults: user addresses go to the memory manager, the kernel's own to a fix-up or an oops. */
#include <arch/stacktrace.h>
#include <asm/cpufeature.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <mm/mm.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <trace/events/exceptions.h>

#include "../exception.h"

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

/* Why code that is there may not be executed. */
static void show_forbidden_fetch(unsigned long addr)
{
	if (addr < TASK_SIZE)
		pr_emerg("unable to execute userspace code (SMEP?) (uid: %u)\n", current->uid);
	else
		pr_emerg("kernel tried to execute NX-protected page - exploit attempt? (uid: %u)\n", current->uid);
}

/*
 * The first page is never mapped, so an address there is a NULL pointer with the offset of a member. The error code
 * says all that `what` could.
 */
void arch_fault_head(unsigned long addr, const char *what, unsigned long code)
{
	const char *access = code & PF_WRITE ? "write access" : "read access";
	const char *why = code & PF_RSVD ? "reserved bit violation" : "permissions violation";

	if (code & PF_INSTR)
		access = "instruction fetch";
	if (!(code & PF_PROT))
		why = "not-present page";
	else if (code & PF_INSTR)
		show_forbidden_fetch(addr);
	pr_emerg("BUG: %s address: %016lx\n",
		 addr < PAGE_SIZE ? "kernel NULL pointer dereference," : "unable to handle page fault for", addr);
	pr_emerg("#PF: %s %s in kernel mode\n", code & PF_USER ? "user" : "supervisor", access);
	pr_emerg("#PF: error_code(0x%04lx) - %s\n", code, why);
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
		die_kernel_fault(regs, address, NULL, error_code);
	do_kernel_fault(regs, address, fault_flags(error_code), NULL, error_code);
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
		die_kernel_fault(regs, address, NULL, error_code);
	if (user_mode(regs))
		user_fault(regs, error_code, address);
	else
		kernel_fault(regs, error_code, address);
}
