/*
 * What the call sites of -pg -mfentry call.
 *
 *     void __fentry__(void)       as compiled: notes the call, or does nothing
 *     void ftrace_caller(void)    when traced: calls what ftrace_call holds
 *     void return_to_handler(void)    where traced functions return to when their return is traced
 *
 * A traced function, when its site is reached (the site is its first instruction):
 *
 *     foo:
 *     ip -> call ftrace_caller            pushes ip + 5
 *           push %rbp                     foo's own record comes only now
 *           mov  %rsp, %rbp
 *           ...
 *
 * So nothing of foo is on the stack but its return address, and every register that may hold an argument is
 * live: rdi, rsi, rdx, rcx, r8, r9. The callee keeps rbx, rbp and r12 to r15 itself; r11 and the flags mean
 * nothing at a function's entry (System V ABI, 3.2.1). Two more mean nothing: al (how many vector registers a
 * variadic call uses: the kernel is built without them) and r10 (static chain: the kernel has no nested functions).
 *
 * A walk by frame records would leave out foo's caller, since foo has no record: {its caller's rbp,
 * parent_ip} is what foo is going to push, so we push it in its place, and ours below. The stack, at any
 * instruction after the pushes:
 *
 *     |   frame of foo's caller         |
 *     +---------------------------------+
 *     |   parent_ip                     |   88  <- %rsp at foo's first instruction. A tracer of returns replaces it.
 *     |   ip + 5: back into foo         |   80
 *     +---------------------------------+
 *     |   parent_ip (copy)              |   72
 *     |   rbp of foo's caller           |   64  <- the record that stands in for foo's
 *     +---------------------------------+
 *     |   ip + 5 (copy)                 |   56
 *     |   address of the record above   |   48  <- %rbp of ftrace_caller
 *     +---------------------------------+
 *     |   r9, r8, rcx, rdx, rsi, rdi    |   40 ... 0  <- %rsp: struct ftrace_regs (asm/ftrace.h)
 *     +---------------------------------+
 *
 * Alignment: foo is entered with rsp 8 above a multiple of 16 (the ABI aligns before a call); the call of
 * ftrace_caller and 10 pushes make that a multiple of 16 again, as the call of a C function wants it.
 */
#include <asm/assembler.h>
#include <asm/segment.h>
#include <generated/asm-offsets.h>

/* The one five-byte nop that sites hold (arch/x86_64/patch.c). */
.macro nop5
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
.endm

	.section .ftrace_callers.text, "ax", @progbits
	.cfi_sections .debug_frame		/* the file has it, the memory has not */
/*
 * The stack of the picture. Two records: the one that stands in for foo's, which has none yet, and our own. The last
 * instruction leaves rsp at struct ftrace_regs.
 */
.macro fregs_push
	push_cfi 8(%rsp)				/* parent_ip */
	push_cfi %rbp				/* the record that foo is about to push */
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	push_cfi 16(%rsp)			/* ip + 5 */
	push_cfi %rbp				/* our own record, the innermost from here on */
	movq	%rsp, %rbp
	push_cfi %r9				/* struct ftrace_regs, from its end */
	push_cfi %r8
	push_cfi %rcx
	push_cfi %rdx
	push_cfi %rsi
	push_cfi %rdi
.endm
/* The arguments of what is called, from the stack of the picture: so this can be repeated when they have been used. */
.macro arguments
	movq	FREGS_PC(%rsp), %rdi
	subq	$5, %rdi			/* ip */
	movq	FREGS_PARENT(%rsp), %rsi	/* parent_ip */
	movq	%rsp, %rcx			/* fregs */
.endm

/* Back into foo, behind its CALL, with the registers it was entered with. */
.macro fregs_pop_and_return
	pop_cfi	%rdi
	pop_cfi	%rsi
	pop_cfi	%rdx
	pop_cfi	%rcx
	pop_cfi	%r8
	pop_cfi	%r9
	movq	FREGS_CALLER_BP - FREGS_RECORD(%rsp), %rbp /* rsp has come to our record; rbp is found above it */
	.cfi_restore %rbp
	addq	$FREGS_PC - FREGS_RECORD, %rsp	/* only ip + 5 and parent_ip are left */
	.cfi_adjust_cfa_offset -(FREGS_PC - FREGS_RECORD)
	ret
.endm

/*
 * The hook as compiled. The boot replaces all calls of it. Functions that run before then come here, and while their
 * calls may be wanted they are noted:
 *     void ftrace_early_call(unsigned long ip, unsigned long parent_ip)     trace/ftrace/early.c
 */
FUNC __fentry__
	.cfi_startproc
	cmpb	$0, ftrace_early_on(%rip)	/* true from the first call on (trace/ftrace/early.c) */
	jne	1f				/* the call is noted */
	ret
