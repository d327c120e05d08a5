/*
 * Stepping through kernel code by the trap flag (SDM vol. 3, 18.3.1.4): while RFLAGS.TF is set, #DB follows each
 * instruction, with DR6.BS. The flag belongs to the flags, not to the CPU, and follows them:
 *
 * - Interrupts, exceptions and SYSCALL clear it. While a CPU is stepped its IDT and its LSTAR lead to step_stubs and
 *   step_SYSCALL_64 (entry.S), which set it again. In the flags that were pushed it is cleared at the first step, so
 *   that it cannot come back when stepping has ended; the step behind IRET sets it.
 * - PUSHF stores it and POPF loads it. Behind a PUSHF it is cleared in the word on the stack, and before a POPF it is
 *   set there: so no saved flags have it.
 * - IRET and SYSRET to user mode are not stepped: #DB would come in the program.
 * - STI; HLT is not stepped in idle: #DB between the two would let an interrupt in, and the CPU would sleep after it.
 *   The interrupt that ends the HLT is stepped again (step_stubs), so is what follows when an NMI has ended it.
 *
 * Not stepped are the handlers of #DB, NMI, #MC and #DF: their gates are the usual ones. Stepped, but without being
 * looked at, is .noinstr.text: a CPU waits there while text changes, so nothing else may be called.
 *
 * There is no branch step (DEBUGCTL.BTF) in QEMU's TCG; with it there would be a #DB only behind each branch.
 */
#include "../single_step.h"

#include <asm/debugreg.h>
#include <asm/page.h>
#include <kernel/percpu.h>
#include <lib/errno.h>

#include "../exception.h"

extern const char _stext[], _etext[]; /* linker.ld */
/* entry.S: where exceptions begin. Not functions of C. */
extern const char interrupt_entry[], exception_entry[];

/* Prefixes that a branch may have behind it: REX, operand size, REP (bnd, notrack), segments (hints). */
static notrace bool is_prefix(u8 byte)
{
	return (byte & 0xf0) == 0x40 || (byte & 0xe7) == 0x26 || (byte >= 0x64 && byte <= 0x67) || byte == 0xf2 ||
	       byte == 0xf3;
}

#define STI 0xfb

/*
 * What the instruction at `pc` is, and for one that may go on behind itself, where that is (SDM vol. 2, appendix A):
 * Jcc with a byte or four, LOOP and JRCXZ; CALL, JMP, RET, IRET, and CALL and JMP through a register or memory. STI
 * holds the step back as it does interrupts: the step is that of the instruction behind it.
 */
static notrace void look_at(struct stepping *s, u64 pc)
{
	const u8 *insn = (const u8 *)pc;

	if (*insn == STI)
		insn = (const u8 *)++pc;
	s->pc = pc;
	s->kind = INSN_OTHER;
	while (is_prefix(*insn))
		insn++;
	if ((insn[0] & 0xf0) == 0x70 || (insn[0] & 0xfc) == 0xe0) {
		s->kind = INSN_CONDITIONAL;
		s->next = (u64)insn + 2;
	} else if (insn[0] == 0x0f && (insn[1] & 0xf0) == 0x80) {
		s->kind = INSN_CONDITIONAL;
		s->next = (u64)insn + 6;
	} else if (insn[0] == 0xe8 || insn[0] == 0xe9 || insn[0] == 0xeb || (insn[0] & 0xf6) == 0xc2 ||
		   insn[0] == 0xcf) {
		s->kind = INSN_JUMP;
	} else if (insn[0] == 0xff) {
		unsigned extension = insn[1] >> 3 & 7;

		s->kind = extension >= 2 && extension <= 5 ? INSN_JUMP : INSN_OTHER;
	}
}

/* At its own place it has not been executed yet: a CPU may step behind STI after all. */
static notrace bool is_taken(const struct stepping *s, u64 to)
{
	if (to == s->pc)
		return false;
	return s->kind == INSN_JUMP || (s->kind == INSN_CONDITIONAL && to != s->next);
}

