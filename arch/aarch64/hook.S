/*
 * Thunks: what arch_hook_call calls, in C's place. They keep every register but x30, so that the code around a hook
 * that is off is compiled as if there was no call.
 *
 *     void NAME_thunk(void)    calls    void NAME(unsigned long ip, unsigned long fp)
 *
 *     |  frame of the function that called the thunk |
 *     +----------------------------------------------+
 *     |  x18                                         |  160
 *     |  x0 ... x17                                  |   16
 *     |  x30: ip, behind the place                   |
 *     |  x29 of that function                        |  <- fp = x29, SP of NAME
 *     +----------------------------------------------+
 */
#include <asm/assembler.h>

	.text
.macro HOOK_THUNK name
FUNC \name\()_thunk
	/*
	 * The frame record first: at every instruction behind it a walk finds the function, the place and its caller.
	 */
	stp	x29, x30, [sp, #-176]!
	mov	x29, sp				/* fp: NAME walks from here to tell who called */
	/* What AAPCS64 (6.1.1) lets a callee spoil, and the code around the place believes untouched. */
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]
	stp	x10, x11, [sp, #96]
	stp	x12, x13, [sp, #112]
	stp	x14, x15, [sp, #128]
	stp	x16, x17, [sp, #144]
	str	x18, [sp, #160]			/* the platform's register: saved as well, it costs one store */
	mov	x0, x30				/* ip: behind the BL, as <trace/preemptirq.h> has it */
	mov	x1, x29
	bl	\name
	/* NAME returns nothing, so x0 is restored with the others. */
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x9, [sp, #80]
	ldp	x10, x11, [sp, #96]
	ldp	x12, x13, [sp, #112]
	ldp	x14, x15, [sp, #128]
	ldp	x16, x17, [sp, #144]
	ldr	x18, [sp, #160]
	ldp	x29, x30, [sp], #176		/* x30 was spoilt by the BL at the place: the one that gcc knows of */
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
