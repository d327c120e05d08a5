/* System calls from user mode: number and arguments from the registers, the result into rax. */
#include <asm/ptrace.h>
#include <kernel/entry.h>

#include "exception.h"

/*
 * From entry.S, on the task's own stack, interrupts off; returns so, and the registers are then restored. The
 * number is an int to the ABI: what stands in the upper half of rax does not count. Not traced, as in Linux: the
 * call itself is, with this function as its parent.
 */
notrace void do_syscall_64(struct pt_regs *regs)
{
	enter_and_enable_irqs();
	syscall_dispatch(regs, (u32)regs->orig_rax);
	local_irq_disable();
	exit_to_user_mode_work(regs);
}
