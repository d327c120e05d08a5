/* Where a walk by frame records starts, and which stacks there are besides the task's. Not traced. */
#pragma once

#include <asm/stacktrace.h>
#include <lib/types.h>

struct pt_regs;
struct task_struct;

/* The frame pointer of the function that uses it. */
#define arch_caller_fp() ((unsigned long)__builtin_frame_address(0))

/* Of a task that does not run: its stack pointer, frame pointer and pc in the switch. */
unsigned long arch_task_sp(const struct task_struct *task);
unsigned long arch_task_fp(const struct task_struct *task);
unsigned long arch_task_pc(const struct task_struct *task);
/*
 * Is addr on a stack of this CPU that is not a task's: for interrupts, or for an exception that needs its own (overflow
 * on aarch64; #DB, #DF, NMI and #MC on x86_64)? Then *end is where that ends. Preemption off.
 */
bool arch_on_irq_stack(unsigned long addr, unsigned long *end);
/*
 * The first lines of a report, in the words of Linux on this machine. Of a fault at addr that the kernel itself caused:
 * `what` it did, NULL when no page is there, and the exception's code. Of each oops: `what` happened, the code, and how
 * many oopses this one makes. Any context.
 */
void arch_fault_head(unsigned long addr, const char *what, unsigned long code);
void arch_oops_head(const char *what, unsigned long code, unsigned number);
/* For oopses: registers, and for kernel mode the code around the program counter. Any context. */
void show_regs(struct pt_regs *regs);
