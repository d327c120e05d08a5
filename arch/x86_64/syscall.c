/* System calls from user mode: number and arguments from the registers, the result into rax. */
#include <asm/ptrace.h>
#include <kernel/entry.h>

#include "exception.h"

/*
 * From entry.S, on the task's own stack. Interrupts are off at the call and at the return, after which the registers
 * are restored. The number is an int by the ABI, so the upper half of rax does not count. This function is not traced,
 * as in Linux; the call itself is, with this function as its parent.
 */
notrace void do_syscall_64(struct pt_regs *regs)
{
	enter_and_enable_irqs();
	syscall_dispatch(regs, (u32)regs->orig_rax);
	local_irq_disable();
	exit_to_user_mode_work(regs);
}
