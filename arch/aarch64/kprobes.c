/*
 * What a slot must hold to do what an instruction does elsewhere (<arch/kprobes.h>; Arm ARM C4.1, C6.2).
 *
 *	slot	owner, addr				two words of data
 *	entry	sub sp, sp, #PT_REGS_SIZE
 *		stp x0, x1, [sp]
 *		str x30, [sp, #S_LR]
 *		adr x0, slot
 *		bl  kprobe_trampoline			(kprobes_asm.S)
 *		ldr x30, [sp, #S_LR]
 *		add sp, sp, #PT_REGS_SIZE
 *	code	the instruction; b back
 *
 * Most instructions are copied as they are. Those that depend on their own address become other ones:
 *
 *	b target		b target
 *	b.cond, cbz, tbz	the same, over a branch back: b.cond +8; b back; b target
 *	bl target		ldr x30, =behind; b target
 *	blr xn			ldr x30, =behind; br xn
 *	adr, adrp		ldr xd, =value
 *	ldr xd, literal		ldr xd, =address; ldr xd, [xd]
 *
 * A return, and a branch to a register, are copied, and nothing follows. Constants stand at the end of the slot.
 *
 * NOT TO BE PROBED: an exception's end (ERET) and its generation (BRK, HVC, ...); what stands between an exclusive load
 * and its store, because the exception, or the stores of the trampoline, would clear the monitor, and the loop would
 * never end (B2.9.5); loads of vector registers from literals, which the kernel has none of.
 */
#include <arch/kprobes.h>
#include <arch/patch.h>
#include <asm/bug.h>
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <trace/kprobes.h>

#include "exception.h"

#define INSN_B	      0x14000000U
#define INSN_BL	      0x94000000U
#define INSN_BRK      (0xd4200000U | KPROBE_BRK_IMM << 5)
#define BRANCH_RANGE  (1UL << 27)
#define MAX_EXCLUSIVE 16 /* instructions from an exclusive load to its store; gcc's have 5 at most */
#define LR	      30

void kprobe_trampoline(void); /* kprobes_asm.S */
void kprobe_trampoline_after(void);

/* The slot while it is filled. */
struct writer {
	struct kprobe_code *code;
	unsigned at;	   /* next instruction */
	unsigned literals; /* where the constants begin */
	bool fits;	   /* all branches reach so far, and code and constants do not overlap */
};

static void emit(struct writer *w, u32 insn)
{
	w->fits = w->fits && w->at + 4 <= w->literals;
	if (w->fits)
		memcpy(w->code->bytes + w->at, &insn, 4);
	w->at += 4;
}

static void emit_branch(struct writer *w, u32 opcode, unsigned long target)
{
	unsigned long offset = target - (w->code->slot + w->at);

	w->fits = w->fits && offset + BRANCH_RANGE < 2 * BRANCH_RANGE;
	emit(w, opcode | ((offset >> 2) & 0x3ffffff));
}

/* ldr x<reg>, =value */
static void emit_constant(struct writer *w, unsigned reg, u64 value)
{
	w->literals -= 8;
	if (w->fits)
		memcpy(w->code->bytes + w->literals, &value, 8);
	emit(w, 0x58000000U | ((w->literals - w->at) >> 2) << 5 | reg);
}

/* Save what the trampoline needs, and call it; sp and x30 are as before behind it. */
static void emit_call(struct writer *w, void (*trampoline)(void))
{
	emit(w, 0xd10003ffU | sizeof(struct pt_regs) << 10);			    /* sub sp, sp, # */
	emit(w, 0xa90007e0U);							    /* stp x0, x1, [sp] */
	emit(w, 0xf90003feU | offsetof(struct pt_regs, regs[30]) / 8 << 10);	    /* str x30, [sp, #] */
	emit(w, 0x10000000U | ((-w->at >> 2) & 0x7ffff) << 5 | (-w->at & 3) << 29); /* adr x0, slot */
	emit_branch(w, INSN_BL, (unsigned long)trampoline);
	emit(w, 0xf94003feU | offsetof(struct pt_regs, regs[30]) / 8 << 10); /* ldr x30, [sp, #] */
	emit(w, 0x910003ffU | sizeof(struct pt_regs) << 10);		     /* add sp, sp, # */
}

/* A way out of the instruction. */
static void emit_way_out(struct writer *w, unsigned long target)
{
	if (w->code->post)
		emit_call(w, kprobe_trampoline_after);
	emit_branch(w, INSN_B, target);
}

