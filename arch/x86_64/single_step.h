/* What single_step.c shares with the handlers of #DB and NMI. All of it on this CPU, in these handlers. */
#pragma once

#include <arch/single_step.h>
#include <asm/ptrace.h>
#include <kernel/percpu.h>

#include "exception.h"

enum insn_kind {
	INSN_UNKNOWN, /* where the CPU comes from is not known, so the next step is no branch */
	INSN_OTHER,
	INSN_CONDITIONAL,
	INSN_JUMP, /* a branch that is always taken */
};
/* A CPU that is stepped through. [its CPU; in the handler, or with interrupts off while fn is NULL] */
struct stepping {
	single_step_fn fn; /* NULL: it is not */
	u64 pc, next;	   /* the instruction that is executed next, and what follows a conditional branch */
	enum insn_kind kind;
	bool pushf;  /* it is PUSHF */
	bool ending; /* arch_single_step_stop() is at work */
};
DECLARE_PER_CPU(struct stepping, stepping);

/* entry.S: instructions that single_step.c knows by their address. */
extern const struct {
	u64 iret, sysret; /* back to user mode */
	u64 syscall;	  /* the first instruction of SYSCALL that is stepped */
} step_places;

#define PUSHF	   0x9c
#define POPF	   0x9d
#define STI_LENGTH 1

extern const char __noinstr_text_start[], __noinstr_text_end[]; /* linker.ld */

/* A step of the kernel, or of a user of RFLAGS.TF that is not there. False: nobody asked for it. */
bool single_step_trap(struct pt_regs *regs);

/* Behind a PUSHF: no saved flags may have TF. */
static __always_inline void step_pushed_word(struct stepping *s, struct pt_regs *regs)
{
	if (s->pushf)
		*(u64 *)regs->rsp &= ~X86_EFLAGS_TF;
	s->pushf = false;
}

/* Before the instruction at rip: POPF is to leave TF set. */
static __always_inline void step_flags_word(struct stepping *s, struct pt_regs *regs)
{
	u8 insn = *(const u8 *)regs->rip;

	s->pushf = insn == PUSHF;
	if (insn == POPF)
		*(u64 *)regs->rsp |= X86_EFLAGS_TF;
}

/*
 * A step in .noinstr.text, where this CPU may be parked while text changes: nothing may be called, and the tracer is
 * not told. HLT would sleep through what came between STI and here, so it is left out; the loop looks again. False:
 * elsewhere.
 */
static __always_inline bool single_step_parked(struct pt_regs *regs)
{
	struct stepping *s = this_cpu_ptr(&stepping);

	if (regs->rip < (u64)__noinstr_text_start || regs->rip >= (u64)__noinstr_text_end || !s->fn)
		return false;
	if (regs->rip == parked_hlt[0])
		regs->rip = parked_hlt[1];
	s->kind = INSN_UNKNOWN;
	step_pushed_word(s, regs);
	step_flags_word(s, regs);
	return true;
}

/* An NMI has ended the HLT of idle, before which TF was cleared: the CPU is stepped again. */
static __always_inline void single_step_after_nmi(struct pt_regs *regs)
{
	if (this_cpu(stepping).fn && regs->rip == idle_hlt[1])
		regs->rflags |= X86_EFLAGS_TF;
}
