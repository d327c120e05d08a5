/* Memory aborts: user addresses go to the memory manager, the kernel's own to a fix-up or an oops. */
#include <asm/page.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <mm/mm.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <trace/events/exceptions.h>

#include "../exception.h"

/* The syndrome in the memory manager's terms. */
static unsigned fault_flags(const struct pt_regs *regs, u64 esr)
{
	unsigned flags = user_mode(regs) ? FAULT_FLAG_USER : 0;

	if (ESR_EC(esr) == ESR_EC_IABT_LOW || ESR_EC(esr) == ESR_EC_IABT_CUR)
		flags |= FAULT_FLAG_EXEC;
	/* Cache maintenance reports itself as a write, but reading is all that it must be allowed. */
	else if ((esr & ESR_WNR) && !(esr & ESR_CM))
		flags |= FAULT_FLAG_WRITE;
	return flags;
}

/* What the kernel tried, for the message of an oops; NULL when the address is not mapped at all. */
static const char *describe(u64 far, u64 esr)
{
	if ((esr & ESR_FSC_TYPE) != ESR_FSC_PERMISSION)
		return NULL;
	if (ESR_EC(esr) == ESR_EC_IABT_CUR)
		return far < TASK_SIZE ? "execution of user memory" : "execute from non-executable memory";
	return esr & ESR_WNR ? "write to read-only memory" : "read from unreadable memory";
}

/*
 * A fault of user mode: the memory manager makes the page good or sends a signal. An address in the kernel's half is
 * never good.
 */
static void user_fault(u64 far, u64 esr, struct pt_regs *regs)
{
	current->thread.fault_address = far;
	if (far < TASK_SIZE)
		do_page_fault(regs, far, fault_flags(regs, esr));
	else
		force_sig_fault(SIGSEGV, SEGV_MAPERR, far);
}

/*
 * Alignment, external abort, parity, TLB conflict: nothing that a page could make good. A program gets SIGBUS; the
 * kernel has a fix-up, or dies.
 */
static void other_abort(u64 far, u64 esr, struct pt_regs *regs)
{
	if (user_mode(regs)) {
		current->thread.fault_address = far;
		force_sig_fault(SIGBUS, (esr & ESR_FSC_MASK) == ESR_FSC_ALIGNMENT ? BUS_ADRALN : BUS_OBJERR, far);
	} else if (!fixup_exception(regs)) {
		pr_emerg("Unhandled abort (fault status 0x%02lx) at %016lx\n", (unsigned long)esr & ESR_FSC_MASK,
			 (unsigned long)far);
		die("Oops - abort", regs, esr);
	}
}

/*
 * A fault of the kernel. Touching user memory outside of the functions that clear PAN is a bug, even where a fix-up
 * stands, and no page would mend it.
 */
static void kernel_fault(u64 far, u64 esr, struct pt_regs *regs)
{
	if (unlikely(ESR_EC(esr) == ESR_EC_DABT_CUR && far < TASK_SIZE && !(esr & ESR_CM) && pan_violation(regs)))
		die_kernel_fault(regs, far, "access to user memory outside uaccess routines", esr);
	do_kernel_fault(regs, far, fault_flags(regs, esr), describe(far, esr), esr);
}

/*
 * The syndrome's type decides: a missing translation, an access flag that is not set and a permission are the memory
 * manager's; all else is other_abort's. Called with interrupts on if they were on before.
 */
noinline void do_mem_abort(u64 far, u64 esr, struct pt_regs *regs)
{
	unsigned type = esr & ESR_FSC_MASK & ESR_FSC_TYPE;

	if (user_mode(regs))
		trace_page_fault_user(far, regs, esr);
	else
		trace_page_fault_kernel(far, regs, esr);
	if (type != ESR_FSC_TRANSLATION && type != ESR_FSC_ACCESS && type != ESR_FSC_PERMISSION)
		other_abort(far, esr, regs);
	else if (user_mode(regs))
		user_fault(far, esr, regs);
	else
		kernel_fault(far, esr, regs);
}
