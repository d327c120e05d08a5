/*
 * From a slot of a kprobe (kprobes.c) to the handlers, and back.
 *
 *     rdi           the slot: the address of its owner, and the probed address
 *     (%rsp)        where the slot goes on
 *     8(%rsp)       rdi of the probed code
 *     16(%rsp)      its flags
 *     24(%rsp)      what its rsp pointed to
 *
 * All of it becomes a struct pt_regs, from which all registers are loaded again, so a handler may change them, but for
 * rsp. The address in the slot stays on the stack, where trace/kprobes/slots.c finds it while the task is preempted in
 * a handler. The probed code may stand anywhere in its function: rsp is aligned here, and the direction flag cleared.
 */
#include <asm/assembler.h>
#include <asm/segment.h>
#include <generated/asm-offsets.h>

	.section .kprobes.text, "ax", @progbits
.macro trampoline handler
	pushq	$__KERNEL_DS			/* ss */
	pushq	%rsp				/* rsp: made right below */
	addq	$32, (%rsp)
	pushq	32(%rsp)			/* rflags */
	pushq	$__KERNEL_CS
	pushq	8(%rdi)				/* rip: the probed address */
	pushq	$0				/* orig_rax */
	pushq	$NO_VECTOR_ASM
	pushq	64(%rsp)			/* rdi */
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	8(%rdi)				/* a walk goes on in the probed function */
	pushq	%rbp
	movq	%rsp, %rbp
	cld
	movq	(%rdi), %rdi			/* owner */
	movq	%rsp, %rsi
	andq	$-16, %rsp
	call	\handler
	movq	%rbp, %rsp
	addq	$16, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	64(%rsp)			/* rdi, for the slot: the address counts when rsp has moved */
	addq	$32, %rsp			/* vector, orig_rax, rip, cs */
	popq	32(%rsp)			/* rflags, likewise */
	addq	$16, %rsp			/* rsp, ss */
	ret
.endm

FUNC kprobe_trampoline
	trampoline kprobe_jumped
FUNC_END kprobe_trampoline

FUNC kprobe_trampoline_after
	trampoline kprobe_executed
FUNC_END kprobe_trampoline_after
