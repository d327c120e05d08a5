/*
 * What the call sites of -pg call.
 *
 *     void _mcount(unsigned long parent_ip)         as compiled: notes the call, or does nothing
 *     void ftrace_caller(unsigned long parent_ip)   when traced: calls what ftrace_call holds
 *     void return_to_handler(void)                  where traced functions return to when their return is traced
 *
 * A traced function, when its site is reached (gcc emits the site where the frame record is complete):
 *
 *     foo:  stp  x29, x30, [sp, #-N]!     frame record of foo: {caller's record, parent_ip}
 *           mov  x29, sp
 *           ...                           what the call below may spoil is saved: to gcc it is a call like any other
 *           mov  x0, x30
 *     ip -> bl   ftrace_caller            x30 = ip + 4
 *           ...
 *
 * So ftrace_caller may use x0 to x17 freely and must keep only x29 and x30. It pushes a record of its own, and the
 * stack reads, at any instruction after the push:
 *
 *     |   frame of foo's caller         |
 *     +---------------------------------+
 *     |   locals of foo                 |
 *     |   parent_ip                     |  <- parent_slot: foo's x29 + 8. A tracer of returns replaces the word.
 *     |   x29 of foo's caller           |  <- x29 of foo
 *     +---------------------------------+
 *     |   x30: back into foo, ip + 4    |
 *     |   x29 of foo                    |  <- x29, SP of ftrace_caller
 *     +---------------------------------+
 *
 * A backtrace is complete at every instruction: before the push x29 is foo's and x30 leads into foo; after it the
 * record does; after the pop x30 again.
 *
 * gcc stores a frame record in the middle of the frame when it has outgoing arguments on the stack; x29 points to the
 * record in any case, and nothing here looks at SP of foo.
 */
#include <asm/assembler.h>
#include <asm/sysreg.h>
#include <generated/asm-offsets.h>

	.text
	.cfi_sections .debug_frame		/* the file has it, the memory has not */
/*
 * A record below foo's: {x29 of foo, back into foo}. It makes a backtrace complete, and is all that must be kept, since
 * foo's code around the site treats it as an ordinary call. The directives tell gdb where x29 and x30 of foo are at
 * each instruction.
 */
.macro record_push
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
.endm

/* Back into foo, behind its BL, with its own x29. */
.macro record_pop_and_return
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	ret
.endm

/*
 * The arguments of what is called, from what the site has: x30 is behind the BL, x29 is foo's. In this order: x29 is
 * foo's for the load of parent_ip, and ours from the third line on.
 */