1:	fregs_push
	arguments
	call	ftrace_early_call
	fregs_pop_and_return
	.cfi_endproc
FUNC_END __fentry__

/*
 * The hook when traced. ftrace_call is a nop until a tracer is on, and is then patched to
 *     call fn    void fn(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
 *     rdi = ip           address of the CALL in foo
 *     rsi = parent_ip    where foo will return to
 *     rdx = op           left as it is: a function that is called from here may not look at it (trace/ftrace/ftrace.c)
 *     rcx = fregs        the registers above
 *
 * ftrace_graph_call is a nop too; while returns are traced as well it is a jump to ftrace_graph_caller, which ends as
 * this does.
 */
FUNC ftrace_caller
	.cfi_startproc
	fregs_push
	arguments
	/* The two places below are patched one by one, never moved. */
	.globl	ftrace_call
ftrace_call:
	nop5					/* call <tracer> */
	.globl	ftrace_graph_call
ftrace_graph_call:
	nop5					/* jmp ftrace_graph_caller */
	fregs_pop_and_return
	.cfi_endproc
FUNC_END ftrace_caller

/*
 * From ftrace_graph_call, with the stack as in the picture. The call at ftrace_call may have changed the argument
 * registers, so they are made again. void fgraph_enter_func(ip, parent_ip, op, fregs) replaces `parent_ip` at 88, or
 * leaves it (trace/ftrace/fgraph.c). The copy at 72 stays: a walk that begins in here finds the caller there.
 */
FUNC ftrace_graph_caller
	.cfi_startproc
	.cfi_def_cfa %rsp, FREGS_PARENT
	.cfi_offset %rbp, FREGS_CALLER_BP - FREGS_PARENT
	arguments
	call	*fgraph_enter_func(%rip)
	fregs_pop_and_return
	.cfi_endproc
FUNC_END ftrace_graph_caller

/*
 * While some sites are wanted by tracers of entries only and others by tracers of returns only, each kind of site calls
 * one of these two in ftrace_caller's place, so that no tracer is told of a call that it did not ask for.
 */
FUNC ftrace_entry_caller
	.cfi_startproc
	fregs_push
	arguments
	.globl	ftrace_entry_call
ftrace_entry_call:
	nop5					/* call <tracer>, the same as in ftrace_call */
	fregs_pop_and_return
	.cfi_endproc
FUNC_END ftrace_entry_caller

FUNC ftrace_return_caller
	.cfi_startproc
	fregs_push
	arguments
	call	*fgraph_enter_func(%rip)
	fregs_pop_and_return
	.cfi_endproc
FUNC_END ftrace_return_caller

/*
 * The entries below lead to C, which calls the users: the one user of a site, several, or users that want all
 * registers. The first two instructions of each keep preemption off until C has called the user, and an interrupt
 * between them does not preempt (.ftrace.text, <kernel/entry.h>). So while the machine is stopped to change users, no
 * task is on its way to one (docs/tricks.md). r11 means nothing at a function's entry.
 */
.macro user_head name
	.pushsection .ftrace.text, "ax", @progbits
FUNC \name
	.cfi_startproc
	movq	%gs:current_task, %r11
	incl	TSK_PREEMPT_COUNT(%r11)
	jmp	\name\()_body
	.cfi_endproc
FUNC_END \name
	.popsection
	.type	\name\()_body, @function
\name\()_body:
.endm

/*
 * Sites that only one user wants: void ftrace_ops_single_func(ip, parent_ip, op, fregs). Four such entries, so that
 * four users can have sites of their own, each site calling the entry of its user; a fifth user's sites go by the list.
 */
.macro single_caller nr
	user_head ftrace_single_caller_\nr
	.cfi_startproc
	fregs_push
	arguments
	movq	ftrace_single_ops + 8 * \nr(%rip), %rdx /* the user, read with preemption off: it stays one */
	call	ftrace_ops_single_func
	fregs_pop_and_return
	.cfi_endproc
	.size	ftrace_single_caller_\nr\()_body, . - ftrace_single_caller_\nr\()_body
.endm
	single_caller 0
	single_caller 1
	single_caller 2
	single_caller 3

/*
 * Sites with several users: void ftrace_ops_list_func(ip, parent_ip, unused, fregs). C finds out whose set holds ip.
 * rdx stays as the site left it.
 */
	user_head ftrace_list_caller
	.cfi_startproc
	fregs_push
	arguments
	call	ftrace_ops_list_func
	fregs_pop_and_return
	.cfi_endproc
	.size	ftrace_list_caller_body, . - ftrace_list_caller_body

