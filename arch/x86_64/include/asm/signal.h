/* Signal frames on the user stack. */
#pragma once

#include <lib/types.h>

struct ksignal;
struct pt_regs;

/*
 * Push the frame that Linux has on this machine and make regs enter the handler; `oldset` is what
 * rt_sigreturn restores. 0 or -EFAULT (nothing changed in regs). Thread context, interrupts on.
 */
int arch_setup_rt_frame(struct ksignal *ksig, u64 *oldset, struct pt_regs *regs);
/* Undo it: returns rax of the interrupted code. A frame that cannot be read or is not sane: SIGSEGV. */
long arch_rt_sigreturn(struct pt_regs *regs);
/* The code of the [sigpage], which exec maps at SIGPAGE (<asm/elf.h>): calls rt_sigreturn. */
const void *arch_signal_trampoline(size_t *len);
