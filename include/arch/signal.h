/* Signal frames on the user stack, laid out as Linux has them on the machine (arch/<machine>/signal.c). */
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
/* The code of the page [sigpage], which exec maps at SIGPAGE (<asm/elf.h>); it calls rt_sigreturn. *len: its bytes. */
const void *arch_signal_trampoline(size_t *len);
