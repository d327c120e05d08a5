/*
 * What a slot must hold to do what an instruction does elsewhere (<arch/kprobes.h>; SDM vol. 2).
 *
 *	slot	owner, addr				two words of data
 *	entry	pushfq; push %rdi
 *		mov $slot, %rdi
 *		call kprobe_trampoline			(kprobes_asm.S)
 *		pop %rdi; popfq
 *	code	the instruction; jmp back
 *
 * Most instructions are copied; where an operand is relative to rip, its displacement is made that of the new place.
 * Those that go elsewhere become other ones:
 *
 *	jmp target			jmp target
 *	jcc target, loop, jrcxz		the same, over a jump back: jcc 1f; jmp back; 1: jmp target
 *	call target			push $behind; jmp target
 *	call *operand			push $behind; jmp *operand
 *
 * The kernel and its modules lie in the topmost 2 GiB, so a place of theirs fits into the sign-extended 32 bits of PUSH
 * and MOV, and each is in reach of a slot. A return, and a jump through an operand, are copied, and nothing follows.
 *
 * A JUMP takes five bytes, which may be several instructions. They are all copied into the slot, if each of them is a
 * plain one, and if no other code comes to the middle of them: the function is decoded as a whole, and none of its
 * branches may lead there. A function with a jump through an operand, which may have a table, or with code that may
 * fault on purpose, gets a breakpoint.
 *
 * NOT TO BE PROBED: what ends or begins an exception or a system call, UD2 (the report of a BUG goes by its address),
 * HLT (STI lets interrupts in behind the next instruction, which must be HLT), a load of SS, SWAPGS and its like.
 */
#include <arch/kprobes.h>
#include <arch/patch.h>
#include <asm/ptrace.h>
#include <kernel/extable.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <trace/kprobes.h>

#include "insn.h"

#define OPCODE_CALL 0xe8
#define OPCODE_JMP  0xe9
#define OPCODE_INT3 0xcc
#define JUMP_SIZE   5

void kprobe_trampoline(void); /* kprobes_asm.S */
void kprobe_trampoline_after(void);

/* The slot while it is filled. */
struct writer {
	struct kprobe_code *code;
	unsigned at;
	bool fits; /* all distances so far fit into 32 bits, and the slot is not full */
};

static void emit(struct writer *w, const void *bytes, unsigned n)
{
	w->fits = w->fits && w->at + n <= KPROBE_SLOT_SIZE;
	if (w->fits)
		memcpy(w->code->bytes + w->at, bytes, n);
	w->at += n;
}

static void emit_byte(struct writer *w, u8 byte)
{
	emit(w, &byte, 1);
}

/* Four bytes that the CPU extends by their sign. */
static void emit_word(struct writer *w, unsigned long value)
{
	s32 word = value;

	w->fits = w->fits && (long)value == word;
	emit(w, &word, 4);
}

/* A call or a jump, its opcode of one byte, or the end of one of two. */
static void emit_branch(struct writer *w, u8 opcode, unsigned long target)
{
	emit_byte(w, opcode);
	emit_word(w, target - (w->code->slot + w->at + 4));
}

static void emit_call(struct writer *w, void (*trampoline)(void))
{
	emit(w, (u8[]){0x9c, 0x57, 0x48, 0xc7, 0xc7}, 5); /* pushfq; push %rdi; mov $, %rdi */
	emit_word(w, w->code->slot);
	emit_branch(w, OPCODE_CALL, (unsigned long)trampoline);
	emit(w, (u8[]){0x5f, 0x9d}, 2); /* pop %rdi; popfq */
}

/* A way out of the instruction. */
static void emit_way_out(struct writer *w, unsigned long target)
{
	if (w->code->post)
		emit_call(w, kprobe_trampoline_after);
	emit_branch(w, OPCODE_JMP, target);
}

/* The instruction as it is, but for what is relative to rip. */
static void emit_copy(struct writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr)
{
	u8 copy[MAX_INSN_SIZE];

	memcpy(copy, bytes, insn->length);
	if (insn->rip_relative) {
		s32 displacement;
		long moved;

		memcpy(&displacement, bytes + insn->displacement_at, 4);
		moved = displacement + addr - (w->code->slot + w->at);
		displacement = moved;
		w->fits = w->fits && displacement == moved;
		memcpy(copy + insn->displacement_at, &displacement, 4);
	}
	emit(w, copy, insn->length);
}

