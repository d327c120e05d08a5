/*
 * Ways into the kernel: interrupts, exceptions, SYSCALL; saving and restoring what was interrupted; the ways back.
 *
 * The stack of a task when user mode entered the kernel (addresses fall towards the bottom of the picture):
 *
 *     stack + THREAD_SIZE -> +--------------------------+  TSS.RSP0 and %gs:kernel_stack_end point here
 *                            | ss, rsp, rflags, cs, rip |  pushed by the CPU; for SYSCALL by us
 *                            | orig_rax                 |  number of the call, or error code, or 0
 *                            | vector                   |  pushed by the stub of the vector
 *                            | rdi ... r15              |
 *                            | stackframe   {0, 0}      |  <- rbp of the handler: the walk ends here
 *                            +--------------------------+  <- struct pt_regs = task_pt_regs(task), rsp
 *                            | frames of C functions    |
 *
 * An exception in the kernel pushes the same structure below whatever is there, with the frame record
 * {interrupted rbp, interrupted rip}, so that a walk by frame records goes on through it:
 *
 *                            | frame record of f        |  <- interrupted rbp
 *                            | locals of f              |  <- interrupted rsp
 *                            +--------------------------+
 *                            | ss ... rip, orig_rax ... |
 *                            | stackframe {rbp, rip}    |  <- rbp of the handler, rsp
 *                            +--------------------------+
 *
 * GS: its base is the per-CPU offset in the kernel and the user's own value in user mode; SWAPGS exchanges it with
 * KERNEL_GS_BASE. On entry "was it user mode" (cs) decides about it, with two exceptions, both of our making:
 * between SYSCALL or the last SWAPGS and the change of mode cs is the kernel's and GS the user's. Interrupts are
 * off there and nothing there faults but IRETQ, which exception_entry knows by its address. NMI, #MC and #DB, which
 * cannot be held off, and #DF, from which there is no return, look at the base itself: see paranoid_entry.
 */
#include <asm/assembler.h>
#include <asm/debugreg.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/segment.h>
#include <generated/asm-offsets.h>

#define RFLAGS_TF    0x100
#define RFLAGS_TF_RF 0x10100

	.cfi_sections .debug_frame		/* the file has it, the memory has not */
	.section .entry.text, "ax"

/*
 * General registers below what stands at rsp, {vector, orig_rax, rip, ...}: struct pt_regs from its upper end on,
 * but for the frame record. `rax`: what to store in its place. Changes neither registers nor flags.
 */
.macro push_regs rax=%rax
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	\rax
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
.endm

/* The frame record of an entry from user mode, and the handler's argument. Frees rdi and rbp. */
.macro user_frame
	push	$0
	push	$0				/* no caller: a walk by frame records ends here */
	mov	%rsp, %rbp
	mov	%rsp, %rdi
.endm

/*
 * Of an entry from the kernel. The record is not there yet when rip is read, so that is 16 bytes nearer to rsp than
 * its offset in pt_regs says.
 */
.macro kernel_frame
	push	S_RIP-16(%rsp)
	push	%rbp
	mov	%rsp, %rbp
	mov	%rsp, %rdi
.endm

/* Undo all of it: afterwards rsp points to `vector`. Interrupts are off. */
.macro pop_regs
	add	$16, %rsp			/* stackframe */
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
.endm

/*
 * One stub a vector, 16 bytes apart; desc.c points the IDT's gates at them. The CPU has pushed ss ... rip and for
 * some exceptions an error code (SDM vol. 3, table 6-1); the others get a 0 in its place, and all their vector:
 *
 *     6a 00              push $0
 *     6a vv              push $vector		(from 128 on 68 vv 00 00 00)
 *     e9 xx xx xx xx     jmp
 *
 * All gates are interrupt gates: the CPU has cleared IF, and TF, NT and RF with it. DF and AC are as they were: C
 * wants the one clear, and the other would leave user memory open to the kernel (SMAP), so every entry begins with
 * CLD and CLAC. Alignment: the CPU pushes its words below a multiple of 16, and struct pt_regs is a multiple of 16
 * long, so rsp is as the ABI wants it at the call of the handler.
 */
.macro stub_table name, exception, interrupt, parked
	.balign	16
	.globl	\name
	.type	\name, @function
