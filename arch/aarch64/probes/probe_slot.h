/*
 * Code that executes an instruction in another place, for kprobes (kprobes.c) and uprobes (uprobes.c). It goes on where
 * the instruction would (arch/aarch64/probes/probe_slot.c).
 */
#pragma once

#include <lib/types.h>

/* A slot while it is filled. */
struct slot_writer {
	u8 *bytes;			      /* what it will hold */
	unsigned long base;		      /* where that is executed */
	void (*leave)(struct slot_writer *w); /* emits what comes before each way out; NULL: nothing does */
	unsigned at;			      /* next instruction */
	unsigned literals;		      /* where the constants begin, which grow downwards from the end */
	bool fits;			      /* all branches reach so far, and code and constants do not overlap */
};

void slot_emit(struct slot_writer *w, u32 insn);
void slot_emit_branch(struct slot_writer *w, u32 opcode, unsigned long target);
/* What does what `insn` does at `addr`. False: it may not be executed elsewhere. */
bool slot_emit_instruction(struct slot_writer *w, u32 insn, unsigned long addr);
