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
 * probe_slot.c makes `code`. The kernel and its modules lie in the topmost 2 GiB, so a place of theirs fits into the
 * sign-extended 32 bits of PUSH and MOV, and each is in reach of a slot.
 *
 * A JUMP takes five bytes, which may be several instructions. They are all copied into the slot, if each of them is a
 * plain one, and if no other code comes to the middle of them: the function is decoded as a whole, and none of its
 * branches may lead there, not even a static one that is off. A function with a jump through an operand, which may have
 * a table, or with code that may fault on purpose, gets a breakpoint.
 *
 * NOT TO BE PROBED: what ends or begins an exception or a system call, UD2 (the report of a BUG goes by its address),
 * HLT (STI lets interrupts in behind the next instruction, which must be HLT), a load of SS, SWAPGS and its like.
 */
#include <arch/kprobes.h>
#include <arch/patch.h>
#include <asm/ptrace.h>
#include <kernel/extable.h>
#include <kernel/jump_label.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <trace/kprobes.h>

#include "../probe_slot.h"

#define OPCODE_CALL 0xe8
#define OPCODE_JMP  0xe9
#define OPCODE_INT3 0xcc
#define JUMP_SIZE   5

void kprobe_trampoline(void); /* kprobes_asm.S */
void kprobe_trampoline_after(void);

static void emit_call(struct slot_writer *w, void (*trampoline)(void))
{
	slot_emit(w, (u8[]){0x9c, 0x57, 0x48, 0xc7, 0xc7}, 5); /* pushfq; push %rdi; mov $, %rdi */
	slot_emit_word(w, w->base);
	slot_emit_branch(w, OPCODE_CALL, (unsigned long)trampoline);
	slot_emit(w, (u8[]){0x5f, 0x9d}, 2); /* pop %rdi; popfq */
}

/* Before each way out of a probe with a post_handler. */
static void call_after(struct slot_writer *w)
{
	emit_call(w, kprobe_trampoline_after);
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

/*
 * May other code of the function come to a place inside of [from, to), but not to `from`? A static branch whose key is
 * off looks like any nop, so the table of all of them is asked.
 */
static bool is_entered(unsigned long from, unsigned long to, unsigned long start, unsigned long end)
{
	u8 bytes[MAX_INSN_SIZE];
	struct insn insn;

	if (extable_touches(start, end) || jump_label_leads_into(from + 1, to))
		return true;
	for (unsigned long at = start; at < end; at += insn.length) {
		enum insn_kind kind;

		if (!decode_at(&insn, bytes, at, end))
			return true;
		kind = insn_kind(&insn);
		if (kind == KIND_JUMP_OPERAND)
			return true;
		if (kind == KIND_CONDITIONAL || kind == KIND_LOOP || kind == KIND_JUMP) {
			unsigned long target = insn_branch_target(&insn, bytes, at);

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
static unsigned emit_region(struct slot_writer *w, struct kprobe_code *code, unsigned long addr, unsigned long start,
			    unsigned long end)
{
	u8 bytes[MAX_INSN_SIZE];
	unsigned len = 0;
	struct insn insn;

	while (len < JUMP_SIZE) {
		if (!decode_at(&insn, bytes, addr + len, end) || insn_kind(&insn) != KIND_PLAIN ||
		    kprobe_place_changes(addr + len, insn.length))
			return 0;
		slot_emit_copy(w, &insn, bytes, addr + len);
		code->several = len > 0;
		len += insn.length;
	}
	if (is_entered(addr, addr + len, start, end))
		return 0;
	slot_emit_way_out(w, addr + len);
	return w->fits ? len : 0;
}

/* The slot up to the instruction's own code. What is not written later traps. */
static struct slot_writer begin_slot(struct kprobe_code *code)
{
	struct slot_writer w = {
		.bytes = code->bytes,
		.base = code->slot,
		.leave = code->post ? call_after : NULL,
		.at = 16,
		.constants = KPROBE_SLOT_SIZE,
		.fits = true,
	};

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
	struct slot_writer w;

	if (err)
		return err;
	if (code->jump) {
		w = begin_slot(code);
		code->len = emit_region(&w, code, code->addr, start, end);
		code->jump = code->len;
	}
	if (code->jump)
		return 0;
	w = begin_slot(code);
	if (!decode_at(&insn, bytes, code->addr, end) || !slot_emit_instruction(&w, &insn, bytes, code->addr) ||
	    !w.fits)
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
