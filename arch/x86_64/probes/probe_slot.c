/*
 * What executes an instruction in another place (probe_slot.h; SDM vol. 2).
 *
 * Most instructions are copied; where an operand is relative to rip, its displacement is made that of the new place.
 * Those that go elsewhere become other ones:
 *
 *	jmp target			jmp target
 *	jcc target, loop, jrcxz		the same, over a jump back: jcc 1f; jmp back; 1: jmp target
 *	call target			push $behind; jmp target
 *	call *operand			push $behind; jmp *operand
 *
 * A return, and a jump through an operand, are copied, and nothing follows. What lies in the topmost or lowest 2 GiB,
 * as the kernel does, fits into the sign-extended 32 bits of PUSH; other addresses are kept at the end of the slot.
 */
#include "probe_slot.h"

#include <lib/string.h>

#define OPCODE_JMP 0xe9

void slot_emit(struct slot_writer *w, const void *bytes, unsigned n)
{
	w->fits = w->fits && w->at + n <= w->constants;
	if (w->fits)
		memcpy(w->bytes + w->at, bytes, n);
	w->at += n;
}

void slot_emit_byte(struct slot_writer *w, u8 byte)
{
	slot_emit(w, &byte, 1);
}

/* Four bytes that the CPU extends by their sign. */
void slot_emit_word(struct slot_writer *w, unsigned long value)
{
	s32 word = value;

	w->fits = w->fits && (long)value == word;
	slot_emit(w, &word, 4);
}

/* A call or a jump, its opcode of one byte, or the end of one of two. */
void slot_emit_branch(struct slot_writer *w, u8 opcode, unsigned long target)
{
	slot_emit_byte(w, opcode);
	slot_emit_word(w, target - (w->base + w->at + 4));
}

/* A way out of the instruction. */
void slot_emit_way_out(struct slot_writer *w, unsigned long target)
{
	if (w->leave)
		w->leave(w);
	w->way_out = w->at;
	slot_emit_branch(w, OPCODE_JMP, target);
}

/* The instruction as it is, but for what is relative to rip. */
void slot_emit_copy(struct slot_writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr)
{
	u8 copy[MAX_INSN_SIZE];

	memcpy(copy, bytes, insn->length);
	if (insn->rip_relative) {
		s32 displacement;
		long moved;

		memcpy(&displacement, bytes + insn->displacement_at, 4);
		moved = displacement + addr - (w->base + w->at);
		displacement = moved;
		w->fits = w->fits && displacement == moved;
		memcpy(copy + insn->displacement_at, &displacement, 4);
	}
	slot_emit(w, copy, insn->length);
}

/* By the one-byte opcode map; group 5 (FF) is told apart by the middle of ModR/M. */
static enum insn_kind kind_of_map1(const struct insn *insn)
{
	unsigned extension = insn->modrm >> 3 & 7;

	if ((insn->opcode & 0xf0) == 0x70)
		return KIND_CONDITIONAL;
	if ((insn->opcode & 0xfc) == 0xe0)
		return KIND_LOOP;
	switch (insn->opcode) {
	case 0xe9:
	case 0xeb:
		return KIND_JUMP;
	case 0xe8:
		return KIND_CALL;
	case 0xc2:
	case 0xc3:
		return KIND_RETURN;
	case 0xff:
		if (extension == 3 || extension == 5)
			return KIND_FORBIDDEN;
		return extension == 2 ? KIND_CALL_OPERAND : extension == 4 ? KIND_JUMP_OPERAND : KIND_PLAIN;
	case 0x8e: /* mov to a segment register; 2: ss */
		return extension == 2 ? KIND_FORBIDDEN : KIND_PLAIN;
	case 0xc7: /* xbegin, which has a displacement */
		return insn->modrm == 0xf8 ? KIND_FORBIDDEN : KIND_PLAIN;
	case 0xca: /* far returns, int3, int, iret, int1, hlt */
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		return KIND_FORBIDDEN;
	default:
		return KIND_PLAIN;
	}
}

/* All others are plain: what they do does not depend on where they stand, but for operands relative to rip. */
enum insn_kind insn_kind(const struct insn *insn)
{
	if (insn->map == 1)
		return kind_of_map1(insn);
	if (insn->map != 2 || insn->vex)
		return KIND_PLAIN;
	if ((insn->opcode & 0xf0) == 0x80)
		return KIND_CONDITIONAL;
	switch (insn->opcode) {
	case 0x01: /* swapgs and others without an operand in memory */
		return insn->modrm >> 6 == 3 ? KIND_FORBIDDEN : KIND_PLAIN;
	case 0x05: /* syscall, sysret, ud2, sysenter, sysexit, ud0, ud1 */
	case 0x07:
	case 0x0b:
	case 0x34:
	case 0x35:
	case 0xb9:
	case 0xff:
		return KIND_FORBIDDEN;
	default:
		return KIND_PLAIN;
	}
}

