/*
 * Code that executes an instruction in another place, for kprobes (kprobes.c) and uprobes (uprobes.c). It goes on where
 * the instruction would (arch/x86_64/probes/probe_slot.c).
 */
#pragma once

#include "insn.h"

enum insn_kind {
	KIND_PLAIN,
	KIND_CONDITIONAL, /* jcc */
	KIND_LOOP,	  /* loop, jrcxz: only with a byte of displacement */
	KIND_JUMP,
	KIND_CALL,
	KIND_JUMP_OPERAND,
	KIND_CALL_OPERAND,
	KIND_RETURN,
	KIND_FORBIDDEN,
};

/* A slot while it is filled. */
struct slot_writer {
	u8 *bytes;			      /* what it will hold */
	unsigned long base;		      /* where that is executed */
	void (*leave)(struct slot_writer *w); /* emits what comes before each way out; NULL: nothing does */
	unsigned at;			      /* next byte */
	unsigned constants; /* where they begin: the end of the slot, from which they grow downwards */
	unsigned way_out;   /* the last jump to what follows, or to where the instruction leads */
	unsigned pushed;    /* a call through an operand: where the jump is, behind the push; else 0 */
	bool fits;	    /* all distances so far fit into 32 bits, and the slot is not full */
};

/* What the instruction does with rip. What is relative to rip, and copied all the same, is plain. */
enum insn_kind insn_kind(const struct insn *insn);
/* Where a branch with a displacement leads, that stands at addr. */
unsigned long insn_branch_target(const struct insn *insn, const u8 *bytes, unsigned long addr);

void slot_emit(struct slot_writer *w, const void *bytes, unsigned n);
void slot_emit_byte(struct slot_writer *w, u8 byte);
/* Four bytes that the CPU extends by their sign. */
void slot_emit_word(struct slot_writer *w, unsigned long value);
/* A call or a jump, its opcode of one byte, or the end of one of two. */
void slot_emit_branch(struct slot_writer *w, u8 opcode, unsigned long target);
void slot_emit_way_out(struct slot_writer *w, unsigned long target);
/* The instruction as it is, but for what is relative to rip. */
void slot_emit_copy(struct slot_writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr);
/* What does what the instruction does at `addr`. False: it may not be executed elsewhere. */
bool slot_emit_instruction(struct slot_writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr);
