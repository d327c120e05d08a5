/*
 * void ftrace_call_direct(unsigned long trampoline, const unsigned long args[8], unsigned long parent_ip)
 *
 * A module's trampoline is written for the place that Linux calls it from, the first instruction of a function:
 *
 *     x9         parent_ip, the function's own return address
 *     x30        where to go on
 *     x0 to x7   the arguments
 *
 * It returns to what x30 was, with x30 = parent_ip and the arguments as they were. Here it comes back to us, so x30
 * leads here, not into the function.
 */
#include <asm/assembler.h>

	.text
	.cfi_sections .debug_frame
FUNC ftrace_call_direct
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	mov	x9, x2
	mov	x10, x0
	mov	x11, x1
	ldp	x0, x1, [x11]
	ldp	x2, x3, [x11, #16]
	ldp	x4, x5, [x11, #32]
	ldp	x6, x7, [x11, #48]
	blr	x10
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
FUNC_END ftrace_call_direct
