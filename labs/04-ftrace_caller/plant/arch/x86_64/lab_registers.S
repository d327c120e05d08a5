/*
 * What lab ftrace_caller is graded with, as far as it is registers. Their order is that of struct pt_regs: r15, r14,
 * r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi.
 *
 *     void lab_probe_with(const unsigned long in[])   calls lab_probe with these, but rbp, which is a frame's
 *     void lab_probe(...)                             a site; behind it all of them, and rsp, go to lab_after[]
 *     void lab_spoil(void)                            leaves no register that it need not keep as it was
 */
#include <asm/assembler.h>

	.text
FUNC lab_probe_with
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	movq	0(%rdi), %r15
	movq	8(%rdi), %r14
	movq	16(%rdi), %r13
	movq	24(%rdi), %r12
	movq	40(%rdi), %rbx
	movq	48(%rdi), %r11
	movq	56(%rdi), %r10
	movq	64(%rdi), %r9
	movq	72(%rdi), %r8
	movq	80(%rdi), %rax
	movq	88(%rdi), %rcx
	movq	96(%rdi), %rdx
	movq	104(%rdi), %rsi
	movq	112(%rdi), %rdi
	call	lab_probe
	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
FUNC_END lab_probe_with

FUNC lab_probe
1:	call	__fentry__
	.pushsection __mcount_loc, "a", @progbits
	.quad	1b
	.popsection
	movq	%r15, lab_after(%rip)
	movq	%r14, lab_after + 8(%rip)
	movq	%r13, lab_after + 16(%rip)
	movq	%r12, lab_after + 24(%rip)
	movq	%rbp, lab_after + 32(%rip)
	movq	%rbx, lab_after + 40(%rip)
	movq	%r11, lab_after + 48(%rip)
	movq	%r10, lab_after + 56(%rip)
	movq	%r9, lab_after + 64(%rip)
	movq	%r8, lab_after + 72(%rip)
	movq	%rax, lab_after + 80(%rip)
	movq	%rcx, lab_after + 88(%rip)
	movq	%rdx, lab_after + 96(%rip)
	movq	%rsi, lab_after + 104(%rip)
	movq	%rdi, lab_after + 112(%rip)
	movq	%rsp, lab_after + 120(%rip)
	ret
FUNC_END lab_probe

FUNC lab_spoil
	.irp	n, ax, cx, dx, si, di
	movq	$-1, %r\n
	.endr
	.irp	n, 8, 9, 10, 11
	movq	$-1 - \n, %r\n
	.endr
	ret
FUNC_END lab_spoil