/* Where a branch with a displacement leads. */
unsigned long insn_branch_target(const struct insn *insn, const u8 *bytes, unsigned long addr)
{
	long distance;

	if (insn->immediate_bytes == 1) {
		distance = bytes[insn->immediate_at];
		distance -= (distance & 0x80) << 1;
	} else {
		s32 word;

		memcpy(&word, bytes + insn->immediate_at, 4);
		distance = word;
	}
	return addr + insn->length + distance;
}

/* Is the operand in memory, at an address that begins with the stack pointer? Table 2-3: the base in the SIB byte. */
static bool base_is_rsp(const struct insn *insn, const u8 *bytes)
{
	return (insn->modrm & 7) == 4 && insn->modrm >> 6 != 3 && (bytes[insn->modrm_at + 1] & 7) == 4 &&
	       !(insn->rex & 1);
}

/* Is the stack pointer itself the operand? */
static bool operand_is_rsp(const struct insn *insn)
{
	return (insn->modrm & 0xc7) == 0xc4 && !(insn->rex & 1);
}

/*
 * The branch over a way out, to another one: jcc with four bytes of displacement. LOOP and JRCXZ have only one, and
 * keep their prefixes: 67 makes them look at ecx.
 */
static void emit_conditional(struct slot_writer *w, const struct insn *insn, const u8 *bytes, unsigned long behind,
			     unsigned long target)
{
	unsigned at, distance;

	if (insn_kind(insn) == KIND_LOOP) {
		slot_emit(w, bytes, insn->length);
	} else {
		slot_emit(w, (u8[]){0x0f, 0x80 | (insn->opcode & 15)}, 2);
		slot_emit_word(w, 0);
	}
	at = w->at;
	slot_emit_way_out(w, behind);
	distance = w->at - at;
	if (insn_kind(insn) == KIND_LOOP)
		w->bytes[at - 1] = distance;
	else
		memcpy(w->bytes + at - 4, &distance, 4);
	slot_emit_way_out(w, target);
}

/* A value that is not one of 32 bits with a sign is kept at the end of the slot: push constant(%rip). */
static void emit_push(struct slot_writer *w, unsigned long value)
{
	if ((long)value == (s32)value) {
		slot_emit_byte(w, 0x68);
		slot_emit_word(w, value);
		return;
	}
	w->constants -= sizeof(value);
	if (w->fits)
		memcpy(w->bytes + w->constants, &value, sizeof(value));
	slot_emit(w, (u8[]){0xff, 0x35}, 2);
	slot_emit_word(w, w->constants - (w->at + 4UL));
}

/*
 * call * as a push and jmp *. The push has moved the stack pointer by the time the operand is read, so an address that
 * begins with it gets a displacement that is larger by as much, and always of four bytes.
 */
static void emit_call_operand(struct slot_writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr)
{
	u8 jump[MAX_INSN_SIZE + 4];
	s32 displacement = 0;

	memcpy(jump, bytes, insn->length);
	jump[insn->modrm_at] ^= (0x2 ^ 0x4) << 3; /* call *, which is /2, becomes jmp *, /4 */
	emit_push(w, addr + insn->length);
	w->pushed = w->at;
	if (!base_is_rsp(insn, bytes)) {
		slot_emit_copy(w, insn, jump, addr);
		return;
	}
	if (insn->displacement_bytes == 1)
		displacement = (bytes[insn->displacement_at] ^ 0x80) - 0x80; /* its sign goes on */
	else if (insn->displacement_bytes)
		memcpy(&displacement, bytes + insn->displacement_at, sizeof(displacement));
	displacement += sizeof(u64);
	jump[insn->modrm_at] = (jump[insn->modrm_at] & 0x3f) | 0x80;
	memcpy(jump + insn->displacement_at, &displacement, sizeof(displacement));
	slot_emit(w, jump, insn->displacement_at + sizeof(displacement));
}

/* Each kind in its own way. A return, and a jump through an operand, leave nothing to do behind them. */
bool slot_emit_instruction(struct slot_writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr)
{
	unsigned long behind = addr + insn->length;
	enum insn_kind kind = insn_kind(insn);

	switch (kind) {
	case KIND_PLAIN:
		slot_emit_copy(w, insn, bytes, addr);
		slot_emit_way_out(w, behind);
		return true;
	case KIND_CONDITIONAL:
	case KIND_LOOP:
		emit_conditional(w, insn, bytes, behind, insn_branch_target(insn, bytes, addr));
		return true;
	case KIND_CALL:
		emit_push(w, behind);
		fallthrough;
	case KIND_JUMP:
		slot_emit_way_out(w, insn_branch_target(insn, bytes, addr));
		return true;
	case KIND_CALL_OPERAND:
	case KIND_JUMP_OPERAND:
	case KIND_RETURN:
		if (kind == KIND_CALL_OPERAND && operand_is_rsp(insn))
			return false;
		if (w->leave)
			w->leave(w);
		if (kind == KIND_CALL_OPERAND)
			emit_call_operand(w, insn, bytes, addr);
		else
			slot_emit_copy(w, insn, bytes, addr);
		return true;
	default:
		return false;
	}
}
