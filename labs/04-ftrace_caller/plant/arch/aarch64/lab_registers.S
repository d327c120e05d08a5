/*
 * What lab ftrace_caller is graded with, as far as it is registers.
 *
 *     void lab_probe_with(const unsigned long in[])   calls lab_probe with in[n] in xn (x0 to x28)
 *     void lab_probe(...)                             a site in a frame as gcc makes it; behind it all registers go to
 *                                                     lab_after[]: x0 to x29, sp
 *     void lab_spoil(void)                            leaves no register that it need not keep as it was
 */
#include <asm/assembler.h>

	.text
FUNC lab_probe_with
	stp	x29, x30, [sp, #-96]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x30, x0
	ldp	x0, x1, [x30, #0]
	ldp	x2, x3, [x30, #16]
	ldp	x4, x5, [x30, #32]
	ldp	x6, x7, [x30, #48]
	ldp	x8, x9, [x30, #64]
	ldp	x10, x11, [x30, #80]
	ldp	x12, x13, [x30, #96]
	ldp	x14, x15, [x30, #112]
	ldp	x16, x17, [x30, #128]
	ldp	x18, x19, [x30, #144]
	ldp	x20, x21, [x30, #160]
	ldp	x22, x23, [x30, #176]
	ldp	x24, x25, [x30, #192]
	ldp	x26, x27, [x30, #208]
	ldr	x28, [x30, #224]
	bl	lab_probe
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #96
	ret
FUNC_END lab_probe_with

FUNC lab_probe
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	x0, x30
	bl	_mcount
	adr_l	x30, lab_after
	stp	x0, x1, [x30, #0]
	stp	x2, x3, [x30, #16]
	stp	x4, x5, [x30, #32]
	stp	x6, x7, [x30, #48]
	stp	x8, x9, [x30, #64]
	stp	x10, x11, [x30, #80]
	stp	x12, x13, [x30, #96]
	stp	x14, x15, [x30, #112]
	stp	x16, x17, [x30, #128]
	stp	x18, x19, [x30, #144]
	stp	x20, x21, [x30, #160]
	stp	x22, x23, [x30, #176]
	stp	x24, x25, [x30, #192]
	stp	x26, x27, [x30, #208]
	stp	x28, x29, [x30, #224]
	mov	x0, sp
	str	x0, [x30, #240]
	ldp	x29, x30, [sp], #16
	ret
FUNC_END lab_probe

FUNC lab_spoil
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
	mov	x\n, #-1 - \n
	.endr
	cmp	x0, x1
	ret
FUNC_END lab_spoil
