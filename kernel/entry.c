/*
 * The way from the machine's entry code into the kernel and back to user mode: the parts that both machines share and
 * that run too rarely to be inlined. Each machine's entry.S saves the registers, and its C code calls in here.
 */
#include <arch/debug_ops.h>
#include <asm/syscall_abi.h>
#include <kernel/entry.h>
#include <proc/signal.h>

/*
 * Called with interrupts off and work flags set; returns with interrupts off and no flag set. Interrupts stay off from
 * the last look at the flags to the return, so an interrupt that sets a flag afterwards interrupts user mode and comes
 * here again.
 */
noinline void exit_to_user_mode_loop(struct pt_regs *regs, u32 flags)
{
	while (flags & _TIF_WORK_MASK) {
		do_notify_resume(regs, flags);
		flags = READ_ONCE(current->thread_flags);
	}
	if (flags & _TIF_SINGLESTEP)
		debug_ops()->user_step();
}

/* Returning from a fault or a system call: there may be work, so look with interrupts off. */
void exit_to_user_mode(struct pt_regs *regs)
{
	local_irq_disable();
	exit_to_user_mode_work(regs);
}

/*
 * The first return of a new task to user mode. On a machine where Linux shows the child's return from clone() as a
 * sys_exit event, so does this kernel.
 */
void exit_from_fork(struct pt_regs *regs)
{
	if (NEW_TASK_SHOWS_SYS_EXIT && tracepoint_key_on(&syscall_trace_key))
		syscall_trace_exit(regs);
	exit_to_user_mode(regs);
}

/* The root interrupt controller's driver sets this at boot: it asks its hardware which interrupt came. */
void (*handle_arch_irq)(struct pt_regs *regs);

/*
 * Every interrupt passes here. set_irq_regs() keeps the interrupted registers for the tick, which
 * charges what they show, and interrupts may nest, so the old value comes back. Softirqs run in irq_exit(), hence on
 * the interrupt stack as well. Context: interrupts off.
 */
void handle_irq(struct pt_regs *regs)
{
	struct pt_regs *old;

	irq_enter();
	old = set_irq_regs(regs);
	handle_arch_irq(regs);
	set_irq_regs(old);
	irq_exit();
}
