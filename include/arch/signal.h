/* Signal frames on the user stack, laid out as Linux has them on the machine (arch/<machine>/task/signal.c). */
#pragma once

#include <lib/types.h>

struct ksignal;
struct pt_regs;

/*
 * Push a frame and make regs enter the handler; `oldset` is the mask that rt_sigreturn restores. 0, or -EFAULT: the
 * stack cannot be written, and nothing has changed in regs. Thread context, interrupts on.
 */
int arch_setup_rt_frame(struct ksignal *ksig, u64 *oldset, struct pt_regs *regs);
/*
 * rt_sigreturn(2): undo that. Returns what the register of results held in the interrupted code. A frame that cannot be
 * read, or asks for more than user mode may have, is answered with SIGSEGV. Thread context.
 */
long arch_rt_sigreturn(struct pt_regs *regs);
/* AT_MINSIGSTKSZ: the room on its stack that a handler's frame may take, with alignment, bytes. Any context. */
unsigned long arch_min_sigstack(void);
