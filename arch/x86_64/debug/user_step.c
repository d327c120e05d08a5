/* Single steps of a program (<arch/user_step.h>): RFLAGS.TF makes the CPU raise #DB after an instruction. */
#include <arch/user_step.h>
#include <asm/ptrace.h>
#include <sched/sched.h>

/* Where the program has not set RFLAGS.TF itself, TIF_FORCED_TF says so, and the flag is not shown. */
void user_enable_single_step(struct task_struct *t)
{
	struct pt_regs *regs = task_pt_regs(t);

	set_tsk_thread_flag(t, TIF_SINGLESTEP);
	if (regs->rflags & X86_EFLAGS_TF)
		return;
	regs->rflags |= X86_EFLAGS_TF;
	set_tsk_thread_flag(t, TIF_FORCED_TF);
}

void user_disable_single_step(struct task_struct *t)
{
	clear_tsk_thread_flag(t, TIF_SINGLESTEP);
	if (READ_ONCE(t->thread_flags) & BIT(TIF_FORCED_TF))
		task_pt_regs(t)->rflags &= ~X86_EFLAGS_TF;
	clear_tsk_thread_flag(t, TIF_FORCED_TF);
}

/* The trap flag is a part of the registers: nothing to do on the way. */
void user_step_enter(void)
{
}
