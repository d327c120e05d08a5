/* System calls from user mode: number and arguments from the registers, the result into x0. */
#include <asm/ptrace.h>
#include <kernel/entry.h>
#include <proc/personality.h>
#include <proc/syscall.h>

#include "exception.h"

/* Linux's arm64 has one of its own, because of 32-bit programs: where no such program can run it refuses their mode. */
SYSCALL_DEFINE1(arm64_personality, unsigned int, personality)
{
	if (personality != PER_QUERY && (personality & PER_MASK) == PER_LINUX32)
		return -EINVAL;
	return ksys_personality(personality);
}

/* x8 holds the number, x0 to x5 the arguments; x0 takes the result. */
static noinline void do_el0_svc(struct pt_regs *regs)
{
	regs->orig_x0 = regs->regs[0];
	regs->syscallno = regs->regs[8];
	syscall_dispatch(regs, regs->syscallno);
}

/*
 * From entry.S, on the task's own stack, interrupts off; returns so, and the registers are then restored. Not traced,
 * as in Linux: do_el0_svc is.
 */
notrace void el0_svc(struct pt_regs *regs)
{
	enter_and_enable_irqs();
	do_el0_svc(regs);
	local_irq_disable();
	exit_to_user_mode_work(regs);
}
