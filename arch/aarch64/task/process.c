/* Making a task's first registers, switching what belongs to a task, and forgetting it. */
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <arch/debug_ops.h>
#include <arch/thread.h>
#include <lib/string.h>
#include <irq/irqflags.h>
#include <kernel/smp.h>
#include <proc/fork.h>
#include <sched/current.h>

#include "../exception.h"

/*
 * Called by the scheduler with interrupts off, before the stacks are switched. User mode may write
 * TPIDR_EL0, so it is read back.
 */
void arch_thread_switch(struct task_struct *prev, struct task_struct *next)
{
	prev->thread.tp_value = read_sysreg(tpidr_el0);
	write_sysreg(next->thread.tp_value, tpidr_el0);
	if (unlikely((u64)prev->thread.debug | (u64)next->thread.debug))
		debug_ops()->task_switch(next);
	if (prev->thread.fpu_live | next->thread.fpu_hot)
		fpsimd_switch(prev, next);
}

/* The user side of a fork: the parent's registers, TLS and FP state, with its own stack, TLS and result. */
static void copy_user_state(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
			    unsigned long tls)
{
	struct pt_regs *regs = task_pt_regs(child);

	*regs = *task_pt_regs(current);
	regs->regs[0] = 0;
	if (user_sp)
		regs->sp = user_sp;
	child->thread.tp_value = args->flags & CLONE_SETTLS ? tls : read_sysreg(tpidr_el0);
	fpsimd_preserve();
	child->thread.fpsimd = current->thread.fpsimd;
	child->thread.fpu_hot = current->thread.fpu_hot;
}

/* A kernel thread: empty user registers, for the day it calls kernel_execve. */
static void fresh_state(struct task_struct *child)
{
	struct pt_regs *regs = task_pt_regs(child);

	memset(regs, 0, sizeof(*regs));
	regs->pstate = PSR_MODE_EL0t;
	regs->syscallno = NO_SYSCALL;
	child->thread.tp_value = 0;
	memset(&child->thread.fpsimd, 0, sizeof(child->thread.fpsimd));
	child->thread.fpu_hot = 0;
}

/*
 * The child's first switch-in returns to ret_from_fork, on an empty stack below its pt_regs: the frame record there
 * ends walks. x19 and x20 are a kernel thread's function and argument; x19 is 0 for the child of a fork. Returns 0.
 */
int arch_copy_thread(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
		     unsigned long tls)
{
	struct pt_regs *regs = task_pt_regs(child);
	struct cpu_context *ctx = &child->thread.ctx;

	memset(ctx, 0, sizeof(*ctx));
	*(struct task_struct **)(task_stack_end(child) - ARCH_STACK_TOP_RESERVED) = child; /* for entry from EL0 */
	if (args->fn) {
		fresh_state(child);
		ctx->x19 = (u64)args->fn;
		ctx->x20 = (u64)args->fn_arg;
	} else {
		copy_user_state(child, args, user_sp, tls);
	}
	child->thread.fpu_live = 0;
	child->thread.fpu_cpu = NR_CPUS;
	child->thread.fault_address = 0;
	if (child->thread_flags & _TIF_SINGLESTEP)
		debug_ops()->user_step_end(child);     /* it is the model's debugger that steps */
	regs->stackframe[0] = regs->stackframe[1] = 0; /* the last record of a walk */
	ctx->fp = (u64)&regs->stackframe;
	ctx->sp = (u64)regs;
	ctx->pc = (u64)ret_from_fork;
	return 0;
}

void arch_reset_thread(struct task_struct *child)
{
	child->thread.debug = NULL;
}

void arch_start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp)
{
	s32 nr = regs->syscallno; /* execve's, for sys_exit */

	memset(regs, 0, sizeof(*regs));
	regs->pc = pc;
	regs->sp = sp;
	regs->pstate = PSR_MODE_EL0t;
	regs->syscallno = nr;
}

void arch_flush_thread(struct task_struct *task)
{
	fpsimd_reload(); /* first: a switch in between must not save the old program's registers over the zeros */
	memset(&task->thread.fpsimd, 0, sizeof(task->thread.fpsimd));
	task->thread.tp_value = 0;
	task->thread.fault_address = 0;
	write_sysreg(0, tpidr_el0);
	if (task->thread.debug)
		debug_ops()->task_forget(task);
}

/*
 * The struct may be given to another task at the same address. A task's fpu_cpu begins as "no CPU", so no CPU mistakes
 * its registers for the new task's.
 */
void arch_release_thread(struct task_struct *task)
{
	task->thread.fpu_cpu = NR_CPUS;
	if (task->thread.debug)
		debug_ops()->task_forget(task);
}
