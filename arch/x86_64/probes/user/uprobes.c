/*
 * Probes in programs (<arch/uprobes.h>). The breakpoint is INT3, whose trap comes behind it.
 *
 * NOT TO BE PROBED, as on Linux: system calls, INT3 and other interrupts, HLT, far returns; and what the decoder does
 * not know. What only the kernel may execute can be probed, and faults in the slot.
 */
#include <arch/uprobes.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/current.h>
#include <sched/task.h>

#include "../probe_slot.h"

#define OPCODE_INT3  0xcc
#define OPCODE_PUSHF 0x9c

const u8 arch_uprobe_break[UPROBE_BREAK_SIZE] = {OPCODE_INT3};

/* Whether a slot can be made does not depend on where it is, as long as it is near. */
int arch_uprobe_analyze(struct uprobe_insn *insn)
{
	struct uprobe_code code = {};
	struct insn decoded;

	if (!insn_decode(&decoded, insn->bytes, MAX_INSN_SIZE))
		return -ENOTSUPP;
	insn->len = decoded.length;
	return arch_uprobe_prepare(insn, &code, UPROBE_REACH * 4, UPROBE_REACH * 4) ? -ENOTSUPP : 0;
}

/*
 * The slot's jump back stands behind a plain instruction alone, which is where a trap can come that is reported after
 * an instruction.
 */
int arch_uprobe_prepare(const struct uprobe_insn *insn, struct uprobe_code *code, unsigned long addr,
			unsigned long slot)
{
	struct slot_writer w = {.bytes = code->bytes, .base = slot, .constants = UPROBE_SLOT_SIZE, .fits = true};
	struct insn decoded;

	memset(code, 0, sizeof(*code));
	if (!insn_decode(&decoded, insn->bytes, MAX_INSN_SIZE) ||
	    !slot_emit_instruction(&w, &decoded, insn->bytes, addr) || !w.fits)
		return -ERANGE;
	if (insn_kind(&decoded) == KIND_PLAIN)
		code->done = w.way_out;
	code->pushed = w.pushed;
	code->pushes_flags = decoded.map == 1 && decoded.opcode == OPCODE_PUSHF;
	return 0;
}

unsigned long arch_uretprobe_hijack(struct pt_regs *regs, unsigned long to)
{
	unsigned long __user *slot = (unsigned long __user *)regs->rsp;
	unsigned long old;

	return get_user(old, slot) || put_user(to, slot) ? -1UL : old;
}

unsigned long arch_uretprobe_entry_sp(const struct pt_regs *regs)
{
	return regs->rsp;
}

/* The return has taken the address from the stack. */
unsigned long arch_uretprobe_return_sp(const struct pt_regs *regs)
{
	return regs->rsp - sizeof(u64);
}

void arch_uprobe_undo_push(struct pt_regs *regs)
{
	regs->rsp += sizeof(u64);
}

/* PUSHFQ has stored RFLAGS with the trap flag, unless the program has set that itself. 66 PUSHF stores 16 bits. */
void arch_uprobe_hide_step(struct pt_regs *regs)
{
	u16 __user *slot = (u16 __user *)regs->rsp;
	u16 flags;

	if (READ_ONCE(current->thread_flags) & BIT(TIF_FORCED_TF) && !get_user(flags, slot))
		put_user((u16)(flags & ~X86_EFLAGS_TF), slot);
}