enum kind {
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

/* By the one-byte opcode map; group 5 (FF) is told apart by the middle of ModR/M. */
static enum kind kind_of_map1(const struct insn *insn)
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
static enum kind kind_of(const struct insn *insn)
{
	if (insn->map == 1)
		return kind_of_map1(insn);
	if (insn->map != 2)
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
static unsigned long branch_target(const struct insn *insn, const u8 *bytes, unsigned long addr)
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

/* Is the stack pointer a part of the operand, or the operand? PUSH has changed it by then. */
static bool uses_rsp(const struct insn *insn)
{
	return (insn->modrm & 7) == 4 && !(insn->rex & 1);
}

/* The branch over a way out, to another one. `opcode`: of one byte, or two when it takes four bytes of displacement. */
static void emit_conditional(struct writer *w, const struct insn *insn, unsigned long behind, unsigned long target)
{
	unsigned at, distance;

	if (kind_of(insn) == KIND_LOOP) {
		emit(w, (u8[]){insn->opcode, 0}, 2);
	} else {
		emit(w, (u8[]){0x0f, 0x80 | (insn->opcode & 15)}, 2);
		emit_word(w, 0);
	}
	at = w->at;
	emit_way_out(w, behind);
	distance = w->at - at;
	if (kind_of(insn) == KIND_LOOP)
		w->code->bytes[at - 1] = distance;
	else
		memcpy(w->code->bytes + at - 4, &distance, 4);
	emit_way_out(w, target);
}

static void emit_push(struct writer *w, unsigned long value)
{
	emit_byte(w, 0x68);
	emit_word(w, value);
}

/* False: not to be probed. */
static bool emit_instruction(struct writer *w, const struct insn *insn, const u8 *bytes, unsigned long addr)
{
	unsigned long behind = addr + insn->length;
	enum kind kind = kind_of(insn);
	u8 jump[MAX_INSN_SIZE];

	switch (kind) {
	case KIND_PLAIN:
		emit_copy(w, insn, bytes, addr);
		emit_way_out(w, behind);
		return true;
	case KIND_CONDITIONAL:
	case KIND_LOOP:
		emit_conditional(w, insn, behind, branch_target(insn, bytes, addr));
		return true;
	case KIND_CALL:
		emit_push(w, behind);
		fallthrough;
	case KIND_JUMP:
		emit_way_out(w, branch_target(insn, bytes, addr));
		return true;
	case KIND_CALL_OPERAND:
	case KIND_JUMP_OPERAND:
	case KIND_RETURN:
		if (kind == KIND_CALL_OPERAND && uses_rsp(insn))
			return false;
		if (w->code->post)
			emit_call(w, kprobe_trampoline_after);
		memcpy(jump, bytes, insn->length);
		if (kind == KIND_CALL_OPERAND) {
			emit_push(w, behind);
			jump[insn->modrm_at] ^= (2 ^ 4) << 3; /* call * becomes jmp * */
		}
		emit_copy(w, insn, jump, addr);
		return true;
	default:
		return false;
	}
}

/* The instruction at addr as it is without probes. */
static bool decode_at(struct insn *insn, u8 bytes[MAX_INSN_SIZE], unsigned long addr, unsigned long end)
{
	unsigned size = min(end - addr, (unsigned long)MAX_INSN_SIZE);

	return addr < end && kprobe_read_text(addr, bytes, size) && insn_decode(insn, bytes, size);
}

/* 0: an instruction begins at addr; -EILSEQ: none does; -EINVAL: what stands before it cannot be decoded. */
static int check_boundary(unsigned long addr, unsigned long start, unsigned long end)
{
	u8 bytes[MAX_INSN_SIZE];
	struct insn insn;

	while (start < addr) {
		if (!decode_at(&insn, bytes, start, end))
			return -EINVAL;
		start += insn.length;
	}
	return start == addr ? 0 : -EILSEQ;
}

/* Is it a part of a function that gcc has put elsewhere? It comes back into the middle. */
static bool is_cold(unsigned long addr)
{
	char name[KSYM_NAME_LEN];

	return kallsyms_lookup(addr, NULL, NULL, name) && strstr(name, ".cold");
}

/* May other code of the function come to a place inside of [from, to), but not to `from`? */
static bool is_entered(unsigned long from, unsigned long to, unsigned long start, unsigned long end)
{
	u8 bytes[MAX_INSN_SIZE];
	struct insn insn;

	if (extable_touches(start, end))
		return true;
	for (unsigned long at = start; at < end; at += insn.length) {
		enum kind kind;

		if (!decode_at(&insn, bytes, at, end))
			return true;
		kind = kind_of(&insn);
		if (kind == KIND_JUMP_OPERAND)
			return true;
		if (kind == KIND_CONDITIONAL || kind == KIND_LOOP || kind == KIND_JUMP) {
			unsigned long target = branch_target(&insn, bytes, at);

			if ((target > from && target < to) || (target - start >= end - start && is_cold(target)))
				return true;
		}
	}
	return false;
}

/*
 * Plain instructions from addr on that have room for a jump: their bytes, or 0. They are copied into the slot. Sets
 * code->several.
 */
static unsigned emit_region(struct writer *w, unsigned long addr, unsigned long start, unsigned long end)
{
	u8 bytes[MAX_INSN_SIZE];
	unsigned len = 0;
	struct insn insn;

	while (len < JUMP_SIZE) {
		if (!decode_at(&insn, bytes, addr + len, end) || kind_of(&insn) != KIND_PLAIN ||
		    kprobe_place_changes(addr + len, insn.length))
			return 0;
		emit_copy(w, &insn, bytes, addr + len);
		w->code->several = len > 0;
		len += insn.length;
	}
	if (is_entered(addr, addr + len, start, end))
		return 0;
	emit_way_out(w, addr + len);
	return w->fits ? len : 0;
}

static struct writer begin_slot(struct kprobe_code *code)
{
	struct writer w = {.code = code, .at = 16, .fits = true};

