/* The way from the machine's entry code into the kernel and back to user mode: what is not worth inlining. */
#include <asm/syscall_abi.h>
#include <kernel/entry.h>
#include <proc/signal.h>

noinline void exit_to_user_mode_loop(struct pt_regs *regs, u32 flags)
{
	do {
		do_notify_resume(regs, flags);
		flags = READ_ONCE(current->thread_flags);
	} while (flags & _TIF_WORK_MASK);
}

void exit_to_user_mode(struct pt_regs *regs)
{
	local_irq_disable();
	exit_to_user_mode_work(regs);
}

void exit_from_fork(struct pt_regs *regs)
{
	if (NEW_TASK_SHOWS_SYS_EXIT && tracepoint_key_on(&syscall_trace_key))
		syscall_trace_exit(regs);
	exit_to_user_mode(regs);
}

/* Set by the root interrupt controller's driver. */
void (*handle_arch_irq)(struct pt_regs *regs);

/* Softirqs run in irq_exit, so on the interrupt stack too. */
void handle_irq(struct pt_regs *regs)
{
	struct pt_regs *old;

	irq_enter();
	old = set_irq_regs(regs);
	handle_arch_irq(regs);
	set_irq_regs(old);
	irq_exit();
}