.macro arguments
	ldr	x1, [x29, #8]			/* parent_ip */
	sub	x0, x30, #4			/* ip */
	mov	x29, sp				/* our record is the innermost from here on */
	mov	x3, sp				/* fregs */
.endm

/*
 * The hook as compiled. The boot replaces all calls of it. Functions that run before then come here, and while their
 * calls may be wanted they are noted:
 *     void ftrace_early_call(unsigned long ip, unsigned long parent_ip)     trace/ftrace/early.c
 */
FUNC _mcount
	.cfi_startproc
	adrp	x1, ftrace_early_on		/* true from the first call on (trace/ftrace/early.c) */
	ldrb	w1, [x1, :lo12:ftrace_early_on]
	cbnz	w1, 1f				/* the call is noted */
	ret
1:	record_push
	arguments
	bl	ftrace_early_call
	record_pop_and_return
	.cfi_endproc
FUNC_END _mcount

/*
 * void fgraph_enter_func(ip, parent_ip, op, fregs) replaces parent_ip in foo's record, or leaves it
 * (trace/ftrace/fgraph.c).
 */
.macro call_graph_enter
	/* A load and an indirect call: why it is no patched call stands in <arch/ftrace.h>. */
	adrp	x4, fgraph_enter_func
	ldr	x4, [x4, :lo12:fgraph_enter_func]
	blr	x4
.endm

/*
 * The hook when traced. ftrace_call is a nop until a tracer is on, and is then patched to
 *     bl fn    void fn(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
 *     x0 = ip           address of the BL in foo
 *     x1 = parent_ip    where foo will return to, from its frame record
 *     x2 = op           left as it is: a function that is called from here may not look at it (trace/ftrace/ftrace.c)
 *     x3 = fregs        our frame record, from which the whole entry of foo can be found (asm/ftrace.h)
 *
 * ftrace_graph_call is a nop too; while returns are traced as well it is a jump to ftrace_graph_caller, which ends as
 * this does.
 */
FUNC ftrace_caller
	.cfi_startproc
	record_push
	arguments
	/* The two places below are patched one by one, never moved: nops and branches are four bytes at any address. */
	.globl	ftrace_call
ftrace_call:
	nop					/* bl <tracer> */
	.globl	ftrace_graph_call
ftrace_graph_call:
	nop					/* b ftrace_graph_caller */
	record_pop_and_return
	.cfi_endproc
FUNC_END ftrace_caller

/*
 * From ftrace_graph_call, with ftrace_caller's record on the stack. The call at ftrace_call may have changed x0 to x3
 * and x30, so the arguments are made again, from the record.
 */
FUNC ftrace_graph_caller
	.cfi_startproc
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	ldp	x2, x0, [sp]			/* x29 of foo, ip + 4 */
	ldr	x1, [x2, #8]			/* parent_ip */
	sub	x0, x0, #4			/* ip */
	mov	x3, sp				/* fregs */
	call_graph_enter
	record_pop_and_return
	.cfi_endproc
FUNC_END ftrace_graph_caller

/*
 * While some sites are wanted by tracers of entries only and others by tracers of returns only, each kind of site calls
 * one of these two in ftrace_caller's place, so that no tracer is told of a call that it did not ask for.
 */
FUNC ftrace_entry_caller
	.cfi_startproc
	record_push
	arguments
	.globl	ftrace_entry_call
ftrace_entry_call:
	nop					/* bl <tracer>, the same as in ftrace_call */
	record_pop_and_return
	.cfi_endproc
FUNC_END ftrace_entry_caller

FUNC ftrace_return_caller
	.cfi_startproc
	record_push
	arguments
	call_graph_enter
	record_pop_and_return
	.cfi_endproc
FUNC_END ftrace_return_caller

/*
 * The entries below lead to C, which calls the users: the one user of a site, several, or users that want all
 * registers. The first instructions of each keep preemption off until C has called the user, and an interrupt between
 * them does not preempt (.ftrace.text, <kernel/entry.h>). So while the machine is stopped to change users, no task is
 * on its way to one (docs/tricks.md).
 *
 *     x16  current: SP_EL0 holds it in the kernel      both are free here: AAPCS64 (6.1.1) gives x16 and x17
 *     w17  its preempt_count                           to code between a call and its target
 *
 * Load, add, store without a lock is right: only this task, and interrupts that leave the count as they found it, write
 * it. The head ends with a branch: what lies in .ftrace.text is recognised by its address, and must be short.
 */
.macro user_head name
	.pushsection .ftrace.text, "ax", %progbits
FUNC \name
	.cfi_startproc
	mrs	x16, sp_el0
	ldr	w17, [x16, #TSK_PREEMPT_COUNT]
	add	w17, w17, #1
	str	w17, [x16, #TSK_PREEMPT_COUNT]
	b	\name\()_body
	.cfi_endproc
FUNC_END \name
	.popsection
	.type	\name\()_body, %function
	.balign	4
\name\()_body:
.endm

/*
 * Sites that only one user wants: void ftrace_ops_single_func(ip, parent_ip, op, fregs). Four such entries, so that
 * four users can have sites of their own, each site calling the entry of its user; a fifth user's sites go by the list.
 */
.macro single_caller nr
	user_head ftrace_single_caller_\nr
	.cfi_startproc
	record_push
	arguments
	/* x2 = the user, read with preemption off: it stays one until C has called it. */
	adrp	x2, ftrace_single_ops + 8 * \nr
	ldr	x2, [x2, :lo12:ftrace_single_ops + 8 * \nr]
	bl	ftrace_ops_single_func
	record_pop_and_return
	.cfi_endproc
	.size	ftrace_single_caller_\nr\()_body, . - ftrace_single_caller_\nr\()_body
.endm
	single_caller 0
	single_caller 1
	single_caller 2
	single_caller 3

/*
 * Sites with several users: void ftrace_ops_list_func(ip, parent_ip, unused, fregs). C finds out whose set holds ip. x2
 * stays as the site left it.
 */
	user_head ftrace_list_caller
	.cfi_startproc
	record_push
	arguments
	bl	ftrace_ops_list_func
	record_pop_and_return
	.cfi_endproc
	.size	ftrace_list_caller_body, . - ftrace_list_caller_body

/*
 * Sites with a user that wants registers: bool ftrace_ops_regs_func(ip, parent_ip, regs, fregs). Below our record lies
 * a struct pt_regs, with the registers as they are at foo's site: pc is behind the hook, sp and x29 are foo's, x30 is
 * parent_ip, which the site had in it; x16 and x17 mean nothing. The function returns false: foo goes on, with x0 to
 * x28 taken from regs. It returns true: regs are those of the start of another function, and all of them are taken.
 *
 *     |   x30, x29: our record                    |  <- fregs (x3), x29
 *     +-------------------------------------------+
 *     |   stackframe {x29 of foo, back into foo}  |  a copy, for walks that begin with regs
 *     |   syscallno, orig_x0                      |
 *     |   pstate, pc, sp                          |
 *     |   x30: parent_ip                          |
 *     |   x29 ... x0                              |  <- regs (x2), SP
 *     +-------------------------------------------+
 */
	user_head ftrace_regs_caller
	.cfi_startproc
	record_push
	sub	sp, sp, #PT_REGS_SIZE
	.cfi_adjust_cfa_offset PT_REGS_SIZE
	/* All registers but x16 and x17 still have the values that they had at the site. */
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	/*
	 * What the site's registers do not have: x30 and SP as foo knows them, and a PSTATE put together from its
	 * parts.
	 */
	ldr	x1, [x29, #8]			/* parent_ip */
	add	x3, sp, #PT_REGS_SIZE		/* fregs */
	add	x4, x3, #16			/* sp of foo */
	stp	x1, x4, [sp, #S_LR]		/* x30, then sp, which is next */
	mrs	x5, nzcv
	mrs	x6, daif			/* D, A, I, F: what is masked */
	orr	x5, x5, x6
	mov	x6, #PSR_MODE_EL1h
	orr	x5, x5, x6
	stp	x30, x5, [sp, #S_PC]		/* pc: behind the BL, then pstate */
	mov	x5, #NO_SYSCALL_ASM		/* so that nobody takes it for an entry from user mode */
	stp	x0, x5, [sp, #S_ORIG_X0]
	stp	x29, x30, [sp, #S_STACKFRAME]	/* walks that begin with regs go on at foo */
	sub	x0, x30, #4			/* ip */
	mov	x2, sp				/* regs */
	mov	x29, x3				/* our record is the innermost from here on */
	bl	ftrace_ops_regs_func
	and	w16, w0, #0xff			/* a bool is the low byte, the rest is undefined (AAPCS64, 6.8.2) */
	/*
	 * In both cases x0 to x28 come from regs, where the user may have changed them. x16 holds the answer, so it
	 * and x17 are left out.
	 */
	ldp	x0, x1, [sp, #0]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldr	x28, [sp, #224]
	cbnz	w16, 1f				/* another function */
	add	sp, sp, #PT_REGS_SIZE		/* regs go, our record is left */
	.cfi_remember_state
	.cfi_adjust_cfa_offset -PT_REGS_SIZE
	record_pop_and_return
	.cfi_restore_state
	/* As if foo's caller had called the other function: SP, x29 and x30 are those at its first instruction. */
1:	ldp	x16, x17, [sp, #S_SP]		/* and pc, which is next */
	ldp	x29, x30, [sp, #232]		/* by number: two fields side by side in the array of registers */
	mov	sp, x16				/* last: our frame is below SP now, free to be overwritten */
	br	x17				/* both are free there */
	.cfi_endproc
	.size	ftrace_regs_caller_body, . - ftrace_regs_caller_body

/*
 * A function whose return address was replaced returns here, and the stack looks as if its caller had called us.
 *
 *     |   frame of foo's caller         |  <- x29, SP of that caller
 *     +---------------------------------+
 *     |   x1, x0: what foo returns      |   16   (AAPCS64, 6.9: at most these two; larger values go by memory)
 *     |   x30: first return_to_handler, |    8   then, when C has looked it up, the address in foo's caller
 *     |   x29 of foo's caller           |    0  <- x29, SP: struct fgraph_ret_regs (asm/ftrace.h)
 *     +---------------------------------+
 *
 * RETURN_TO_HANDLER_ADDR is behind the nop: gdb and backtraces look for the name of a return address at the byte
 * before.
 */
FUNC return_to_handler
	.cfi_startproc
	.cfi_undefined x30			/* only the shadow stack knows: tools/gdb */
	nop
	.globl	return_to_handler_entry
return_to_handler_entry:
	/* As a call would have left it: the record of the function that foo's caller seems to have called. */
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	stp	x0, x1, [sp, #16]		/* C may spoil them, and foo's caller waits for them */
	mov	x0, sp				/* regs: {x29, x30, x0, x1} */
	adrp	x4, fgraph_return_func
	ldr	x4, [x4, :lo12:fgraph_return_func]
	blr	x4				/* void fgraph_return_func(struct fgraph_ret_regs *) */
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_same_value x30
	ret
	.cfi_endproc
FUNC_END return_to_handler
