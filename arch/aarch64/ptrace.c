/*
 * A debugger's view of a task that stands still (<arch/ptrace.h>): its registers, in Linux's sets, and its single steps.
 * All registers are in memory then: the general ones in the pt_regs at the top of its stack, the others in its
 * thread_struct. To change the FP registers, it is enough to say that no CPU has them any more.
 */
#include <arch/ptrace.h>
#include <arch/single_step.h>
#include <arch/thread.h>
#include <asm/barrier.h>
#include <asm/elf.h>
#include <asm/ptrace.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#define NT_PRSTATUS	   1
#define NT_PRFPREG	   2
#define NT_ARM_TLS	   0x401
#define NT_ARM_SYSTEM_CALL 0x404

extern const char user_step_vectors[]; /* entry.S */

#define USER_REGS_SIZE offsetof(struct pt_regs, orig_x0) /* Linux's user_pt_regs: x0 to x30, sp, pc, pstate */

/* Bits of PSTATE that a debugger may set: condition flags, and what rt_sigreturn(2) takes from a program, too. */
#define USER_PSTATE (PSR_NZCV_MASK | PSR_BTYPE_MASK | PSR_SSBS_BIT | PSR_DIT_BIT | PSR_TCO_BIT)

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
 * Last in C before user mode. A CPU that is stepped through the kernel (single_step.c) is not any more, since there is one
 * MDSCR_EL1.SS. Debug exceptions are masked first, or the kernel's next instruction would be the one that is stepped.
 */
notrace void user_step_enter(void)
{
	arch_single_step_stop();
	__asm__ volatile("msr daifset, #8" : : : "memory");
	write_sysreg(read_sysreg(mdscr_el1) | MDSCR_SS, mdscr_el1);
	write_sysreg(user_step_vectors, vbar_el1);
	isb();
}

static void gpr_get(struct task_struct *t, void *buf)
{
	memcpy(buf, task_pt_regs(t), USER_REGS_SIZE);
}

/* Another mode or width than user mode's is refused, and so are masks of interrupts: as in Linux, -EINVAL. */
static int gpr_set(struct task_struct *t, const void *buf, unsigned n)
{
	struct pt_regs *regs = task_pt_regs(t), new;

	memcpy(&new, buf, USER_REGS_SIZE);
	if (new.pstate & (PSR_MODE_MASK | PSR_MODE32 | PSR_DAIF_MASK))
		return -EINVAL;
	new.pstate = (new.pstate & USER_PSTATE) | (regs->pstate & ~(u64)USER_PSTATE);
	memcpy(regs, &new, USER_REGS_SIZE);
	return 0;
}

static void fpr_get(struct task_struct *t, void *buf)
{
	memcpy(buf, &t->thread.fpsimd, sizeof(t->thread.fpsimd));
}

static int fpr_set(struct task_struct *t, const void *buf, unsigned n)
{
	memcpy(&t->thread.fpsimd, buf, sizeof(t->thread.fpsimd));
	t->thread.fpu_cpu = NR_CPUS;
	return 0;
}

static void tls_get(struct task_struct *t, void *buf)
{
	memcpy(buf, &t->thread.tp_value, sizeof(u64));
}

static int tls_set(struct task_struct *t, const void *buf, unsigned n)
{
	memcpy(&t->thread.tp_value, buf, sizeof(u64));
	return 0;
}

static void syscall_get(struct task_struct *t, void *buf)
{
	memcpy(buf, &task_pt_regs(t)->syscallno, sizeof(s32));
}

static int syscall_set(struct task_struct *t, const void *buf, unsigned n)
{
	memcpy(&task_pt_regs(t)->syscallno, buf, sizeof(s32));
	return 0;
}

static const struct regset regsets[] = {
	{NT_PRSTATUS, 8, USER_REGS_SIZE, gpr_get, gpr_set},
	{NT_PRFPREG, 4, sizeof(struct user_fpsimd), fpr_get, fpr_set},
	{NT_ARM_TLS, 8, sizeof(u64), tls_get, tls_set},
	{NT_ARM_SYSTEM_CALL, 4, sizeof(s32), syscall_get, syscall_set},
};

const struct regset *arch_regset(unsigned type)
{
	for (unsigned i = 0; i < ARRAY_SIZE(regsets); i++)
		if (regsets[i].type == type)
			return &regsets[i];
	return NULL;
}

long arch_ptrace(struct task_struct *t, long request, unsigned long addr, unsigned long data)
{
	return -EIO;
}
