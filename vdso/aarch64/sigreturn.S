/*
 * void __kernel_rt_sigreturn(void): what a signal handler returns to. The stack pointer is at its frame, as when the
 * handler began.
 *
 * An unwinder takes the handler's return address for one behind a call, so it looks for a description of the
 * instruction before it. Therefore a nop stands there, and no unwind table describes any of this: then unwinders
 * recognise the two instructions by themselves.
 */
	.text
	nop
	.global	__kernel_rt_sigreturn
	.type	__kernel_rt_sigreturn, %function
__kernel_rt_sigreturn:
	mov	x8, #139	/* rt_sigreturn */
	svc	#0
	.size	__kernel_rt_sigreturn, . - __kernel_rt_sigreturn

	.section .note.GNU-stack, "", %progbits