\name:
	.set	vector, 0
	.rept	NR_VECTORS
	.balign	16
	.if	!(vector == X86_TRAP_DF || (vector >= X86_TRAP_TS && vector <= X86_TRAP_PF) || \
		  vector == X86_TRAP_AC || vector == X86_TRAP_CP || vector == 29 || vector == 30)
	push	$0
	.endif
	push	$vector
	.if	vector == X86_TRAP_NMI
	jmp	nmi_entry
	.elseif	vector == X86_TRAP_DB
	jmp	debug_entry
	.elseif	vector == X86_TRAP_DF
	jmp	double_fault_entry
	.elseif	vector == X86_TRAP_MC
	jmp	machine_check_entry
	.elseif	vector < NR_EXCEPTIONS
	jmp	\exception
	.elseif	vector >= PARKED_CLASS << 4
	jmp	\parked
	.else
	jmp	\interrupt
	.endif
	.set	vector, vector + 1
	.endr
	.size	\name, . - \name
.endm
	stub_table idt_stubs, exception_entry, interrupt_entry, parked_irq
	stub_table step_stubs, step_exception, step_interrupt, step_parked_irq

/*
 * Of a CPU that is stepped (single_step.c). rsp: vector, error code or 0, rip, cs, rflags, ... TF comes into force
 * behind the instruction that follows POPF, so the first #DB is at the usual entry. Flags are free for use.
 */
.macro set_tf
	pushfq
	orl	$RFLAGS_TF, (%rsp)
	popfq
.endm

/* An interrupt finds a CPU that was stepped, or whose sleep in idle was not. */
FUNC step_interrupt
	set_tf
	jmp	interrupt_entry
FUNC_END step_interrupt

/* An exception may come in the handler of #DB or of an NMI, which are not stepped. */
FUNC step_exception
	testb	$3, 24(%rsp)			/* the privilege level in cs */
	jnz	1f
	testl	$RFLAGS_TF, 32(%rsp)
	jz	exception_entry
1:
	set_tf
	jmp	exception_entry
FUNC_END step_exception

/* Not stepped, but what follows is: where it ends the sleep of idle, the flags there have no TF. */
FUNC step_parked_irq
	push	%rax
	mov	24(%rsp), %rax			/* rip */
	cmp	idle_hlt+8, %rax
	jne	1f
	orl	$RFLAGS_TF, 40(%rsp)
1:
	pop	%rax
	jmp	parked_irq
FUNC_END step_parked_irq

/*
 * Interrupts, vectors 32 to 255. rsp: vector, 0, rip, cs, ...
 * They find interrupts on, which they are neither here nor between SWAPGS and the change of mode: so cs tells whose
 * GS it is.
 */
.macro interrupt handler
	cld
	CLAC
	testb	$3, 24(%rsp)			/* the privilege level in cs: 3 is user mode */
	jz	1f
	swapgs					/* from here on %gs: is this CPU's per-CPU area */
	push_regs
	user_frame
	call	\handler
	jmp	ret_to_user
1:
	push_regs				/* GS is ours already */
	kernel_frame
	call	\handler
	pop_regs
	add	$16, %rsp			/* vector, orig_rax */
	iretq
.endm

FUNC interrupt_entry
	interrupt interrupt_handler
FUNC_END interrupt_entry

/*
 * Those that come to a CPU that is parked while text changes, too: neither here nor in parked_irq_handler is anything
 * that can be patched. They change nothing that the way back to user mode would have to look at.
 */
FUNC parked_irq
	interrupt parked_irq_handler
FUNC_END parked_irq

/*
 * Exceptions but those with a stack of their own. rsp: vector, error code or 0, rip, cs, ...
 * Interrupts are off; the handler opens them where they were on.
 */
FUNC exception_entry
	cld
	CLAC
	testb	$3, 24(%rsp)			/* the privilege level in cs */
	jz	.Lfrom_kernel
	swapgs
.Lfrom_user:
	push_regs
	user_frame
	call	exc_handler
	jmp	ret_to_user
.Lfrom_kernel:
	push_regs
	kernel_frame
	cmpq	$.Liret_to_user, S_RIP(%rsp)
	jne	1f				/* an ordinary exception of the kernel */
	swapgs					/* user mode was not reached: C, and the fix-up, want our GS */
