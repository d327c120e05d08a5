/*
 * Stepping kernel code by software step (Arm ARM D2.12): MDSCR_EL1.SS is set, and SPSR_EL1.SS for the return. The one
 * instruction is executed, and the step exception follows.
 *
 * An exclusive load sets the CPU's monitor, and every exception return clears it (B2.9.5). So a step between an
 * exclusive load and its store makes the store fail, the loop begins again, and would be stepped again, for ever.
 * Such a loop is executed as a whole: the two kept breakpoints are set behind it, and it runs with all else silent.
 * For that the code is read: from the exclusive load on to its store, and the branches in between. When the exception
 * came at the store (its address is watched for writes only), the monitor is lost already, so the loop is begun again
 * from its load: what gcc puts between the two are computations from what was loaded.
 *
 * The loop may also fail because another CPU has written: it then goes round, with breakpoints still silent. So an
 * atomic operation is one access, however often it had to try, as it is on x86_64.
 */
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <mm/uaccess.h>

#include "debug_regs.h"

#define MAX_LOOP 16 /* instructions from the load to the branch back; gcc's have 5 at most */

/* The step of a CPU. [its CPU, debug exceptions masked] */
struct step {
	bool active;
	bool whole;	  /* an exclusive loop runs to the kept breakpoints */
	bool irqs_masked; /* PSTATE.I before */
};
static DEFINE_PER_CPU(struct step, step);

static notrace u32 read_insn(u64 pc)
{
	return *(const u32 *)pc; /* the kernel's text or a module's: it has just been executed, or follows that */
}

/* Load/store exclusive, C4.1.88.32: LDXR, LDAXR, LDXP, LDAXP have bit 22, the stores have not; o2 and o1 as there. */
static notrace bool is_exclusive(u32 insn, bool load)
{
	return (insn & 0x3f800000) == 0x08000000 && (insn & 0x00400000) == (load ? 0x00400000 : 0);
}

/* Where B.cond, CBZ, CBNZ, TBZ and TBNZ may go; 0: something else. C4.1.86. */
static notrace u64 branch_target(u64 pc, u32 insn)
{
	if ((insn & 0xff000010) == 0x54000000 || (insn & 0x7e000000) == 0x34000000)
		return pc + ((s64)(s32)(insn << 8) >> 13) * 4;
	if ((insn & 0x7e000000) == 0x36000000)
		return pc + ((s64)(s32)(insn << 13) >> 18) * 4;
	return 0;
}

/* The exclusive load that belongs to the store at pc; pc itself when there is none near. */
static notrace u64 load_of(u64 pc)
{
	for (u64 at = pc - 4; at > pc - 4 * MAX_LOOP; at -= 4)
		if (is_exclusive(read_insn(at), true))
			return at;
	return pc;
}

/*
 * The store of the load at `start`, and where the loop ends: behind the branch back, or behind the store when the
 * branch is elsewhere. 0: no store follows.
 */
static notrace u64 loop_end(u64 start)
{
	for (u64 at = start + 4; at < start + 4 * MAX_LOOP; at += 4) {
		if (!is_exclusive(read_insn(at), false))
			continue;
		return branch_target(at + 4, read_insn(at + 4)) == start ? at + 8 : at + 4;
	}
	return 0;
}

/*
 * Set the kept breakpoints where the loop can be left: behind it, and where a branch inside leads out of it. False:
 * there are more such places than breakpoints.
 */
static notrace bool set_exits(u64 start, u64 end)
{
	u64 other = 0;

	for (u64 at = start; at < end; at += 4) {
		u64 target = branch_target(at, read_insn(at));

		if (!target || (target >= start && target <= end) || target == other)
			continue;
		if (other)
			return false;
		other = target;
	}
	debug_write_exit(0, end);
	debug_write_exit(1, other);
	return true;
}

/* Run the exclusive loop at pc as a whole. False: pc is not in one. */
static notrace bool run_exclusive(struct pt_regs *regs)
{
	u32 insn = read_insn(regs->pc);
	u64 start = regs->pc, end;

	if (is_exclusive(insn, false))
		start = load_of(start);
	else if (!is_exclusive(insn, true))
		return false;
	end = loop_end(start);
	debug_registers_clear();
	if (!end || !set_exits(start, end))
		die("Oops - an exclusive access that cannot be stepped over", regs, 0);
	regs->pc = start;
	return true;
}

notrace void single_step_begin(struct pt_regs *regs)
{
	struct step *s = this_cpu_ptr(&step);

	s->active = true;
	s->irqs_masked = regs->pstate & PSR_I_BIT;
	s->whole = run_exclusive(regs);
	if (!s->whole) {
		debug_step(true);
		regs->pstate |= PSR_SS_BIT;
	}
	regs->pstate |= PSR_I_BIT;
}

notrace bool single_step_end(struct pt_regs *regs)
{
	struct step *s = this_cpu_ptr(&step);

	if (!s->active)
		return false;
	s->active = false;
	regs->pstate &= ~PSR_SS_BIT;
	if (!s->irqs_masked)
		regs->pstate &= ~PSR_I_BIT;
	if (s->whole)
		debug_registers_report();
	else
		debug_step(false);
	return true;
}
