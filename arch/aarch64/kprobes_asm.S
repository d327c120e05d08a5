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
	stp	x2, x3, [sp, #16 * 1]
	stp	x4, x5, [sp, #16 * 2]
	stp	x6, x7, [sp, #16 * 3]
	stp	x8, x9, [sp, #16 * 4]
	stp	x10, x11, [sp, #16 * 5]
	stp	x12, x13, [sp, #16 * 6]
	stp	x14, x15, [sp, #16 * 7]
	stp	x16, x17, [sp, #16 * 8]
	stp	x18, x19, [sp, #16 * 9]
	stp	x20, x21, [sp, #16 * 10]
	stp	x22, x23, [sp, #16 * 11]
	stp	x24, x25, [sp, #16 * 12]
	stp	x26, x27, [sp, #16 * 13]
	stp	x28, x29, [sp, #16 * 14]
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
	ldp	x2, x3, [sp, #16 * 1]
	ldp	x4, x5, [sp, #16 * 2]
	ldp	x6, x7, [sp, #16 * 3]
	ldp	x8, x9, [sp, #16 * 4]
	ldp	x10, x11, [sp, #16 * 5]
	ldp	x12, x13, [sp, #16 * 6]
	ldp	x14, x15, [sp, #16 * 7]
	ldp	x16, x17, [sp, #16 * 8]
	ldp	x18, x19, [sp, #16 * 9]
	ldp	x20, x21, [sp, #16 * 10]
	ldp	x22, x23, [sp, #16 * 11]
	ldp	x24, x25, [sp, #16 * 12]
	ldp	x26, x27, [sp, #16 * 13]
	ldp	x28, x29, [sp, #16 * 14]
	ret
.endm

FUNC kprobe_trampoline
	trampoline kprobe_jumped
FUNC_END kprobe_trampoline

FUNC kprobe_trampoline_after
	trampoline kprobe_executed
FUNC_END kprobe_trampoline_after
