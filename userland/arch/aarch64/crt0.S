/* First instructions of every program on aarch64. */

/*
 * void _start(void);
 *
 * The kernel enters with every register but sp undefined or zero. At sp, upwards:
 *
 *	sp ->	argc			8 bytes
 *		argv[0] ... argv[argc-1], NULL
 *		envp[0] ..., NULL
 *		auxv pairs (type, value) ..., AT_NULL
 */
	.text
	.globl	_start
	.type	_start, %function
_start:
	mov	x29, #0			// an empty frame record: backtraces end here
	mov	x30, #0
	mov	x0, sp			// vt_start(long *stack): the block pictured above
	and	sp, x0, #~15		// AAPCS64: sp is 16-byte aligned at every call
	bl	vt_start		// does not return
	brk	#1
	.size	_start, . - _start

/*
 * void vt_sigreturn(void);
 *
 * Where a signal handler returns to (SA_RESTORER): sp points at the frame that the kernel pushed, and
 * rt_sigreturn takes it from there. Never called from C.
 */
	.globl	vt_sigreturn
	.type	vt_sigreturn, %function
vt_sigreturn:
	mov	x8, #139		// rt_sigreturn
	svc	#0
	brk	#1
	.size	vt_sigreturn, . - vt_sigreturn

	.section .note.GNU-stack, "", %progbits
