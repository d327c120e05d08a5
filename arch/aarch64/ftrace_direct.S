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

/*
 * On entry: x0 trampoline, x1 args, x2 parent_ip; the frame of C above. Interrupts and preemption are as the caller has
 * them. The trampoline keeps x19 to x29, as a function called by BL would (AAPCS64, 6.1.1), and may spoil x9 to x18 and
 * the flags. It comes back with x30 = parent_ip, so the x30 that leads to our caller waits in our record.
 */
	.text
	.cfi_sections .debug_frame		/* the file has it, the memory has not */
FUNC ftrace_call_direct
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16			/* for gdb: a backtrace out of a trampoline */
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	mov	x9, x2				/* parent_ip, where a trampoline looks for it */
	mov	x10, x0				/* x0 to x7 are about to become arguments, so what is still */
	mov	x11, x1				/* needed moves out of their way */
	ldp	x0, x1, [x11]
	ldp	x2, x3, [x11, #16]
	ldp	x4, x5, [x11, #32]
	ldp	x6, x7, [x11, #48]
	blr	x10				/* x30 = the next instruction: where it comes back to */
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
FUNC_END ftrace_call_direct