/* The branch from `from` to `to`, or 0; whether to go on is up to the tracer. */
static notrace void tell(struct stepping *s, struct pt_regs *regs, u64 from, u64 to)
{
	if (s->fn && !s->fn(regs, from, to))
		s->fn = NULL;
}

/*
 * The first step of an interrupt or exception: at rsp there is what the CPU has pushed. When the exception came in
 * place of a step, the instruction before has been executed all the same.
 */
static notrace void exception_entered(struct stepping *s, struct pt_regs *regs)
{
	struct pushed {
		u64 vector, error_code, rip, cs, rflags;
	} *pushed = (struct pushed *)regs->rsp;

	if (!(pushed->cs & 3)) {
		pushed->rflags &= ~X86_EFLAGS_TF;
		if (is_taken(s, pushed->rip))
			tell(s, regs, s->pc, pushed->rip);
	}
	tell(s, regs, pushed->rip, regs->rip);
}

/* Kernel text, so that it can be read: what a wild branch leads to may not be there. */
static notrace bool is_text(u64 pc)
{
	return (pc >= (u64)_stext && pc < (u64)_etext) || (pc >= MODULES_VADDR && pc < MODULES_END);
}

/* Look at the instruction that comes next, and have it stepped, if it may be. */
static notrace void prepare(struct stepping *s, struct pt_regs *regs)
{
	if (regs->rip == step_places.iret || regs->rip == step_places.sysret || regs->rip == idle_hlt[0] - STI_LENGTH) {
		s->kind = INSN_UNKNOWN;
		return;
	}
	look_at(s, regs->rip);
	step_flags_word(s, regs);
	regs->rflags |= X86_EFLAGS_TF;
}

/* This CPU's registers as they were before, but for TF, which the step after this clears. */
static notrace void stop_stepping(struct stepping *s)
{
	s->fn = NULL;
	cpu_set_entries(false);
}

/*
 * One instruction was executed. If the CPU entered the kernel meanwhile, by an exception or SYSCALL, that is told as a
 * jump of its own; otherwise the instruction itself, with its place if it was a branch that was taken. Then the next
 * one is prepared, as long as the user wants more and it lies in the kernel's text.
 */
notrace bool single_step_trap(struct pt_regs *regs)
{
	struct stepping *s = this_cpu_ptr(&stepping);

	regs->rflags &= ~X86_EFLAGS_TF;
	step_pushed_word(s, regs);
	if (!s->fn)
		return s->ending;
	if (regs->rip == (u64)interrupt_entry || regs->rip == (u64)exception_entry)
		exception_entered(s, regs);
	else if (regs->rip == step_places.syscall)
		tell(s, regs, regs->rcx, (u64)entry_SYSCALL_64);
	else
		tell(s, regs, is_taken(s, regs->rip) ? s->pc : 0, regs->rip);
	if (s->fn && is_text(regs->rip))
		prepare(s, regs);
	else
		stop_stepping(s);
	return true;
}

/*
 * The step comes behind the instruction that follows POPF. A CPU with breakpoints is not stepped: under QEMU 7.2 an
 * access that one of them reports never comes to its end while TF is set.
 */
int arch_single_step_start(single_step_fn fn)
{
	struct stepping *s = this_cpu_ptr(&stepping);

	if (s->fn || read_dr(7) != DR7_RESET)
		return -EBUSY;
	*s = (struct stepping){.fn = fn};
	cpu_set_entries(true);
	__asm__ volatile("pushfq\n\t"
			 "orl %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "nop"
			 :
			 : "i"(X86_EFLAGS_TF)
			 : "memory", "cc");
	return 0;
}

/* TF is still set, if this code is being stepped: the next #DB clears it. */
bool arch_single_step_stop(void)
{
	struct stepping *s = this_cpu_ptr(&stepping);

	if (!s->fn)
		return false;
	s->ending = true;
	barrier();
	stop_stepping(s);
	__asm__ volatile("nop" : : : "memory");
	s->ending = false;
	return true;
}
