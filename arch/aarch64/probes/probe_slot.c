/*
 * What executes an instruction in another place (probe_slot.h; Arm ARM C4.1, C6.2).
 *
 * Most instructions are copied as they are. Those that depend on their own address become other ones:
 *
 *	b target		b target
 *	b.cond, bc.cond, cbz, tbz	the same, over a branch back: b.cond +8; b back; b target
 *	bl target		ldr x30, =behind; b target
 *	blr xn			ldr x30, =behind; br xn
 *	adr, adrp		ldr xd, =value
 *	ldr xd, literal		ldr xd, =address; ldr xd, [xd]
 *
 * A return, and a branch to a register, are copied, and nothing follows. Constants stand at the end of the slot.
 */
#include "probe_slot.h"

#include <lib/string.h>

#define INSN_B	     0x14000000U
#define INSN_BL	     0x94000000U
#define BRANCH_RANGE (1UL << 27)
#define LR	     30

void slot_emit(struct slot_writer *w, u32 insn)
{
	w->fits = w->fits && w->at + 4 <= w->literals;
	if (w->fits)
		memcpy(w->bytes + w->at, &insn, 4);
	w->at += 4;
}

void slot_emit_branch(struct slot_writer *w, u32 opcode, unsigned long target)
{
	unsigned long offset = target - (w->base + w->at);

	w->fits = w->fits && offset + BRANCH_RANGE < 2 * BRANCH_RANGE;
	slot_emit(w, opcode | ((offset >> 2) & 0x3ffffff));
}

/* ldr x<reg>, =value */
static void emit_constant(struct slot_writer *w, unsigned reg, u64 value)
{
	w->literals -= 8;
	if (w->fits)
		memcpy(w->bytes + w->literals, &value, 8);
	slot_emit(w, 0x58000000U | ((w->literals - w->at) >> 2) << 5 | reg);
}

/* A way out of the instruction. */
static void emit_way_out(struct slot_writer *w, unsigned long target)
{
	if (w->leave)
		w->leave(w);
	slot_emit_branch(w, INSN_B, target);
}

static long field(u32 insn, unsigned low, unsigned n)
{
	return (long)((u64)insn << (64 - low - n)) >> (64 - n);
}

/* b.cond, bc.cond, cbz, cbnz, tbz, tbnz: `bits` of displacement from bit 5 on. */
static void emit_conditional(struct slot_writer *w, u32 insn, unsigned bits, unsigned long addr)
{
	u32 mask = ((1U << bits) - 1) << 5;
	unsigned at = w->at, taken;

	slot_emit(w, 0);
	emit_way_out(w, addr + 4);
	taken = w->at;
	emit_way_out(w, addr + field(insn, 5, bits) * 4);
	insn = (insn & ~mask) | ((taken - at) >> 2) << 5;
	memcpy(w->bytes + at, &insn, 4);
}

/* Where ADR and ADRP point to. */
static u64 page_relative(u32 insn, unsigned long addr)
{
	long imm = field(insn, 5, 19) * 4 | ((insn >> 29) & 3);

	return insn >> 31 ? (addr & ~0xfffUL) + imm * 4096 : addr + imm;
}

/* A load from a constant beside the code: ldr w, ldr x, ldrsw. False: of a vector register. A prefetch does nothing. */
static bool emit_load_literal(struct slot_writer *w, u32 insn, unsigned long addr)
{
	static const u32 loads[] = {0xb9400000U, 0xf9400000U, 0xb9800000U}; /* [xd] */
	unsigned rd = insn & 31, kind = insn >> 30;

	if (insn & 0x04000000)
		return false;
	if (kind == 3)
		return true;
	emit_constant(w, rd, addr + field(insn, 5, 19) * 4);
	slot_emit(w, loads[kind] | rd << 5 | rd);
	return true;
}

/* By the classes of C4.1. Branches to registers, and returns, leave nothing to do behind them. */
bool slot_emit_instruction(struct slot_writer *w, u32 insn, unsigned long addr)
{
	unsigned rn = (insn >> 5) & 31;

	if ((insn & 0xfc000000) == INSN_B) {
		emit_way_out(w, addr + field(insn, 0, 26) * 4);
		return true;
	}
	if ((insn & 0xfc000000) == INSN_BL) {
		emit_constant(w, LR, addr + 4);
		emit_way_out(w, addr + field(insn, 0, 26) * 4);
		return true;
	}
	if ((insn & 0xff000000) == 0x54000000 || (insn & 0x7e000000) == 0x34000000) {
		emit_conditional(w, insn, 19, addr);
		return true;
	}
	if ((insn & 0x7e000000) == 0x36000000) {
		emit_conditional(w, insn, 14, addr);
		return true;
	}
	if ((insn & 0xfe000000) == 0xd6000000) { /* branches to registers */
		bool call = (insn & 0xfffffc1f) == 0xd63f0000;

		if ((insn & 0xff9ffc1f) != 0xd61f0000 || (call && rn == LR))
			return false; /* eret, drps, with authentication */
		if (w->leave)
			w->leave(w);
		if (call)
			emit_constant(w, LR, addr + 4);
		slot_emit(w, call ? 0xd61f0000 | rn << 5 : insn);
		return true;
	}
	if ((insn & 0xff000000) == 0xd4000000)
		return false; /* svc, hvc, smc, brk, hlt */
	if ((insn & 0x1f000000) == 0x10000000) {
		emit_constant(w, insn & 31, page_relative(insn, addr));
	} else if ((insn & 0x3b000000) == 0x18000000) {
		if (!emit_load_literal(w, insn, addr))
			return false;
	} else {
		slot_emit(w, insn);
	}
	emit_way_out(w, addr + 4);
	return true;
}
