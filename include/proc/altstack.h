/* Alternate signal stacks (sigaltstack), and what the signal frames of all machines have in common. */
#pragma once

#include <proc/signal.h>

/* As sigaltstack(2) passes it, and as a frame's ucontext has it. */
typedef struct user_stack {
	unsigned long ss_sp;
	int ss_flags, pad;
	size_t ss_size;
} stack_t;

/*
 * The upper end of a signal's frame: the end of the alternate stack when the handler wants it and it
 * is not in use, else the place `redzone` bytes below the interrupted stack pointer. Thread context.
 */
unsigned long sigframe_top(const struct ksignal *ksig, unsigned long sp, unsigned redzone);
/* May a frame begin at `frame`? Not when it was to lie on the alternate stack, or the handler runs there, and
 * it has run off it. */
bool sigframe_fits(const struct ksignal *ksig, unsigned long sp, unsigned long frame);
/* What a frame's uc_stack says: current's setting. */
struct user_stack save_altstack(void);
/*
 * rt_sigreturn, when the registers are restored already: the alternate stack as the frame has it. One that cannot be
 * set is left as it is, as on Linux. Thread context.
 */
void restore_altstack(const struct user_stack *stack);
