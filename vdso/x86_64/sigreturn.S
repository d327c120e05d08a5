/*
 * What the handler of a program returns to that gave no restorer of its own. Linux demands a restorer on this machine
 * and has nothing of the kind, so the name is not exported. rsp is behind the frame's first word, which `ret` took.
 */
	.text
	.global	__kernel_rt_sigreturn
	.type	__kernel_rt_sigreturn, @function
__kernel_rt_sigreturn:
	mov	$15, %eax	/* rt_sigreturn */
	syscall
	ud2
	.size	__kernel_rt_sigreturn, . - __kernel_rt_sigreturn

	.section .note.GNU-stack, "", @progbits
