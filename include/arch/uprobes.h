/*
 * Probes in programs, as far as they depend on the machine (arch/<machine>/probes). A probed place has a breakpoint
 * instruction. The program then goes on in a slot, some memory of its own, which does what the original instruction
 * did and goes on where that would (arch/<machine>/probes/probe_slot.c). Nothing here takes a lock.
 */
#pragma once

#include <asm/uprobes.h> /* UPROBE_BREAK_SIZE, UPROBE_BREAK_PC, UPROBE_ALIGN, UPROBE_REACH, UPROBE_BEFORE */
#include <lib/types.h>

#define UPROBE_SLOT_SIZE 32u
#define UPROBE_MAX_INSN	 16u /* bytes that are read from the file for one instruction */

struct pt_regs;

/* The instruction, and the text around it. */
struct uprobe_insn {
	u8 before[UPROBE_BEFORE]; /* what stands before it in the file; zeros where the file begins */
	u8 bytes[UPROBE_MAX_INSN];
	u8 len; /* set by arch_uprobe_analyze() */
};

/* A slot's contents, and where in it the program is. */
struct uprobe_code {
	u8 bytes[UPROBE_SLOT_SIZE] __aligned(8);
	u8 done;   /* offset at which the instruction is done and nothing but a jump behind it is left; 0: no such */
	u8 pushed; /* offset at which a return address is pushed, but the instruction may still fault; 0: no such */
	bool pushes_flags; /* it stores the flags on the stack */
};

/* The breakpoint, of UPROBE_BREAK_SIZE bytes. */
extern const u8 arch_uprobe_break[UPROBE_BREAK_SIZE];

/* May it be probed? Sets len. 0; -EINVAL or -ENOTSUPP, as on Linux's machine: it may not. */
int arch_uprobe_analyze(struct uprobe_insn *insn);
/* What a slot at `slot` must hold for the instruction at addr. 0; -ERANGE: it is too far away. */
int arch_uprobe_prepare(const struct uprobe_insn *insn, struct uprobe_code *code, unsigned long addr,
			unsigned long slot);

/*
 * At the first instruction of a function: have it return to `to`. Returns where it would have returned, which may be 0,
 * or -1: that cannot be read or written, and nothing was changed. Thread context; may fault.
 */
unsigned long arch_uretprobe_hijack(struct pt_regs *regs, unsigned long to);
/* The stack pointer at the first instruction of a function: there, and when it has returned. The same number. */
unsigned long arch_uretprobe_entry_sp(const struct pt_regs *regs);
unsigned long arch_uretprobe_return_sp(const struct pt_regs *regs);
/* The instruction at the slot's `pushed` has faulted: take back the push. */
void arch_uprobe_undo_push(struct pt_regs *regs);
/* A slot's instruction with pushes_flags was stepped: the stored flags must not tell of that. May fault. */
void arch_uprobe_hide_step(struct pt_regs *regs);
