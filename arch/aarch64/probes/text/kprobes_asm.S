/*
 * From a slot of a kprobe (kprobes.c) to the handlers, and back.
 *
 *     x0        the slot: the address of its owner, and the probed address
 *     x30       where the slot goes on
 *     sp        a struct pt_regs, in which x0, x1 and x30 are saved already
 *
 * All registers are loaded again from there, so a handler may change them, but for sp and the masks of interrupts. The
 * address in the slot is kept on the stack, where trace/kprobes/slots.c finds it while the task is preempted in a
 * handler.
 */
#include <asm/assembler.h>
#include <asm/sysreg.h>
#include <generated/asm-offsets.h>

	.section .kprobes.text, "ax", @progbits
.macro trampoline handler
	save_x2_to_x29
	add	x1, sp, #PT_REGS_SIZE
	ldp	x0, x2, [x0]			/* owner, probed address */
	mrs	x3, nzcv
	mrs	x4, daif
	orr	x3, x3, x4
	mov	x5, #PSR_MODE_EL1h
	orr	x3, x3, x5
	str	x1, [sp, #S_SP]
	stp	x2, x3, [sp, #S_PC]		/* with pstate behind it */
	mov	w4, #-1
	str	w4, [sp, #S_SYSCALLNO]
	str	x30, [sp, #S_ORIG_X0]
	stp	x29, x2, [sp, #S_STACKFRAME]	/* a walk goes on in the probed function */
	add	x29, sp, #S_STACKFRAME
	mov	x1, sp
	bl	\handler
	ldr	x3, [sp, #S_PC + 8]
	msr	nzcv, x3
	ldr	x30, [sp, #S_ORIG_X0]
	ldp	x0, x1, [sp, #16 * 0]
	load_x2_to_x29
	ret
.endm

FUNC kprobe_trampoline
	trampoline kprobe_jumped
FUNC_END kprobe_trampoline

FUNC kprobe_trampoline_after
	trampoline kprobe_executed
FUNC_END kprobe_trampoline_after

/*
 * From a call site of ftrace that kprobes alone want: void kprobe_called(unsigned long ip, struct pt_regs *regs). The
 * stack is that of ftrace_regs_caller (ftrace.S), and preemption is kept off in the same way from the first
 * instructions on, until C has called the handlers.
 */
	.cfi_sections .debug_frame
	.pushsection .ftrace.text, "ax", %progbits
FUNC ftrace_kprobe_caller
	.cfi_startproc
	mrs	x16, sp_el0
	ldr	w17, [x16, #TSK_PREEMPT_COUNT]
	add	w17, w17, #1
	str	w17, [x16, #TSK_PREEMPT_COUNT]
	b	ftrace_kprobe_caller_body
	.cfi_endproc
FUNC_END ftrace_kprobe_caller
	.popsection

	.type	ftrace_kprobe_caller_body, %function
	.balign	4
ftrace_kprobe_caller_body:
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!		/* a record: back into the function */
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	sub	sp, sp, #PT_REGS_SIZE
	.cfi_adjust_cfa_offset PT_REGS_SIZE
	stp	x0, x1, [sp, #16 * 0]
	save_x2_to_x29
	ldr	x1, [x29, #8]			/* parent_ip, which the site had in x30 */
	add	x2, sp, #PT_REGS_SIZE + 16	/* sp at the site */
	stp	x1, x2, [sp, #S_LR]
	mrs	x3, nzcv
	mrs	x4, daif
	orr	x3, x3, x4
	mov	x5, #PSR_MODE_EL1h
	orr	x3, x3, x5
	stp	x30, x3, [sp, #S_PC]		/* pc: behind the site, then pstate */
	mov	x5, #NO_SYSCALL_ASM
	stp	x0, x5, [sp, #S_ORIG_X0]
	stp	x29, x30, [sp, #S_STACKFRAME]	/* walks that begin with regs go on in the function */
	sub	x0, x30, #4			/* ip */
	mov	x1, sp
	add	x29, sp, #PT_REGS_SIZE		/* our record is the innermost from here on */
	bl	kprobe_called
	ldp	x0, x1, [sp, #16 * 0]
	load_x2_to_x29
	add	sp, sp, #PT_REGS_SIZE
	.cfi_adjust_cfa_offset -PT_REGS_SIZE
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	ftrace_kprobe_caller_body, . - ftrace_kprobe_caller_body
