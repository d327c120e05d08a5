/*
 * Numbers that assembly needs from C: sizes, offsets of fields, constants. This file is compiled to assembly and never
 * linked. Each DEFINE leaves a line `->NAME value` in that text, and the build makes <generated/asm-offsets.h> of these
 * lines. So a field can move in C, and assembly follows.
 */
#include <arch/ftrace.h>
#include <arch/thread.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <sched/preempt.h>
#include <sched/task.h>

#include "smp.h"

#define DEFINE(name, value) __asm__ volatile("\n.ascii \"->" #name " %0\"" : : "i"(value))

void asm_offsets(void);
/* Never called: only its assembly is read. One line for each name that assembly uses, in the order of its files. */
void asm_offsets(void)
{
	DEFINE(PT_REGS_SIZE, sizeof(struct pt_regs));
	DEFINE(S_RDI, offsetof(struct pt_regs, rdi));
	DEFINE(S_RSI, offsetof(struct pt_regs, rsi));
	DEFINE(S_RDX, offsetof(struct pt_regs, rdx));
	DEFINE(S_R8, offsetof(struct pt_regs, r8));
	DEFINE(S_R9, offsetof(struct pt_regs, r9));
	DEFINE(S_RCX, offsetof(struct pt_regs, rcx));
	DEFINE(S_R11, offsetof(struct pt_regs, r11));
	DEFINE(S_RAX, offsetof(struct pt_regs, rax));
	DEFINE(S_VECTOR, offsetof(struct pt_regs, vector));
	DEFINE(S_ORIG_RAX, offsetof(struct pt_regs, orig_rax));
	DEFINE(S_RIP, offsetof(struct pt_regs, rip));
	DEFINE(S_CS, offsetof(struct pt_regs, cs));
	DEFINE(S_RFLAGS, offsetof(struct pt_regs, rflags));
	DEFINE(S_RSP, offsetof(struct pt_regs, rsp));
	DEFINE(S_SS, offsetof(struct pt_regs, ss));
	DEFINE(TSK_THREAD_SP, offsetof(struct task_struct, thread.sp));
	DEFINE(TSK_STACK, offsetof(struct task_struct, stack));
	DEFINE(TSK_PREEMPT_COUNT, offsetof(struct task_struct, preempt_count));
	DEFINE(NMI_MASK_ASM, NMI_MASK);
	DEFINE(THREAD_SIZE_ASM, THREAD_SIZE);
	DEFINE(IRQ_STACK_SIZE_ASM, IRQ_STACK_SIZE);
	DEFINE(EFAULT_ASM, EFAULT);
	DEFINE(ENOSYS_ASM, ENOSYS);
	DEFINE(NO_VECTOR_ASM, NO_VECTOR);
	DEFINE(FREGS_RECORD, offsetof(struct ftrace_regs, record[0]));
	DEFINE(FREGS_CALLER_BP, offsetof(struct ftrace_regs, record[2]));
	DEFINE(FREGS_PC, offsetof(struct ftrace_regs, pc));
	DEFINE(FREGS_PARENT, offsetof(struct ftrace_regs, parent));
	DEFINE(SECONDARY_TASK, offsetof(struct secondary_data, task));
	DEFINE(SECONDARY_PERCPU_OFFSET, offsetof(struct secondary_data, percpu_offset));
	DEFINE(SECONDARY_STACK, offsetof(struct secondary_data, stack_end));
	DEFINE(SECONDARY_CR3, offsetof(struct secondary_data, cr3));
	DEFINE(SECONDARY_CR4, offsetof(struct secondary_data, cr4));
	DEFINE(SECONDARY_EFER, offsetof(struct secondary_data, efer));
	DEFINE(SECONDARY_DATA_SIZE, sizeof(struct secondary_data));
	DEFINE(PANIC_EXIT_STATUS_ASM, PANIC_EXIT_STATUS);
}
