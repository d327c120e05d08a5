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
