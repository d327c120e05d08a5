/* What of a task is this machine's: registers while it does not run, TLS, FPU state. */
#pragma once

#include <asm/fpu.h>
#include <lib/types.h>

struct kernel_clone_args;
struct pt_regs;
struct task_struct;

/*
 * What cpu_switch_to leaves at thread.sp: all that a C function may rely on across a call (System V
 * ABI, 3.2.1). The last two words are a frame record: {rbp, return address} of the caller.
 */
struct switch_frame {
	u64 r15, r14, r13, r12, rbx, rbp;
	u64 pc;
};

/*
 * fsbase and gsbase are what user mode was given (arch_prctl, clone): user mode cannot set the registers
 * itself, as CR4.FSGSBASE is off, so they need no reading back. Both are canonical user addresses. Locks: s
 * changed by the task itself, or by the switch; t the task itself.
 */
struct thread_struct {
	u64 sp;		/* [s] struct switch_frame, while not running */
	u64 fsbase;	/* [t] FS base, user TLS */
	u64 gsbase;	/* [t] user GS base, in KERNEL_GS_BASE while the task is in the kernel */
	u64 cr2;	/* [t] of the last fault signal, for sigcontext, as are the next two */
	u64 trap_nr;	/* [t] vector */
	u64 error_code; /* [t] */
	struct fpu fpu; /* [s] */
};

extern unsigned char init_stack[]; /* the boot CPU's, THREAD_SIZE bytes above a guard page: init_task.stack */

/*
 * Save what must be kept, go on on next's stack; returns, there, the task that was switched from. Also
 * switches `current`. Interrupts off.
 */
struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next);
/* Right before it: kernel stack for entries from user mode, user TLS and FPU. Interrupts off. */
void arch_thread_switch(struct task_struct *prev, struct task_struct *next);
/*
 * fork: prepare child->thread and its stack so that its first switch-in goes to ret_from_fork, which calls
 * schedule_tail(prev) and then either args->fn(args->fn_arg), or returns 0 to user mode on user_sp (0: the
 * parent's) with TLS `tls` when CLONE_SETTLS is set. A kernel thread whose fn returns 0 continues in user
 * mode with its task_pt_regs (kernel_execve has filled them); otherwise do_exit(result). Thread context; 0 or
 * -errno (-EPERM: `tls` is no user address).
 */
int arch_copy_thread(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
		     unsigned long tls);
/* exec: everything zero, then rip, rsp and what user mode needs. */
void arch_start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp);
/* exec: FPU registers and TLS of `task` (current) back to zero. */
void arch_flush_thread(struct task_struct *task);
/* The task is about to be freed. */
void arch_release_thread(struct task_struct *task);
