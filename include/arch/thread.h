/* Switching tasks, and what fork and exec do to the registers of one. <asm/thread.h> has struct thread_struct. */
#pragma once

#include <asm/thread.h>
#include <lib/types.h>

struct kernel_clone_args;
struct pt_regs;
struct task_struct;

extern unsigned char init_stack[]; /* the boot CPU's, THREAD_SIZE bytes above a guard page: init_task.stack */

/*
 * Save what must be kept, go on on next's stack; returns, there, the task that was switched from. Also switches
 * `current`. Interrupts off.
 */
struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next);
/* Right before it: user TLS and FP registers, and where entries from user mode find the stack. Interrupts off. */
void arch_thread_switch(struct task_struct *prev, struct task_struct *next);
/*
 * fork: prepare child->thread and its stack so that its first switch-in goes to ret_from_fork, which calls
 * schedule_tail(prev) and then either args->fn(args->fn_arg), or returns 0 to user mode on user_sp (0: the parent's)
 * with TLS `tls` when CLONE_SETTLS is set. A kernel thread whose fn returns 0 continues in user mode with its
 * task_pt_regs (kernel_execve has filled them); otherwise do_exit(result). Thread context; 0 or -errno (-EPERM: the
 * machine takes only user addresses for `tls`, and this is none).
 */
int arch_copy_thread(struct task_struct *child, const struct kernel_clone_args *args, unsigned long user_sp,
		     unsigned long tls);
/*
 * fork: the child is a plain copy of its model, and loses what the debugger of that one has set in the debug registers.
 * Thread context; the child has not run yet.
 */
void arch_reset_thread(struct task_struct *child);
/* exec: everything zero, then pc, sp and what user mode needs. */
void arch_start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp);
/* exec: FP registers and TLS of `task` (current) back to zero. */
void arch_flush_thread(struct task_struct *task);
/* The task is about to be freed. */
void arch_release_thread(struct task_struct *task);
