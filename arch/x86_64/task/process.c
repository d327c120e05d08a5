/* Making a task's first registers, switching what belongs to a task, and forgetting it. */
#include <arch/debug_ops.h>
#include <arch/thread.h>
#include <asm/debugreg.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <sched/current.h>

#include "../exception.h"
#include "segments.h"
#include "../smp.h"

/*
 * Called by the scheduler with interrupts off, before the stacks are switched. The next task's stack is where the
 * machine's next entry from user mode begins.
 */
void arch_thread_switch(struct task_struct *prev, struct task_struct *next)
{
	cpu_set_kernel_stack(task_stack_end(next));
	segments_switch(&prev->thread, &next->thread);
	if (unlikely(prev->thread.debug.dr7 | next->thread.debug.dr7))
		debug_ops()->task_switch(next);
	fpu_switch(prev, next);
}

/* What user mode starts with: all zero, interrupts on. */
static void fresh_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
	regs->rflags = X86_EFLAGS_IF | X86_EFLAGS_FIXED;
	regs->vector = NO_VECTOR;
	regs->orig_rax = NO_SYSCALL;
}

/* The user side of a fork: the parent's registers and TLS, with its own stack, TLS and result. TLS is FS's base. */
static void copy_user_state(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
			    unsigned long tls)
{
	struct pt_regs *regs = task_pt_regs(child);

	*regs = *task_pt_regs(current);
	regs->rax = 0;
	if (user_sp)
		regs->rsp = user_sp;
	segments_copy(&child->thread);
	if (args->flags & CLONE_SETTLS) {
		child->thread.segments.fs = 0;
		child->thread.fsbase = tls;
	}
}

/*
 * The child's first switch-in pops this frame and returns to ret_from_fork, on an empty stack below its pt_regs; the
 * frame record there ends walks.
 *
 *	task_stack_end	pt_regs, with the last frame record
 *			struct switch_frame: rbp, rbx (function), r12 (argument), pc = ret_from_fork
 *	thread.sp
 */
int arch_copy_thread(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
		     unsigned long tls)
{
	struct pt_regs *regs = task_pt_regs(child);
	struct switch_frame *frame = (struct switch_frame *)regs - 1;

	/* A base that is not canonical would raise #GP in the switch, one of the kernel's would pass for its own. */
	if (!args->fn && (args->flags & CLONE_SETTLS) && tls >= TASK_SIZE)
		return -EPERM;
	memset(frame, 0, sizeof(*frame));
	if (args->fn) { /* a kernel thread: empty user registers, for the day it calls kernel_execve */
		fresh_regs(regs);
		child->thread.segments.all = child->thread.fsbase = child->thread.gsbase = 0;
		frame->rbx = (u64)args->fn;
		frame->r12 = (u64)args->fn_arg;
	} else {
		copy_user_state(child, args, user_sp, tls);
	}
	fpu_copy(child, !args->fn);
	child->thread.cr2 = child->thread.trap_nr = child->thread.error_code = 0;
	if (child->thread_flags & _TIF_SINGLESTEP)
		debug_ops()->user_step_end(child);     /* it is the model's debugger that steps */
	regs->stackframe[0] = regs->stackframe[1] = 0; /* the last record of a walk */
	frame->rbp = (u64)&regs->stackframe;
	frame->pc = (u64)ret_from_fork;
	child->thread.sp = (u64)frame;
	return 0;
}

void arch_reset_thread(struct task_struct *child)
{
	child->thread.debug = (struct user_debug){0};
}

void arch_start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp)
{
	u64 vector = regs->vector, nr = regs->orig_rax; /* execve's, for sys_exit */

	fresh_regs(regs);
	regs->vector = vector;
	regs->orig_rax = nr;
	regs->rip = pc;
	regs->rsp = sp;
}

/* The debugger of the old program has no breakpoints in the new one. */
void arch_flush_thread(struct task_struct *task)
{
	fpu_flush(task);
	task->thread.cr2 = task->thread.trap_nr = task->thread.error_code = 0;
	segments_clear(); /* `task` is current */
	if (task->thread.debug.dr7)
		debug_ops()->task_forget(task);
}

/* What a CPU's registers hold is told by more than the task's address (fpu.c). */
void arch_release_thread(struct task_struct *task)
{
	if (task->thread.debug.dr7)
		debug_ops()->task_forget(task);
}