1:
	call	exc_handler
	mov	%gs:current_task, %rax
	testl	$NMI_MASK_ASM, TSK_PREEMPT_COUNT(%rax)
	jnz	.Lback_into_nmi			/* in_nmi() */
	pop_regs
	add	$16, %rsp
	iretq

	/*
	 * The exception came while an NMI was served. IRETQ would let the next NMI in, which would begin at the top
	 * of the stack that this one still stands on; so go back without it: code and stack segment stay, the flags
	 * come by POPFQ (IF is off in them), rip by RET. The two words for that are written right below the
	 * interrupted rsp: over what the CPU has pushed there, so everything is read first, and the new rsp is
	 * kept in orig_rax.
	 *
	 *     interrupted rsp -> |         |
	 *                        | rip     |  popped by RET
	 *                        | rflags  |  <- orig_rax
	 */
.Lback_into_nmi:
	mov	S_RSP(%rsp), %rax		/* where the two words go: below what was interrupted */
	mov	S_RIP(%rsp), %rcx
	mov	S_RFLAGS(%rsp), %rdx
	mov	%rcx, -8(%rax)
	mov	%rdx, -16(%rax)
	sub	$16, %rax
	mov	%rax, S_ORIG_RAX(%rsp)
	pop_regs
	add	$8, %rsp			/* vector */
	pop	%rsp
	popfq
	ret
FUNC_END exception_entry

/*
 * Every way back to user mode but SYSRET; exit_to_user_mode has been called, interrupts are off. From SWAPGS on GS
 * is the user's.
 */
FUNC ret_to_user
	pop_regs
	add	$16, %rsp			/* vector, orig_rax */
	swapgs
.Liret_to_user:
	iretq
	/*
	 * IRETQ refused what it was to load (rt_sigreturn takes cs, ss and rip from user memory). It has changed
	 * nothing: rsp still points to the five words and the registers are the user's; fixup_exception has brought
	 * us here with our GS. So this is as if user mode had raised #GP where it wanted to go: SIGSEGV.
	 */
.Lbad_iret:
	orb	$3, 8(%rsp)			/* cs: whatever it was, it was not to be the kernel */
	push	$0
	push	$X86_TRAP_GP
	jmp	.Lfrom_user
	EX_TABLE .Liret_to_user, .Lbad_iret
FUNC_END ret_to_user

/*
 * SYSCALL. The CPU has changed cs, ss, rip and the flags, nothing else (SDM vol. 2, SYSCALL):
 *
 *     rax  number of the call      rdi, rsi, rdx, r10, r8, r9  its arguments
 *     rcx  the user's rip          r11  the user's rflags
 *     rsp  still the user's        GS   still the user's
 *
 * The flags in SYSCALL_MASK are clear: IF, DF, AC, TF among them, so there is no CLD and no CLAC here, and a single
 * step ends before. Until rsp is ours nothing may be pushed; an NMI or #MC here has its own stack, and looks at GS
 * itself. pt_regs is built whole, so that signals, fork and tracers find every register.
 */
FUNC entry_SYSCALL_64
	.cfi_startproc simple			/* for debuggers: nobody has called us */
	.cfi_def_cfa %rsp, 8
	.cfi_undefined %rip
	swapgs
	mov	%rsp, %gs:user_rsp		/* for these few instructions only: no switch can come between */
	mov	%gs:kernel_stack_end, %rsp
.Lsyscall_on_stack:
	push	$__USER_DS			/* what an interrupt would have pushed */
	push	%gs:user_rsp
	push	%r11
	push	$__USER_CS
	push	%rcx
	push	%rax				/* orig_rax */
	push	$SYSCALL_VECTOR
	push_regs rax=$-ENOSYS_ASM
	user_frame
	call	do_syscall_64

	/*
	 * SYSRET takes rip from rcx and rflags from r11, and the selectors are fixed: it does when that is what is
	 * wanted. Not so after a signal, exec or rt_sigreturn. It would clear RF, and with TF trap in the wrong
	 * place. On Intel's CPUs a rip that is not canonical also raises #GP while still in the kernel, with the
	 * user's rsp and GS: so it must lie in the lower half, bits 63 to 47 all zero. A SYSCALL in the last two
	 * bytes of that half would have its return address just beyond; TASK_SIZE leaves the last page out, but
	 * this test relies on nobody.
	 */
	/* Each test that fails leads to IRETQ, which can restore anything. */
	mov	S_RIP(%rsp), %rcx
	mov	S_RFLAGS(%rsp), %r11
	cmp	%rcx, S_RCX(%rsp)
	jne	ret_to_user			/* rip is not what SYSCALL put into rcx */
	cmp	%r11, S_R11(%rsp)
	jne	ret_to_user			/* the same of the flags and r11 */
	cmpl	$__USER_CS, S_CS(%rsp)
	jne	ret_to_user
	cmpl	$__USER_DS, S_SS(%rsp)
	jne	ret_to_user
	test	$RFLAGS_TF_RF, %r11d
	jnz	ret_to_user			/* a single step, or a breakpoint to be passed */
	mov	%rcx, %rdx
	shr	$47, %rdx
	jnz	ret_to_user			/* not in the lower half */
	pop_regs
	mov	S_RSP-S_VECTOR(%rsp), %rsp	/* rsp was at `vector` */
	swapgs					/* from here to the end: the user's GS in the kernel */