/*
 * Sites with a user that wants registers: bool ftrace_ops_regs_func(ip, parent_ip, regs, fregs). Below the stack of
 * the picture lies a struct pt_regs, with the registers as they are at foo's first instruction: rip is behind the
 * hook, rsp where the return address is, rbp the caller's; r11 and the flags mean nothing there. Afterwards all
 * registers but rsp and the flags are taken from it, whatever the result is, so a user that has changed rip has chosen
 * where foo's caller comes to.
 */
	user_head ftrace_regs_caller
	.cfi_startproc
	fregs_push
	/*
	 * struct pt_regs is pushed from its end, as a CPU and entry.S would do it. Offsets from rsp count the words
	 * that are pushed already.
	 */
	push_cfi $__KERNEL_DS
	leaq	FREGS_PARENT + 8(%rsp), %rdi		/* rdi itself is kept in fregs */
	push_cfi %rdi				/* rsp */
	pushfq
	.cfi_adjust_cfa_offset 8
	push_cfi $__KERNEL_CS
	push_cfi FREGS_PC + 4 * 8(%rsp)		/* rip */
	push_cfi $0				/* orig_rax */
	push_cfi $NO_VECTOR_ASM
	push_cfi 7 * 8(%rsp)			/* rdi */
	push_cfi %rsi
	push_cfi %rdx
	push_cfi %rcx
	push_cfi %rax
	push_cfi %r8
	push_cfi %r9
	push_cfi %r10
	push_cfi %r11
	push_cfi %rbx
	push_cfi FREGS_CALLER_BP + 17 * 8(%rsp)	/* rbp */
	push_cfi %r12
	push_cfi %r13
	push_cfi %r14
	push_cfi %r15
	push_cfi FREGS_PC + 22 * 8(%rsp)		/* stackframe */
	push_cfi FREGS_CALLER_BP + 23 * 8(%rsp)	/* the record {rbp, rip}: walks that begin with regs go on at foo */
	movq	%rsp, %rdx			/* regs */
	leaq	PT_REGS_SIZE(%rsp), %rcx	/* fregs */
	movq	FREGS_PC(%rcx), %rdi
	subq	$5, %rdi			/* ip */
	movq	FREGS_PARENT(%rcx), %rsi	/* parent_ip */
	call	ftrace_ops_regs_func
	movq	S_RIP(%rsp), %rax		/* rip may be the start of another function, */
	movq	%rax, PT_REGS_SIZE + FREGS_PC(%rsp) /* and takes the place of ip + 5: RET below goes there */
	addq	$16, %rsp			/* stackframe */
	.cfi_adjust_cfa_offset -16
	/* rbp, too: the record of foo's caller, which neither foo nor another function has hidden yet. */
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
	addq	$7 * 8 + FREGS_PC, %rsp		/* the seven words that are left, and fregs as far as rip */
	.cfi_adjust_cfa_offset -(7 * 8 + FREGS_PC)
	ret
	.cfi_endproc
	.size	ftrace_regs_caller_body, . - ftrace_regs_caller_body

/*
 * A function whose return address was replaced returns here, and the stack looks as if its caller had called us. The
 * first push puts the address back to where RET has just taken it from, so that a walk finds the handler's address
 * there and looks the true one up.
 *
 *     |   frame of foo's caller         |  <- %rsp of that caller, a multiple of 16
 *     +---------------------------------+
 *     |   first return_to_handler, then,|   24   when C has looked it up, the address in foo's caller
 *     |   rbp of foo's caller           |   16  <- %rbp
 *     |   rdx, rax: what foo returns    |    0  <- %rsp: struct fgraph_ret_regs (asm/ftrace.h)
 *     +---------------------------------+
 *
 * RETURN_TO_HANDLER_ADDR is behind the nop: gdb and backtraces look for the name of a return address at the byte
 * before.
 */
FUNC return_to_handler
	.cfi_startproc
	.cfi_undefined %rip			/* only the shadow stack knows: tools/gdb */
	nop
	.globl	return_to_handler_entry
return_to_handler_entry:
	.cfi_def_cfa_offset 0
	pushq	$return_to_handler_entry
	.cfi_def_cfa_offset 8
	.cfi_offset %rip, -8
	push_cfi %rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	push_cfi %rdx
	push_cfi %rax
	movq	%rsp, %rdi			/* regs: {rax, rdx, rbp, rip} */
	call	*fgraph_return_func(%rip)	/* void fgraph_return_func(struct fgraph_ret_regs *) */
	pop_cfi	%rax
	pop_cfi	%rdx
	pop_cfi	%rbp
	.cfi_restore %rbp
	ret
	.cfi_endproc
FUNC_END return_to_handler
