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
/* The part of struct pt_regs behind rdi that is as it is. */
.macro push_rsi_to_rbx
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
.endm

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
	push_rsi_to_rbx
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
	leaq	16(%rbp), %rsp			/* behind the record */
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

/*
 * From a call site of ftrace that kprobes alone want: void kprobe_called(unsigned long ip, struct pt_regs *regs). r11
 * means nothing there, and the traced function has pushed no frame record yet, so that one is pushed for it (ftrace.S).
 * Preemption is off from the second instruction on, until C has called the handlers.
 *
 *	|   parent_ip					|  <- rsp of the traced function, which regs have
 *	|   ip + 5: back into it			|
 *	+-----------------------------------------------+
 *	|   parent_ip (copy), rbp of its caller		|  <- the record that stands in for the function's
 *	+-----------------------------------------------+
 *	|   ss, rsp, flags, cs, rip ... r15: pt_regs	|
 *	|   ip + 5, address of the record above		|  <- %rbp, %rsp: stackframe of pt_regs
 *	+-----------------------------------------------+
 */
	.cfi_sections .debug_frame
	.pushsection .ftrace.text, "ax", @progbits
FUNC ftrace_kprobe_caller
	.cfi_startproc
	movq	%gs:current_task, %r11
	incl	TSK_PREEMPT_COUNT(%r11)
	jmp	ftrace_kprobe_caller_body
	.cfi_endproc
FUNC_END ftrace_kprobe_caller
	.popsection

	.type	ftrace_kprobe_caller_body, @function
ftrace_kprobe_caller_body:
	.cfi_startproc
	push_cfi 8(%rsp)			/* parent_ip */
	push_cfi %rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa %rbp, 24
	pushq	$__KERNEL_DS
	leaq	24(%rbp), %r11
	pushq	%r11				/* rsp */
	pushfq
	pushq	$__KERNEL_CS
	pushq	16(%rbp)			/* rip: ip + 5 */
	pushq	$0				/* orig_rax */
	pushq	$NO_VECTOR_ASM
	pushq	%rdi
	push_rsi_to_rbx
	pushq	(%rbp)				/* rbp */
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	16(%rbp), %rdi
	pushq	%rdi				/* walks that begin with regs go on in the function */
	pushq	%rbp
	movq	%rsp, %rbp
	.cfi_def_cfa %rbp, PT_REGS_SIZE + 24
	subq	$5, %rdi			/* ip */
	movq	%rsp, %rsi
	call	kprobe_called
	addq	$16, %rsp
	.cfi_def_cfa %rsp, PT_REGS_SIZE + 24 - 16
	pop_cfi	%r15
	pop_cfi	%r14
	pop_cfi	%r13
	pop_cfi	%r12
	pop_cfi	%rbp
	.cfi_restore %rbp
	pop_cfi	%rbx
	pop_cfi	%r11
	pop_cfi	%r10
	pop_cfi	%r9
	pop_cfi	%r8
	pop_cfi	%rax
	pop_cfi	%rcx
	pop_cfi	%rdx
	pop_cfi	%rsi
	pop_cfi	%rdi
	addq	$7 * 8 + 16, %rsp		/* from the vector to ss, and the record */
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	ftrace_kprobe_caller_body, . - ftrace_kprobe_caller_body
