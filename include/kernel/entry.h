/*
 * Between a machine's entry code and the kernel: what is done on the way in and, above all, on the way out.
 * Inline, because every system call and interrupt passes here; the functions are for the machine layer only.
 */
#pragma once

#include <arch/irq.h>
#include <asm/ptrace.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <trace/tracepoint.h>

extern const char __ftrace_text_start[], __ftrace_text_end[]; /* linker.ld */

/* Do what the flags ask for until no flag is left but that of a single step. Interrupts off, also at the last look. */
void exit_to_user_mode_loop(struct pt_regs *regs, u32 flags);
/*
 * Work before user mode: signals, rescheduling. Turns interrupts off; they stay so until the registers are restored.
 * The last of C: tracers are told that interrupts go on, as they do in user mode.
 */
void exit_to_user_mode(struct pt_regs *regs);
/* A new task's way out of ret_from_fork: the same, and where Linux's shows it the end of the call that made it. */
void exit_from_fork(struct pt_regs *regs);
/* On this CPU's interrupt stack, unless that was in use already: hard interrupt context around handle_arch_irq(). */
void handle_irq(struct pt_regs *regs);

/*
 * The machine masks interrupts when it takes an exception and restores what was when it returns: these tell tracers.
 * First thing in C after user mode, or on an interrupt, which has found interrupts on.
 */
static __always_inline void enter_with_irqs_off(void)
{
	trace_hook(trace_irqs_key, true, trace_hardirqs_off);
}
/* First thing, where they go on again at once: told off and on here, it would be a section of no length. */
static __always_inline void enter_and_enable_irqs(void)
{
	raw_local_irq_enable();
}
/* The last thing on the way back to where they were on. */
static __always_inline void exit_to_irqs_on(void)
{
	trace_hook(trace_irqs_key, true, trace_hardirqs_on);
}
/* The same around an exception that may have found interrupts on or off. */
static __always_inline void enter_from_exception(const struct pt_regs *regs)
{
	trace_hook(trace_irqs_key, interrupts_enabled(regs), trace_hardirqs_off);
}
static __always_inline void exit_from_exception(const struct pt_regs *regs)
{
	trace_hook(trace_irqs_key, interrupts_enabled(regs), trace_hardirqs_on);
}

/* The last look around: interrupts are off, and what is not seen now has raised no interrupt yet. */
static __always_inline void exit_to_user_mode_work(struct pt_regs *regs)
{
	u32 flags = READ_ONCE(current->thread_flags);

	if (unlikely(flags & (_TIF_WORK_MASK | _TIF_SINGLESTEP)))
		exit_to_user_mode_loop(regs, flags);
	exit_to_irqs_on();
}

/*
 * kernel/proc/syscall_trace.c. While the key is on: before a call, regs as user mode left them, and after it, with its
 * result, for events and debuggers. enter: the number that is to be called, NO_SYSCALL: no call is made, and regs hold
 * the result. Not traced. Interrupts on.
 */
extern struct static_key syscall_trace_key;
u32 syscall_trace_enter(struct pt_regs *regs, u32 nr);
void syscall_trace_exit(struct pt_regs *regs);

/*
 * The call `nr` with the arguments in regs, which take the result. An unknown one is counted. A debugger may exchange
 * the call, or have none made. Interrupts on.
 */
static __always_inline void syscall_dispatch(struct pt_regs *regs, u32 nr)
{
	syscall_fn_t fn = sys_ni_syscall;
	long ret;

	if (tracepoint_key_on(&syscall_trace_key)) {
		nr = syscall_trace_enter(regs, nr);
		if (nr == (u32)NO_SYSCALL)
			goto done;
	}
	if (likely(nr < NR_SYSCALLS))
		fn = sys_call_table[nr];
	ret = fn(syscall_get_arg(regs, 0), syscall_get_arg(regs, 1), syscall_get_arg(regs, 2), syscall_get_arg(regs, 3),
		 syscall_get_arg(regs, 4), syscall_get_arg(regs, 5));
	syscall_set_return_value(regs, ret);
done:
	if (tracepoint_key_on(&syscall_trace_key))
		syscall_trace_exit(regs);
}

/* An interrupt, on the task's own stack: go over to the interrupt stack. Interrupts off. */
static __always_inline void do_interrupt(struct pt_regs *regs)
{
	unsigned long sp = (unsigned long)__builtin_frame_address(0);

	enter_with_irqs_off();
	if (sp - (unsigned long)current->stack < THREAD_SIZE)
		call_on_irq_stack(regs, handle_irq, this_cpu(irq_stack_end));
	else
		handle_irq(regs);
}

/*
 * Is pc in the first instructions of an entry that leads to a user of ftrace?
 *
 * Why they are special: while the machine is stopped to change users, no task may be on its way to one.
 * Kernel code's own users are called with themselves as argument and are gone when
 * unregister_ftrace_function returns; a replacement of a function (FTRACE_OPS_FL_IPMODIFY) that ran at a
 * wrong site would be fatal. So these entries raise preempt_count before anything else, and C lowers it
 * when the users have been called: in between, the stopper thread cannot come to that CPU. What is left are
 * the few instructions before the count is raised. They lie in .ftrace.text, and an interrupt that finds
 * itself there does not preempt on its way out. The reschedule is not forgotten: it takes place when C
 * lowers the count. Behind that place no user is touched.
 *
 * The return is hooked after the count is lowered, as function_graph records it. A user of returns may be
 * gone by then; the hook finds no user and hooks nothing, as for any straggler.
 */
static __always_inline bool in_ftrace_text(unsigned long pc)
{
	return pc >= (unsigned long)__ftrace_text_start && pc < (unsigned long)__ftrace_text_end;
}

/*
 * Back to kernel code that an interrupt has interrupted. A task that should give up the CPU is preempted here, unless
 * preemption is off or the task is on its way into a callback of ftrace (in_ftrace_text): that one gives up the CPU
 * when C lowers its preempt_count. Context: interrupts off.
 */
static __always_inline void exit_to_kernel_mode(const struct pt_regs *regs)
{
	if (need_resched() && !preempt_count() && likely(!in_ftrace_text(instruction_pointer(regs))))
		preempt_schedule_irq();
	exit_to_irqs_on();
}
