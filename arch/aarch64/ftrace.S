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
 *     |   parent_ip                     |  <- parent_slot (x2): foo's x29 + 8. A tracer of returns replaces the word.
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
/*
 * The hook as compiled. Boot replaces all calls of it by nops; code that runs before then comes here.
 */
FUNC _mcount
	ret
FUNC_END _mcount

/*
 * The hook when traced. Both calls inside have the same arguments:
 *     x0 = ip           address of the BL in foo
 *     x1 = parent_ip    where foo will return to, from its frame record
 *     x2 = parent_slot  address of that word
 *
 * ftrace_call and ftrace_graph_call are nops until a tracer is on, and are patched to BL like any other site. x29 is
 * what gets the arguments back after the first call, so nothing else has to be kept over it.
 */
FUNC ftrace_caller
	stp	x29, x30, [sp, #-16]!
	ldr	x1, [x29, #8]			/* parent_ip */
	add	x2, x29, #8			/* parent_slot */
	sub	x0, x30, #4			/* ip */
	mov	x29, sp				/* our record is the innermost from here on */
	.globl	ftrace_call
ftrace_call:
	nop					/* bl <tracer>(ip, parent_ip, parent_slot) */
	/*
	 * The first tracer, if any, has spoiled the arguments: make them again from the two records. This costs a
	 * lone function tracer four instructions a call; a branch around them would be one more site to patch.
	 */
	ldp	x2, x0, [x29]			/* x2 = foo's x29, x0 = ip + 4 */
	ldr	x1, [x2, #8]			/* parent_ip: read again, the first tracer may have replaced it */
	add	x2, x2, #8
	sub	x0, x0, #4
	.globl	ftrace_graph_call
ftrace_graph_call:
	nop					/* bl <graph tracer>(ip, parent_ip, parent_slot) */
	/* Back into foo, behind its BL, with its own x29. */
	ldp	x29, x30, [sp], #16
	ret
FUNC_END ftrace_caller
