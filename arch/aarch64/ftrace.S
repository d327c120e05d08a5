/*
 * What the call sites of -pg call.
 *
 *     void _mcount(unsigned long parent_ip)         as compiled: does nothing
 *     void ftrace_caller(unsigned long parent_ip)   when traced: calls what ftrace_call holds
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

	.text
	.cfi_sections .debug_frame		/* the file has it, the memory has not */
/*
 * The hook as compiled. Boot replaces all calls of it by nops; code that runs before then comes here.
 */
FUNC _mcount
	ret
FUNC_END _mcount

/*
 * The hook when traced. ftrace_call is a nop until a tracer is on, and is then patched to
 *     bl fn    void fn(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
 *     x0 = ip           address of the BL in foo
 *     x1 = parent_ip    where foo will return to, from its frame record
 *     x2 = op           left as it is: a function that is called from here may not look at it (trace/ftrace.c)
 *     x3 = fregs        our frame record, from which the whole entry of foo can be found (asm/ftrace.h)
 *
 * ftrace_graph_call is the place where a tracer of returns branches off, when one is on.
 */
FUNC ftrace_caller
	.cfi_startproc				/* for gdb: where x29 and x30 of foo are at each instruction */
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	ldr	x1, [x29, #8]			/* parent_ip */
	sub	x0, x30, #4			/* ip */
	mov	x29, sp				/* our record is the innermost from here on */
	mov	x3, sp				/* fregs */
	.globl	ftrace_call
ftrace_call:
	nop					/* bl <tracer> */
	.globl	ftrace_graph_call
ftrace_graph_call:
	nop					/* b <tracer of returns> */
	/* Back into foo, behind its BL, with its own x29. */
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
FUNC_END ftrace_caller
