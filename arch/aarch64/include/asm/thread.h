/* What of a task is this machine's: registers while it does not run, TLS, FP/SIMD state. */
#pragma once

#include <lib/types.h>

struct kernel_clone_args;
struct pt_regs;
struct task_struct;

/* What a C function may rely on across a call (AAPCS64 6.1.1): all that cpu_switch_to must keep. */
struct cpu_context {
	u64 x19, x20, x21, x22, x23, x24, x25, x26, x27, x28;
	u64 fp, sp, pc;
};
struct user_fpsimd {
	u64 vregs[64]; /* V0-V31, low half first */
	u32 fpsr, fpcr;
	u64 pad; /* keeps the size a multiple of 16 */
} __aligned(16);

/*
 * FP/SIMD: `fpsimd` is current while the task does not run; while it runs and fpu_live is set, the CPU's
 * registers are newer. Locks: s changed by the task itself with preemption off, or by the switch.
 */
struct thread_struct {
	struct cpu_context ctx;	   /* [s] */
	u64 tp_value;		   /* [s] TPIDR_EL0, user TLS, while not running */
	struct user_fpsimd fpsimd; /* [s] */
	u32 fpu_cpu;		   /* [s] CPU whose registers last held fpsimd; NR_CPUS or above: none */
	u8 fpu_live;		   /* [s] EL0 may use the registers, and they are the task's */
	u8 fpu_hot;		   /* [s] switch-ins left that load the registers before they are asked for */
	u64 fault_address;	   /* [s] of the last fault signal, for sigcontext */
};

extern unsigned char init_stack[]; /* the boot CPU's, THREAD_SIZE bytes above a guard page: init_task.stack */

/*
 * Save what must be kept, go on on next's stack; returns, there, the task that was switched from. Also
 * switches `current`. Interrupts off.
 */
struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next);
/* Right before it: user TLS and FP registers. Interrupts off. */
void arch_thread_switch(struct task_struct *prev, struct task_struct *next);
/*
 * fork: prepare child->thread and its stack so that its first switch-in goes to ret_from_fork, which calls
 * schedule_tail(prev) and then either args->fn(args->fn_arg), or returns 0 to user mode on user_sp (0: the
 * parent's) with TLS `tls` when CLONE_SETTLS is set. A kernel thread whose fn returns 0 continues in user
 * mode with its task_pt_regs (kernel_execve has filled them); otherwise do_exit(result). Thread context; 0 or
 * -errno.
 */
int arch_copy_thread(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
		     unsigned long tls);
/* exec: everything zero, then pc and sp. */
void arch_start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp);
/* exec: FP registers and TLS of `task` (current) back to zero. */
void arch_flush_thread(struct task_struct *task);
/* The task is about to be freed. */
void arch_release_thread(struct task_struct *task);
