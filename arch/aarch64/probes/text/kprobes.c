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
 * probe_slot.c makes `code`, with constants at the end of the slot.
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

#include "../exclusive.h"
#include "../probe_slot.h"

#define INSN_BL	     0x94000000U
#define INSN_BRK     (0xd4200000U | KPROBE_BRK_IMM << 5)
#define BRANCH_RANGE (1UL << 27)

void kprobe_trampoline(void); /* kprobes_asm.S */
void kprobe_trampoline_after(void);

/* Save what the trampoline needs, and call it; sp and x30 are as before behind it. */
static void emit_call(struct slot_writer *w, void (*trampoline)(void))
{
	slot_emit(w, 0xd10003ffU | sizeof(struct pt_regs) << 10);			 /* sub sp, sp, # */
	slot_emit(w, 0xa90007e0U);							 /* stp x0, x1, [sp] */
	slot_emit(w, 0xf90003feU | offsetof(struct pt_regs, regs[30]) / 8 << 10);	 /* str x30, [sp, #] */
	slot_emit(w, 0x10000000U | ((-w->at >> 2) & 0x7ffff) << 5 | (-w->at & 3) << 29); /* adr x0, slot */
	slot_emit_branch(w, INSN_BL, (unsigned long)trampoline);
	slot_emit(w, 0xf94003feU | offsetof(struct pt_regs, regs[30]) / 8 << 10); /* ldr x30, [sp, #] */
	slot_emit(w, 0x910003ffU | sizeof(struct pt_regs) << 10);		  /* add sp, sp, # */
}

/* Before each way out of a probe with a post_handler. */
static void call_after(struct slot_writer *w)
{
	emit_call(w, kprobe_trampoline_after);
}

static bool read_insn(unsigned long addr, u32 *insn, void *unused)
{
	return kprobe_read_text(addr, insn, 4);
}

/* Constants are put from the end of the slot downwards, and the code must not come to them. */
int arch_kprobe_prepare(struct kprobe_code *code, unsigned long start, unsigned long end)
{
	struct slot_writer w = {
		.bytes = code->bytes,
		.base = code->slot,
		.leave = code->post ? call_after : NULL,
		.at = 16,
		.literals = KPROBE_SLOT_SIZE,
		.fits = true,
	};
	unsigned long reach = code->slot - code->addr;
	u32 insn;

	if (code->addr & 3)
		return -EILSEQ;
	if (!kprobe_read_text(code->addr, &insn, 4) || monitor_may_be_set(code->addr, start, read_insn, NULL))
		return -EINVAL;
	memset(code->bytes, 0, sizeof(code->bytes));
	memcpy(code->bytes, &code->owner, 8);
	memcpy(code->bytes + 8, &code->addr, 8);
	code->entry = w.at;
	emit_call(&w, kprobe_trampoline);
	code->code = w.at;
	if (!slot_emit_instruction(&w, insn, code->addr) || !w.fits)
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
