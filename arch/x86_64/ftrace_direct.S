/*
 * void arch_ftrace_call_direct(ip, const struct pt_regs *regs, parent_ip, trampoline)     (include/arch/ftrace.h)
 *
 * A module's trampoline is written for the place that Linux calls it from, the first instruction of a function:
 *
 *     |   parent_ip        |    8   the function's own return address
 *     |   where to go on   |    0  <- %rsp
 *     rdi, rsi, rdx, rcx, r8, r9: the arguments
 *
 * It returns by RET with these as they were. Here it comes back to us, so the lower word leads here, not into the
 * function.
 */
#include <asm/assembler.h>
#include <generated/asm-offsets.h>

	.text
	.cfi_sections .debug_frame		/* the file has it, the memory has not */
FUNC arch_ftrace_call_direct
	.cfi_startproc
	/* A frame of C's kind: rbp brings rsp back, whatever the trampoline's stack came to. */
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$8, %rsp		/* the ABI wants a multiple of 16 before the call */
	pushq	%rdx				/* parent_ip: what the trampoline finds above its return address */
	movq	%rcx, %r11			/* rcx and rsi are about to become arguments */
	movq	%rsi, %rax
	movq	S_RDI(%rax), %rdi
	movq	S_RSI(%rax), %rsi
	movq	S_RDX(%rax), %rdx
	movq	S_RCX(%rax), %rcx
	movq	S_R8(%rax), %r8
	movq	S_R9(%rax), %r9
	call	*%r11				/* pushes where it comes back to, below parent_ip */
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
FUNC_END arch_ftrace_call_direct