.Lsysret_to_user:
	sysretq
	.cfi_endproc
FUNC_END entry_SYSCALL_64

/* SYSCALL of a CPU that is stepped: there is no stack for PUSHF before the kernel's own. */
FUNC step_SYSCALL_64
	swapgs
	mov	%rsp, %gs:user_rsp
	mov	%gs:kernel_stack_end, %rsp
	set_tf
	jmp	.Lsyscall_on_stack
FUNC_END step_SYSCALL_64

	.pushsection .rodata
	.balign	8
	.globl	step_places
step_places:					/* single_step.h */
	.quad	.Liret_to_user, .Lsysret_to_user, .Lsyscall_on_stack
	.popsection

/*
 * NMI, #MC, #DF, and #DB of the kernel: each on a stack of its own (IST), from anywhere, also with the
 * user's GS in the kernel: SYSCALL and IRET leave an instruction or two like that. Leaves ebx = 1 when
 * GS had to be swapped, which is to be undone, else 0.
 *
 * The sign of the base tells which one it is. The kernel's is the distance from the image up and around
 * to the linear map, thus negative. The user's is a user address, since the three ways to set it
 * see to that: arch_prctl, clone, and a selector, which gives 0. The fourth, WRGSBASE, would not,
 * so CR4.FSGSBASE stays off (cpu_setup). Before setup_per_cpu_areas() the boot CPU's base is 0 and
 * looks like the user's; then KERNEL_GS_BASE is 0 as well (cpu_desc_init), and swapping the two
 * changes nothing.
 */
.macro paranoid_entry
	cld
	CLAC
	push_regs
	testb	$3, S_CS-16(%rsp)
	jz	1f
	user_frame
	jmp	2f
1:
	kernel_frame
2:
	mov	$MSR_GS_BASE, %ecx
	rdmsr					/* edx: the upper half */
	mov	%edx, %ebx
	not	%ebx
	shr	$31, %ebx			/* 1: was not negative */
	jz	3f
	swapgs
3:
.endm

/*
 * NMI. The CPU holds further NMIs back from the entry of one to the next IRET, whichever code
 * executes it: were a page fault inside the handler to return by IRET, the next NMI would begin at
 * the top of the stack on which this one still stands. Faults there are ordinary: a backtrace reads
 * memory that may not be there. So an exception that finds in_nmi() goes back by POPFQ and RET
 * (.Lback_into_nmi): code and stack segment are the same, the flags have IF off, and the two words
 * stand below an rsp that has no red zone. Machine check and double fault cannot go back so, and do
 * not return at all. An SMI's RSM restores the blocking that it found. nmi_handler() preserves CR2.
 */
FUNC nmi_entry
	paranoid_entry
	call	nmi_handler
	test	%ebx, %ebx
	jz	1f
	swapgs
1:
	pop_regs
	add	$16, %rsp
	iretq
FUNC_END nmi_entry

/*
 * #DB, on a stack of its own: a breakpoint on memory is also reported where rsp is still, or already, the user's
 * (SYSCALL). From user mode it goes over to the task's stack and on as every other exception, so that a signal can be
 * sent:
 *
 *     IST stack      | ss, rsp, rflags, cs, rip, 0, vector |  ->  the same words at the top of the task's stack
 *
 * Another #DB would begin at the top of the same stack. So the handler first clears DR7, and an NMI does the same; what
 * runs before that, and after it is loaded again, touches only memory that may not be watched (is_cpu_entry_memory).
 * From user mode DR7 is clear while words are taken to the task's stack, which may be watched.
 */
FUNC debug_entry
	/* On the IST stack with all registers the interrupted code's: the test may change nothing but flags. */
	testb	$3, 24(%rsp)			/* the privilege level in cs */
	jnz	.Ldebug_from_user
	paranoid_entry
	call	debug_handler
	test	%al, %al
	jnz	.Lback_into_nmi			/* see there; an NMI's GS is ours */
	test	%ebx, %ebx
	jz	1f
	swapgs