static long field(u32 insn, unsigned low, unsigned n)
{
	return (long)((u64)insn << (64 - low - n)) >> (64 - n);
}

/* b.cond, cbz, cbnz, tbz, tbnz: `bits` of displacement from bit 5 on. */
static void emit_conditional(struct writer *w, u32 insn, unsigned bits, unsigned long addr)
{
	u32 mask = ((1U << bits) - 1) << 5;
	unsigned at = w->at, taken;

	emit(w, 0);
	emit_way_out(w, addr + 4);
	taken = w->at;
	emit_way_out(w, addr + field(insn, 5, bits) * 4);
	insn = (insn & ~mask) | ((taken - at) >> 2) << 5;
	memcpy(w->code->bytes + at, &insn, 4);
}

/* Where ADR and ADRP point to. */
static u64 page_relative(u32 insn, unsigned long addr)
{
	long imm = field(insn, 5, 19) * 4 | ((insn >> 29) & 3);

	return insn >> 31 ? (addr & ~0xfffUL) + imm * 4096 : addr + imm;
}

/* A load from a constant beside the code: ldr w, ldr x, ldrsw. False: of a vector register. A prefetch does nothing. */
static bool emit_load_literal(struct writer *w, u32 insn, unsigned long addr)
{
	static const u32 loads[] = {0xb9400000U, 0xf9400000U, 0xb9800000U}; /* [xd] */
	unsigned rd = insn & 31, kind = insn >> 30;

	if (insn & 0x04000000)
		return false;
	if (kind == 3)
		return true;
	emit_constant(w, rd, addr + field(insn, 5, 19) * 4);
	emit(w, loads[kind] | rd << 5 | rd);
	return true;
}

/* False: not to be probed. */
static bool emit_instruction(struct writer *w, u32 insn, unsigned long addr)
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
	if ((insn & 0xff000010) == 0x54000000 || (insn & 0x7e000000) == 0x34000000) {
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
		if (w->code->post)
			emit_call(w, kprobe_trampoline_after);
		if (call)
			emit_constant(w, LR, addr + 4);
		emit(w, call ? 0xd61f0000 | rn << 5 : insn);
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
		emit(w, insn);
	}
	emit_way_out(w, addr + 4);
	return true;
}

/* Load/store exclusive, C4.1.88.32. */
static bool is_exclusive(u32 insn, bool load)
{
	return (insn & 0x3f800000) == 0x08000000 && (insn & 0x00400000) == (load ? 0x00400000 : 0);
}

/* Is the monitor set when the instruction at addr is executed, or may it be? */
static bool is_monitored(unsigned long addr, unsigned long start)
{
	u32 insn;

	for (unsigned long at = addr - 4; at >= start && at >= addr - 4 * MAX_EXCLUSIVE; at -= 4) {
		if (!kprobe_read_text(at, &insn, 4) || is_exclusive(insn, false))
			return false;
		if (is_exclusive(insn, true))
			return true;
	}
	return false;
}

/* Constants are put from the end of the slot downwards, and the code must not come to them. */
int arch_kprobe_prepare(struct kprobe_code *code, unsigned long start, unsigned long end)
{
	struct writer w = {.code = code, .at = 16, .literals = KPROBE_SLOT_SIZE, .fits = true};
	unsigned long reach = code->slot - code->addr;
	u32 insn;

	if (code->addr & 3)
		return -EILSEQ;
	if (!kprobe_read_text(code->addr, &insn, 4) || is_monitored(code->addr, start))
		return -EINVAL;
	memset(code->bytes, 0, sizeof(code->bytes));
	memcpy(code->bytes, &code->owner, 8);
	memcpy(code->bytes + 8, &code->addr, 8);
	code->entry = w.at;
	emit_call(&w, kprobe_trampoline);
	code->code = w.at;
	if (!emit_instruction(&w, insn, code->addr) || !w.fits)
		return -EINVAL;
	code->len = 4;
	code->jump = code->jump && reach + BRANCH_RANGE < 2 * BRANCH_RANGE;
	return 0;
}

void arch_kprobe_write_break(unsigned long addr)
{
	arch_patch_write(addr, INSN_BRK, PATCH_WORD);
}

void arch_kprobe_write_jump(unsigned long addr, unsigned long entry, unsigned len)
{
	arch_patch_write(addr, entry, PATCH_JUMP);
}

void arch_kprobe_restore(unsigned long addr, const void *original, unsigned len)
{
	arch_patch_copy(addr, original, len);
}
