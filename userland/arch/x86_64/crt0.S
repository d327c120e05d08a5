/* First instructions of every program on x86_64. */

/*
 * void _start(void);
 *
 * The kernel enters with rsp 16-byte aligned and rdx undefined. At rsp, upwards:
 *
 *	rsp ->	argc			8 bytes
 *		argv[0] ... argv[argc-1], NULL
 *		envp[0] ..., NULL
 *		auxv pairs (type, value) ..., AT_NULL
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp		/* an empty frame record: backtraces end here */
	movq	%rsp, %rdi		/* vt_start(long *stack): the block pictured above */
	andq	$-16, %rsp		/* System V ABI: aligned at every call */
	call	vt_start		/* does not return */
	ud2
	.size	_start, . - _start

/*
 * void vt_sigreturn(void);
 *
 * Where a signal handler returns to (SA_RESTORER): the frame that the kernel pushed lies at rsp, and
 * rt_sigreturn takes it from there. Never called from C.
 */
	.globl	vt_sigreturn
	.type	vt_sigreturn, @function
vt_sigreturn:
	movl	$15, %eax		/* rt_sigreturn */
	syscall
	ud2
	.size	vt_sigreturn, . - vt_sigreturn

	.section .note.GNU-stack, "", @progbits
