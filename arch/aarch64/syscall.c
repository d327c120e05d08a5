/* System calls from user mode, and the last look around before going back to it. */
#include <asm/ptrace.h>
#include <irq/irqflags.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>

#include "exception.h"

/* Do what the flags ask for until none is left; interrupts are off at the last look and stay so until ERET.
 */
static noinline void exit_to_user_mode_loop(struct pt_regs *regs, u32 flags)
{
	do {
		do_notify_resume(regs, flags);
		flags = READ_ONCE(current->thread_flags);
	} while (flags & _TIF_WORK_MASK);
}

static __always_inline void exit_work(struct pt_regs *regs)
{
	u32 flags = READ_ONCE(current->thread_flags);

	if (unlikely(flags & _TIF_WORK_MASK))
		exit_to_user_mode_loop(regs, flags);
}

void exit_to_user_mode(struct pt_regs *regs)
{
	local_irq_disable();
	exit_work(regs);
}

/* A new process's way out of ret_from_fork. */
void exit_from_fork(struct pt_regs *regs)
{
	exit_to_user_mode(regs);
}

/* x8 holds the number, x0 to x5 the arguments; x0 takes the result. */
static noinline void do_el0_svc(struct pt_regs *regs)
{
	u32 nr = regs->regs[8];
	syscall_fn_t fn = NULL;
	long ret = -ENOSYS;

	regs->orig_x0 = regs->regs[0];
	regs->syscallno = nr;
	if (likely(nr < nr_syscalls))
		fn = sys_call_table[nr];
	if (likely(fn))
		ret = fn(regs->regs[0], regs->regs[1], regs->regs[2], regs->regs[3], regs->regs[4],
			 regs->regs[5]);
	else
		__atomic_fetch_add(&nr_unknown_syscalls, 1, __ATOMIC_RELAXED);
	regs->regs[0] = ret;
}

/* From entry.S, on the task's own stack, interrupts off; returns so, and the registers are then restored. */
void el0_svc(struct pt_regs *regs)
{
	local_irq_enable();
	do_el0_svc(regs);
	local_irq_disable();
	exit_work(regs);
}
