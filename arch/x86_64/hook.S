/*
 * Thunks: what arch_hook_call calls, in C's place. They keep every register, so that the code around a hook that is
 * off is compiled as if there was no call.
 *
 *     void NAME_thunk(void)    calls    void NAME(unsigned long ip, unsigned long fp)
 *
 *     |  frame of the function that called the thunk |
 *     +----------------------------------------------+
 *     |  ip, behind the place                        |
 *     |  rbp of that function                        |  <- fp = rbp of the thunk
 *     +----------------------------------------------+
 *     |  rax, rcx, rdx, rsi, rdi, r8 ... r11         |  <- rsp
 *     +----------------------------------------------+
 *
 * The stack may not be aligned to 16 here, as the function may be about to push arguments; the kernel has no vector
 * registers that would mind.
 */
#include <asm/assembler.h>

	.text
.macro HOOK_THUNK name
FUNC \name\()_thunk
	/*
	 * The frame record first: at every instruction behind it a walk finds the function, the place and its caller.
	 */
	push	%rbp
	mov	%rsp, %rbp
	/* What the ABI (3.2.1) lets a callee spoil, and the code around the place believes untouched. */
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	8(%rbp), %rdi			/* ip: what the CALL at the place has pushed */
	mov	%rbp, %rsi			/* fp: NAME walks from here to tell who called */
	call	\name
	/* NAME returns nothing, so rax is restored with the others. */
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	pop	%rbp
	ret
FUNC_END \name\()_thunk
.endm

/*
 * One for each hook of <trace/preemptirq.h>, whose functions are in trace/tracers/preemptirq.c. The flags are not kept:
 * at the place they are declared as spoilt.
 */
	HOOK_THUNK trace_hardirqs_off
	HOOK_THUNK trace_hardirqs_disable
	HOOK_THUNK trace_hardirqs_on
	HOOK_THUNK trace_preempt_off
	HOOK_THUNK trace_preempt_on
	HOOK_THUNK trace_irq_context_enter
	HOOK_THUNK trace_irq_context_exit
	HOOK_THUNK trace_critical_stop
	HOOK_THUNK trace_critical_start
