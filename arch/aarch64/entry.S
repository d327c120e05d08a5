/*
 * Exceptions: the vector table, saving and restoring the interrupted context, the ways back.
 *
 * The stack of a task when user mode entered the kernel (addresses fall towards the bottom of the picture):
 *
 *     stack + THREAD_SIZE -> +--------------------------+
 *                            | pad                      |
 *                            | task pointer             |  put there by fork, for entry from EL0
 *                            +--------------------------+
 *                            | stackframe   {0, 0}      |  <- x29 of the handler: the walk ends here
 *                            | syscallno, orig_x0       |
 *                            | pstate, pc, sp           |
 *                            | x30 ... x0               |  <- struct pt_regs = task_pt_regs(task), SP
 *                            +--------------------------+
 *                            | frames of C functions    |
 *
 * An exception in the kernel pushes the same structure below whatever is there, with the frame record
 * {interrupted x29, interrupted pc}, so that a walk by frame records goes on through it:
 *
 *                            | frame record of f        |  <- interrupted x29
 *                            | locals of f              |  <- interrupted SP
 *                            +--------------------------+
 *                            | stackframe {x29, pc in f}|  <- x29 of the handler
 *                            | ...                      |
 *                            | x30 ... x0               |  <- struct pt_regs, SP
 *                            +--------------------------+
 */
#include <asm/assembler.h>
#include <asm/sysreg.h>
#include <generated/asm-offsets.h>

	.section .entry.text, "ax"

/*
 * Save everything at SP, which the vector has moved down by PT_REGS_SIZE. Afterwards:
 *     x22 = ELR, x23 = SPSR, x29 = frame record, current is right; all else is free for use.
 * PSTATE.DAIF: all masked by the exception; SError, FIQ and debug exceptions are opened again, IRQ stays masked. Only a
 * synchronous exception of the kernel opens SError alone: it may be a debug exception, and an FIQ may take an exception
 * that overwrites ESR and FAR. el1h_64_sync opens the others when it has read the two. An FIQ opens SError alone, too
 * (nmi.c).
 */
