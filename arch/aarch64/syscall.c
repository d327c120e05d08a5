/* System calls from user mode: number and arguments from the registers, the result into x0. */
#include <asm/ptrace.h>
#include <kernel/entry.h>

#include "exception.h"

/* x8 holds the number, x0 to x5 the arguments; x0 takes the result. */
static noinline void do_el0_svc(struct pt_regs *regs)
{
	u32 nr = regs->regs[8];

	regs->orig_x0 = regs->regs[0];
	regs->syscallno = nr;
	regs->regs[0] = syscall_dispatch(regs, nr);
}

/* From entry.S, on the task's own stack, interrupts off; returns so, and the registers are then restored.
 * Not traced, as in Linux: do_el0_svc is. */
notrace void el0_svc(struct pt_regs *regs)
{
	enter_and_enable_irqs();
	do_el0_svc(regs);
	local_irq_disable();
	exit_to_user_mode_work(regs);
}