	memset(code->bytes, OPCODE_INT3, sizeof(code->bytes));
	memcpy(code->bytes, &code->owner, 8);
	memcpy(code->bytes + 8, &code->addr, 8);
	code->entry = w.at;
	emit_call(&w, kprobe_trampoline);
	code->code = w.at;
	return w;
}

/* A jump first, if it may be one; else, or if it cannot be one, a breakpoint with its single instruction. */
int arch_kprobe_prepare(struct kprobe_code *code, unsigned long start, unsigned long end)
{
	int err = check_boundary(code->addr, start, end);
	u8 bytes[MAX_INSN_SIZE];
	struct insn insn;
	struct writer w;

	if (err)
		return err;
	if (code->jump) {
		w = begin_slot(code);
		code->len = emit_region(&w, code->addr, start, end);
		code->jump = code->len;
	}
	if (code->jump)
		return 0;
	w = begin_slot(code);
	if (!decode_at(&insn, bytes, code->addr, end) || !emit_instruction(&w, &insn, bytes, code->addr) || !w.fits)
		return -EINVAL;
	code->len = insn.length;
	return 0;
}

void arch_kprobe_write_break(unsigned long addr)
{
	arch_patch_copy(addr, (u8[]){OPCODE_INT3}, 1);
}

/* What stands behind the jump, up to len, is never executed: breakpoints show it if it is. */
void arch_kprobe_write_jump(unsigned long addr, unsigned long entry, unsigned len)
{
	u8 bytes[KPROBE_MAX_COPY];
	s32 distance = entry - (addr + JUMP_SIZE);

	memset(bytes, OPCODE_INT3, sizeof(bytes));
	bytes[0] = OPCODE_JMP;
	memcpy(bytes + 1, &distance, 4);
	arch_patch_copy(addr, bytes, len);
}

void arch_kprobe_restore(unsigned long addr, const void *original, unsigned len)
{
	arch_patch_copy(addr, original, len);
}
