/*
 * Probes in programs (<arch/uprobes.h>). The breakpoint is BRK #5, as on Linux, so that a program's or a debugger's
 * BRK #0 is told from it.
 *
 * NOT TO BE PROBED: exceptions (SVC, BRK, ...), loads of vector registers from literals, what stands between an
 * exclusive load and its store (exclusive.h); the first two as on Linux.
 */
#include <arch/uprobes.h>
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "../exclusive.h"
#include "../probe_slot.h"

#define LR 30

/* brk #5, as it lies in memory. */
const u8 arch_uprobe_break[UPROBE_BREAK_SIZE] = {UPROBE_BRK_IMM << 5 & 0xff, UPROBE_BRK_IMM << 5 >> 8, 0x20, 0xd4};

static u32 insn_word(const struct uprobe_insn *insn)
{
	u32 word;

	memcpy(&word, insn->bytes, sizeof(word));
	return word;
}

/* Addresses are offsets behind the start of `before`. */
static bool uprobe_read_before(unsigned long at, u32 *word, void *arg)
{
	const struct uprobe_insn *insn = arg;

	memcpy(word, insn->before + at, sizeof(*word));
	return true;
}

/* Whether a slot can be made does not depend on where it is, as long as it is near. */
int arch_uprobe_analyze(struct uprobe_insn *insn)
{
	struct uprobe_code code = {};

	insn->len = 4;
	if (monitor_may_be_set(UPROBE_BEFORE, 4, uprobe_read_before, insn))
		return -EINVAL;
	return arch_uprobe_prepare(insn, &code, UPROBE_REACH * 2, UPROBE_REACH * 2) ? -EINVAL : 0;
}

int arch_uprobe_prepare(const struct uprobe_insn *insn, struct uprobe_code *code, unsigned long addr,
			unsigned long slot)
{
	struct slot_writer w = {.bytes = code->bytes, .base = slot, .literals = UPROBE_SLOT_SIZE, .fits = true};

	memset(code, 0, sizeof(*code));
	if (!slot_emit_instruction(&w, insn_word(insn), addr) || !w.fits)
		return -ERANGE;
	return 0;
}

unsigned long arch_uretprobe_hijack(struct pt_regs *regs, unsigned long to)
{
	unsigned long old = regs->regs[LR];

	regs->regs[LR] = to;
	return old;
}

/* A call stores nothing, so the stack pointer is the same before it, at the function's start and behind it. */
unsigned long arch_uretprobe_entry_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

unsigned long arch_uretprobe_return_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

/* Neither pushes. */
void arch_uprobe_undo_push(struct pt_regs *regs)
{
}

void arch_uprobe_hide_step(struct pt_regs *regs)
{
}
