/*
 * Numbers that assembly needs from C: sizes, offsets of fields, constants. This file is compiled to assembly and never
 * linked. Each DEFINE leaves a line `->NAME value` in that text, and the build makes <generated/asm-offsets.h> of these
 * lines. So a field can move in C, and assembly follows.
 */
#include <arch/thread.h>
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <sched/task.h>

#include "smp.h"

#define DEFINE(name, value) __asm__ volatile("\n.ascii \"->" #name " %0\"" : : "i"(value))

void asm_offsets(void);
/* Never called: only its assembly is read. One line for each name that assembly uses, in the order of its files. */
void asm_offsets(void)
{
	DEFINE(PT_REGS_SIZE, sizeof(struct pt_regs));
	DEFINE(S_LR, offsetof(struct pt_regs, regs[30]));
	DEFINE(S_SP, offsetof(struct pt_regs, sp));
	DEFINE(S_PC, offsetof(struct pt_regs, pc));
	DEFINE(S_SYSCALLNO, offsetof(struct pt_regs, syscallno));
	DEFINE(S_ORIG_X0, offsetof(struct pt_regs, orig_x0));
	DEFINE(NO_SYSCALL_ASM, (unsigned)NO_SYSCALL);
	DEFINE(S_STACKFRAME, offsetof(struct pt_regs, stackframe));
	DEFINE(TSK_THREAD_CTX, offsetof(struct task_struct, thread.ctx));
	DEFINE(TSK_PREEMPT_COUNT, offsetof(struct task_struct, preempt_count));
	DEFINE(TSK_STACK, offsetof(struct task_struct, stack));
	DEFINE(THREAD_SIZE_ASM, THREAD_SIZE);
	DEFINE(FPSIMD_FPSR, offsetof(struct user_fpsimd, fpsr));
	DEFINE(EFAULT_ASM, EFAULT);
	DEFINE(SECONDARY_TASK, offsetof(struct secondary_data, task));
	DEFINE(SECONDARY_STACK, offsetof(struct secondary_data, stack_end));
}