1:
	pop_regs
	add	$16, %rsp
	iretq
.Ldebug_from_user:
	cld
	CLAC
	swapgs					/* user mode's GS is the user's, without exception */
	push	%rdi
	push	%rsi
	mov	%dr7, %rsi
	mov	$DR7_RESET, %edi
	mov	%rdi, %dr7
	mov	%rsp, %rdi			/* {rsi, rdi, vector, 0, rip, cs, rflags, rsp, ss} */
	mov	%gs:kernel_stack_end, %rsp	/* the task's stack is empty: it came from user mode */
	push	64(%rdi)
	push	56(%rdi)
	push	48(%rdi)
	push	40(%rdi)
	push	32(%rdi)
	push	24(%rdi)
	push	16(%rdi)
	push	8(%rdi)
	push	(%rdi)
	mov	%rsi, %dr7			/* nothing on the IST stack is needed any more */
	pop	%rsi
	pop	%rdi				/* both are the user's again, for push_regs */
	jmp	.Lfrom_user
FUNC_END debug_entry

/*
 * #DF and #MC do not return: what was interrupted may be in any state, and IRETQ out of one that came while an NMI was
 * served would let the next NMI in (nmi_entry). The handlers report and end the machine; UD2 is for a handler that
 * returned all the same.
 */
FUNC double_fault_entry
	paranoid_entry
	call	double_fault_handler
	ud2
FUNC_END double_fault_entry

FUNC machine_check_entry
	paranoid_entry
	call	machine_check_handler
	ud2
FUNC_END machine_check_entry

/*
 * void call_on_irq_stack(struct pt_regs *regs, void (*fn)(struct pt_regs *), unsigned long stack_end)
 * The frame record stays on the task's stack, so a walk goes from the interrupt stack back to it:
 *
 *     interrupt stack            task stack
 *     | frames of fn |           | return address    |
 *     | its record --------->    | rbp of the caller |
 */
FUNC call_on_irq_stack
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdx, %rsp			/* its end: nothing is on it while a task's stack is in use */
	call	*%rsi
	mov	%rbp, %rsp			/* rbp is callee saved: still ours */
	pop	%rbp
	ret
FUNC_END call_on_irq_stack

/*
 * struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next)
 * Returns prev. What is pushed is struct switch_frame, whose rbp and return address are a frame record:
 *
 *     prev's stack  | return address |             next's stack  | return address |  <- where RET goes
 *                   | rbp            |                           | rbp            |
 *                   | rbx, r12 - r15 |  <- thread.sp             | rbx, r12 - r15 |  <- thread.sp
 *
 * `current` changes with the stack; interrupts are off, so only an NMI could see them disagree: it finds, for a
 * moment, a stack that is not its task's, and walks nothing.
 */
FUNC cpu_switch_to
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, TSK_THREAD_SP(%rdi)	/* prev's turn ends: what is above is its switch_frame */
	mov	TSK_THREAD_SP(%rsi), %rsp	/* next's stack, as its own call of this left it */
	mov	%rsi, %gs:current_task
	mov	%rdi, %rax
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret					/* into next: its call of this, or ret_from_fork */
FUNC_END cpu_switch_to

/*
 * void load_user_gs(u32 selector)
 * Interrupts are off. Between the two SWAPGS the base in use is the user's; an NMI or #DB there finds that out by
 * itself (paranoid_entry). The caller has checked that the CPU takes the selector, so the load does not fault. No probe
 * can be set in this section of text.
 */
FUNC load_user_gs
	swapgs
	movl	%edi, %gs			/* takes the base from the descriptor, which has 0 */
	swapgs
	ret
FUNC_END load_user_gs

/*
 * A new task's first instruction: rax = the task switched from, rbx = kernel thread's function or 0, r12 = its
 * argument (arch_copy_thread). rsp = its pt_regs, rbp = the frame record in them.
 */
FUNC ret_from_fork
	/* The first turn ends as every switch does: the task that went out is finished with (schedule_tail). */
	mov	%rax, %rdi
	call	schedule_tail
	test	%rbx, %rbx
	jz	1f
	mov	%r12, %rdi
	call	*%rbx				/* a kernel thread */
	test	%eax, %eax
	jnz	2f				/* 0: it became a user program (kernel_execve) */
1:
	mov	%rsp, %rdi
	call	exit_from_fork
	jmp	ret_to_user
2:
	movslq	%eax, %rdi
	call	do_exit
	ud2					/* does not return */
FUNC_END ret_from_fork