.macro kernel_entry el, daifclr=13
	stp	x0, x1, [sp, #16 * 0]
	save_x2_to_x29
	/*
	 * The exception's own registers next: the first instruction that may fault or be interrupted would overwrite
	 * them.
	 */
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	.if	\el == 0
	ldr	x20, [sp, #PT_REGS_SIZE]	/* the task pointer at the top of its stack */
	mrs	x21, sp_el0			/* the user's stack pointer lived where current goes */
	msr	sp_el0, x20			/* current is right from here on */
	stp	xzr, xzr, [sp, #S_STACKFRAME]	/* no caller: a walk by frame records ends here */
	.else
	add	x21, sp, #PT_REGS_SIZE		/* SP before the vector moved it down */
	stp	x29, x22, [sp, #S_STACKFRAME]	/* a walk goes on at the interrupted function */
	.endif
	/* x21 = the interrupted SP, of either mode. */
	stp	x30, x21, [sp, #S_LR]
	stp	x22, x23, [sp, #S_PC]
	mov	w21, #-1			/* NO_SYSCALL, until el0_svc says otherwise */
	str	w21, [sp, #S_SYSCALLNO]		/* only a system call can be restarted */
	add	x29, sp, #S_STACKFRAME		/* C's frames hang below this record */
	.if	\daifclr
	msr	daifclr, #\daifclr		/* 13: D, A and F; 4: A; 0: the caller does it */
	.endif
.endm

/*
 * Undo it. From the second line on ELR and SPSR are live: an exception of any kind would overwrite them, so all are
 * masked, and nothing here touches memory that might not be there. PSTATE with its masks comes back by ERET, from SPSR.
 */
.macro kernel_exit el
	msr	daifset, #0xf
	ldp	x21, x22, [sp, #S_PC]
	.if	\el == 0
	ldr	x23, [sp, #S_SP]
	msr	sp_el0, x23
	.endif
	msr	elr_el1, x21
	msr	spsr_el1, x22
	/* x21 to x23 have done their work and are loaded over. */
	ldp	x0, x1, [sp, #16 * 0]
	load_x2_to_x29
	ldr	x30, [sp, #S_LR]
	add	sp, sp, #PT_REGS_SIZE		/* for EL0: SP is at the task pointer, as the next entry wants it */
	eret
.endm

/*
 * One entry of the table has room for 32 instructions; two are enough, since all the rest is shared. SP is moved here,
 * because the code that follows may be reached with SP moved already (el1h_64_sync).
 */
.macro ventry label
	.balign	0x80
	sub	sp, sp, #PT_REGS_SIZE
	b	\label
.endm

/* The same while the CPU is stepped through (single_step.c): set MDSCR_EL1.SS, which was clear till here. */
.macro step_ventry label
	.balign 0x80
	msr	tpidrro_el0, x0			/* as below */
	mrs	x0, mdscr_el1
	orr	x0, x0, #MDSCR_SS
	msr	mdscr_el1, x0
	mrs	x0, tpidrro_el0
	msr	tpidrro_el0, xzr
	isb
	sub	sp, sp, #PT_REGS_SIZE
	b	\label
.endm

/*
 * Of a CPU that steps a program for its debugger: MDSCR_EL1.SS is for user mode, and is cleared before the kernel opens
 * debug exceptions. The CPU goes back to its usual vectors; user_step_enter() brings it here again.
 */
.macro user_step_ventry label
	.balign 0x80
	msr	tpidrro_el0, x0			/* as below */
	mrs	x0, mdscr_el1
	bic	x0, x0, #MDSCR_SS
	msr	mdscr_el1, x0
	adr_l	x0, vectors
	msr	vbar_el1, x0
	mrs	x0, tpidrro_el0
	msr	tpidrro_el0, xzr
	isb
	sub	sp, sp, #PT_REGS_SIZE
	b	\label
.endm

/*
 * The table of VBAR_EL1 (Arm ARM D1.3.1): by where the exception comes from and by its kind, 16 entries of 128 bytes,
 * the table at a multiple of 2 KiB. Four groups: the stack pointer in use at EL1, then the width of the program at EL0.
 */
.macro vector_table name, irq, user
	.balign	2048
	.globl	\name
	.type	\name, %function
\name:
	ventry	el1t_64_sync_bad		/* EL1 on SP_EL0: the kernel never runs so */
	ventry	el1t_64_irq_bad
	ventry	el1t_64_fiq_bad
	ventry	el1t_64_error_bad

	.balign	0x80				/* EL1 on SP_EL1: the kernel */
	/* Without the first instruction of ventry: SP may point at a guard page, see there. */
	b	el1h_64_sync
	\irq	el1h_64_irq
	ventry	el1h_64_fiq
	ventry	el1h_64_error

	\user	el0t_64_sync			/* user mode, AArch64 */
	\user	el0t_64_irq
	ventry	el0t_64_fiq
	ventry	el0t_64_error

	ventry	el0t_32_sync_bad		/* user mode, AArch32: no program can get there */
	ventry	el0t_32_irq_bad
	ventry	el0t_32_fiq_bad
	ventry	el0t_32_error_bad
	.balign	0x80
	.size	\name, . - \name
.endm
	vector_table vectors, ventry, ventry
	/* Of a CPU that is stepped through. A sleep or a stop of the CPU is unstepped, and an interrupt may end it. */
	vector_table step_vectors, step_ventry, step_ventry
	vector_table user_step_vectors, ventry, user_step_ventry

/*
 * EL1 synchronous: the only one that a stack overflow raises, by storing into the guard page. Saving registers there
 * would raise it again for ever, so ask the MMU whether the frame can be written. x0 is kept in TPIDRRO_EL0, which user
 * mode finds zero otherwise.
 *
 *     on entry   all masked (D, A, I, F), every register the interrupted code's, SP its stack
 *     then       x0 the only free one, until kernel_entry has saved the others
 *
 * Three ways lead on: a debug exception, any other exception, and at 1 an overflow.
 */
FUNC el1h_64_sync
	sub	sp, sp, #PT_REGS_SIZE
	msr	tpidrro_el0, x0
	mov	x0, sp				/* AT takes a general register, not SP */
	at	s1e1w, x0			/* translate as for a store at EL1 */
	isb					/* PAR_EL1 is read after the translation is done */
	mrs	x0, par_el1
	tbnz	x0, #0, 1f			/* PAR_EL1.F: it would fault */
	mrs	x0, tpidrro_el0			/* x0 is the interrupted code's again */
	msr	tpidrro_el0, xzr
	kernel_entry 1, 4
	mrs	x1, esr_el1			/* ESR: what it was */
	mrs	x2, far_el1			/* FAR: the address, for those that have one */
	tbnz	x23, #6, 5f			/* PSTATE.F: this is within an FIQ, which does not nest */
	msr	daifclr, #1
5:
	mov	x0, sp
	/*
	 * Breakpoints, steps and watchpoints of the kernel's own level have neighbouring classes: one unsigned
	 * comparison.
	 */
	lsr	x3, x1, #ESR_EC_SHIFT
	sub	x3, x3, #ESR_EC_BREAKPT_CUR
	cmp	x3, #(ESR_EC_WATCHPT_CUR - ESR_EC_BREAKPT_CUR)
	b.ls	3f				/* one of the three */
	tbnz	x23, #9, 4f			/* PSTATE.D: masked where we come from, so it stays so */
	msr	daifclr, #8			/* D alone; I stays masked */
4:
	bl	el1h_64_sync_entry
	b	ret_to_kernel
3:
	/* Breakpoint, step, watchpoint. D stays masked to the end, so nothing on the way is reported: no recursion. */
	bl	el1h_64_debug_handler
	b	ret_to_kernel
1:
	/*
	 * Overflow. This never returns, so TPIDR_EL0 may go: it takes the bad SP. With one register left
	 * and SP itself as the second: SP = this CPU's overflow stack.
	 */
	mov	x0, sp
	msr	tpidr_el0, x0			/* TPIDR_EL0 = bad SP, already moved down by a frame */
	mrs	x0, tpidr_el1
	mov	sp, x0				/* an SP that is no address yet: nothing may be pushed */
	adr_l	x0, overflow_stack_end
	add	sp, sp, x0			/* this CPU's copy: offset and address of the template */
	mov	x0, sp				/* address of our overflow_stack_end */
	ldr	x0, [x0]
	cbz	x0, 2f				/* a CPU that has none yet: no way to tell anybody */
	mov	sp, x0
	sub	sp, sp, #PT_REGS_SIZE		/* the frame that kernel_entry is to fill */
	mrs	x0, tpidrro_el0			/* the last register to come home */
	kernel_entry 1, 4
	mrs	x0, tpidr_el0
	add	x0, x0, #PT_REGS_SIZE		/* back up by what the vector had taken */
	str	x0, [sp, #S_SP]			/* what SP was */
	mov	x0, sp
	mrs	x1, esr_el1
	mrs	x2, far_el1
	bl	handle_bad_stack
2:	wfe
	b	2b
FUNC_END el1h_64_sync

/*
 * EL1 interrupt. The handler may preempt: then this stack waits, with its pt_regs, until the task has its next turn,
 * and returns here on any CPU. kernel_exit therefore reads nothing that is a CPU's own.
 */
FUNC el1h_64_irq
	kernel_entry 1
	mov	x0, sp
	bl	el1h_64_irq_handler
	nop					/* keeps the return address within this symbol */
ret_to_kernel:
	kernel_exit 1
FUNC_END el1h_64_irq

/*
 * EL0 synchronous. System calls come here: the one case worth telling apart in assembly, as they are most of all. x1 =
 * ESR stays for the handler of the others; SVC has no fault address, so FAR is read only for those.
 */
FUNC el0t_64_sync
	kernel_entry 0, 0			/* a debug exception would overwrite ESR_EL1 and FAR_EL1 */
	mrs	x1, esr_el1
	lsr	x2, x1, #ESR_EC_SHIFT		/* the class: why it came */
	mov	x0, sp
	cmp	x2, #ESR_EC_SVC64
	b.ne	1f
	msr	daifclr, #13
	bl	el0_svc				/* it has done what every return to user mode must */
	kernel_exit 0
1:
	mrs	x2, far_el1
	msr	daifclr, #13
	bl	el0t_64_sync_handler
	nop					/* as above */
/* Every way back to user mode but the system call's; exit_to_user_mode has been called, interrupts are off. */
ret_to_user:
	kernel_exit 0
FUNC_END el0t_64_sync

/* EL0 interrupt: as el1h_64_irq, and the handler does what every return to user mode must (exit_to_user_mode). */
FUNC el0t_64_irq
	kernel_entry 0
	mov	x0, sp
	bl	el0t_64_irq_handler
	b	ret_to_user
FUNC_END el0t_64_irq

/* Not maskable by local_irq_disable(): nmi.c. No FIQ comes in an FIQ, and no breakpoint is reported. */
FUNC el1h_64_fiq
	kernel_entry 1, 4
	mov	x0, sp
	bl	fiq_handler
	b	ret_to_kernel
FUNC_END el1h_64_fiq

FUNC el0t_64_fiq
	kernel_entry 0, 4
	mov	x0, sp
	bl	fiq_handler
	b	ret_to_user
FUNC_END el0t_64_fiq

/*
 * What should not happen: C is told which vector it was. Those that can return do.
 *     el      where it came from: which kernel_entry saves the registers
 *     reason  number of the entry in the table above, for the message
 *     back    the way back of that level
 */
.macro unexpected label, el, reason, back
FUNC \label
	kernel_entry \el, 4
	mrs	x2, esr_el1
	tbnz	x23, #6, 1f			/* PSTATE.F, as in el1h_64_sync */
	msr	daifclr, #1
1:
	mov	x0, sp
	mov	w1, #\reason
	bl	bad_mode
	b	\back
FUNC_END \label
.endm
	unexpected el1t_64_sync_bad,  1, 0, ret_to_kernel
	unexpected el1t_64_irq_bad,   1, 1, ret_to_kernel
	unexpected el1t_64_fiq_bad,   1, 2, ret_to_kernel
	unexpected el1t_64_error_bad, 1, 3, ret_to_kernel
	unexpected el1h_64_error,     1, 7, ret_to_kernel
	unexpected el0t_64_error,     0, 11, ret_to_user
	unexpected el0t_32_sync_bad,  0, 12, ret_to_user
	unexpected el0t_32_irq_bad,   0, 13, ret_to_user
	unexpected el0t_32_fiq_bad,   0, 14, ret_to_user
	unexpected el0t_32_error_bad, 0, 15, ret_to_user

/*
 * void call_on_irq_stack(struct pt_regs *regs, void (*fn)(struct pt_regs *), unsigned long stack_end)
 * x0 goes through to fn. Interrupts are off. Softirqs open them on the other stack, and do_interrupt sees by SP that it
 * is there already and does not call this. The frame record stays on the task's stack, so a walk goes from the
 * interrupt stack back to it:
 *
 *     interrupt stack            task stack
 *     | frames of fn |           | ...                     |
 *     | its record --------->    | {x29, x30} of this call |
 */
FUNC call_on_irq_stack
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	sp, x2				/* its end: nothing is on it while a task's stack is in use */
	blr	x1
	mov	sp, x29				/* x29 is callee saved: still ours */
	ldp	x29, x30, [sp], #16
	ret
FUNC_END call_on_irq_stack

/*
 * struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next)
 * Returns prev, which is what x0 holds all the way: the task that comes in learns which one went out. `current` changes
 * with the stack; interrupts are off, so nobody sees them disagree.
 *
 *     x0 prev    x1 next    x8 moves through thread.ctx of each    x9 SP    x10 offset of thread.ctx
 *
 * thread.ctx: x19 ... x28, x29, sp, pc (= x30). Only what a callee must keep (AAPCS64, 6.1.1): to the C function that
 * calls this it is a call like any other, which lasts until the task has its next turn.
 */
FUNC cpu_switch_to
	mov	x10, #TSK_THREAD_CTX
	add	x8, x0, x10
	mov	x9, sp				/* STP does not store SP itself */
	stp	x19, x20, [x8], #16
	stp	x21, x22, [x8], #16
	stp	x23, x24, [x8], #16
	stp	x25, x26, [x8], #16
	stp	x27, x28, [x8], #16
	stp	x29, x9, [x8], #16
	str	x30, [x8]			/* where RET goes when prev has its next turn */
	/* The same fields of next, as it left them here, or as arch_copy_thread filled them for its first turn. */
	add	x8, x1, x10
	ldp	x19, x20, [x8], #16
	ldp	x21, x22, [x8], #16
	ldp	x23, x24, [x8], #16
	ldp	x25, x26, [x8], #16
	ldp	x27, x28, [x8], #16
	ldp	x29, x9, [x8], #16
	ldr	x30, [x8]
	mov	sp, x9				/* next's stack, */
	msr	sp_el0, x1			/* and current: see above */
	ret					/* into next: its call of this, or ret_from_fork */
FUNC_END cpu_switch_to

/*
 * A new task's first instruction: x0 = the task switched from, x19 = kernel thread's function or 0, x20 = its argument
 * (arch_copy_thread). SP = its pt_regs, x29 = the frame record in them.
 */
FUNC ret_from_fork
	bl	schedule_tail
	cbz	x19, 1f
	mov	x0, x20
	blr	x19
	cbnz	w0, 2f				/* 0: it became a user program (kernel_execve) */
1:
	mov	x0, sp
	bl	exit_from_fork
	b	ret_to_user
2:
	sxtw	x0, w0
	bl	do_exit
	brk	#1				/* does not return */
FUNC_END ret_from_fork
