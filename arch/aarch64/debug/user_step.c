/* Single steps of a program (<arch/user_step.h>), by PSTATE.SS and MDSCR_EL1.SS. */
#include <arch/hw_breakpoint.h>
#include <arch/single_step.h>
#include <arch/user_step.h>
#include <asm/barrier.h>
#include <asm/ptrace.h>
#include <sched/sched.h>

extern const char user_step_vectors[]; /* entry.S */

/*
 * PSTATE.SS and MDSCR_EL1.SS step an instruction of user mode together (Arm ARM D2.12). The flag makes the way back to
 * user mode set the second one (user_step_enter); this is the first.
 */
void user_enable_single_step(struct task_struct *t)
{
	set_tsk_thread_flag(t, TIF_SINGLESTEP);
	task_pt_regs(t)->pstate |= PSR_SS_BIT;
}

void user_disable_single_step(struct task_struct *t)
{
	clear_tsk_thread_flag(t, TIF_SINGLESTEP);
	task_pt_regs(t)->pstate &= ~(u64)PSR_SS_BIT;
}

/*
 * Last in C before user mode. A CPU that is stepped through the kernel (single_step.c) is not any more, since there is
 * only one MDSCR_EL1.SS. Debug exceptions are masked first, or the kernel's next instruction would be stepped.
 */
notrace void user_step_enter(void)
{
	if (!(read_sysreg(mdscr_el1) & MDSCR_KDE))
		arch_hw_breakpoints_load(); /* opens the OS lock, which holds steps back, too */
	arch_single_step_stop();
	__asm__ volatile("msr daifset, #8" : : : "memory");
	write_sysreg(read_sysreg(mdscr_el1) | MDSCR_SS, mdscr_el1);
	write_sysreg(user_step_vectors, vbar_el1);
	isb();
}
