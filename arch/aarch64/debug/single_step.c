/*
 * Stepping kernel code by software step (Arm ARM D2.12): MDSCR_EL1.SS is set, and SPSR_EL1.SS for the return. The one
 * instruction is executed, and the step exception follows. Two ask for it:
 *
 *	breakpoints	step over the one instruction that they have reported (debug_regs.h)
 *	a tracer	steps through all that a CPU does in the kernel (<arch/single_step.h>)
 *
 * Both at a time: a breakpoint that is reported while the CPU is stepped through is stepped over, and that step counts
 * for the tracer as well.
 *
 * An exclusive load sets the CPU's monitor, and every exception return clears it (B2.9.5). So a step between an
 * exclusive load and its store makes the store fail, the loop begins again, and would be stepped again, for ever.
 *
 * Stepping over a breakpoint, the loop is executed as a whole: the two kept breakpoints are set behind it, and it runs
 * with all else silent. For that the code is read: from the exclusive load on to its store, and the branches in
 * between. When the exception came at the store (its address is watched for writes only), the monitor is lost already,
 * so the loop is begun again from its load: what gcc puts between the two are computations from what was loaded. The
 * loop may also fail because another CPU has written: it then goes round, with breakpoints still silent. So an atomic
 * operation is one access, however often it had to try, as it is on x86_64.
 *
 * Stepping through, each instruction of the loop is stepped but the store, which the handler makes in its place: it
 * keeps what the load has read, and stores by compare and exchange. That is an atomic operation of the same effect, and
 * the loop's branches are all seen.
 *
 * Stepping through, SS stays set in MDSCR_EL1. An exception masks debug exceptions (PSTATE.D) and clears PSTATE.SS, so
 * that the first instruction after entry.S has opened D is not executed but steps: what handlers do is seen without
 * further help. entry.S's last part masks D by MSR DAIFSet, which the handler does in its place, and ERET opens it
 * again. Programs would be stepped as well: so SS is cleared on the way to user mode, and set on the way back by
 * step_vectors, which are the CPU's vectors meanwhile. The CPU's sleep (WFI) and code outside of which a CPU may not
 * come while text changes (.noinstr.text) run unstepped, up to a kept breakpoint behind them.
 */
#include <arch/single_step.h>
#include <asm/barrier.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <kernel/extable.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <sched/preempt.h>

#include "debug_regs.h"
#include "../exception.h"
#include "../probes/exclusive.h"

#define MAX_LOOP 16 /* instructions from the load to the branch back; gcc's have 5 at most */

/* The step of a CPU. [its CPU, debug exceptions masked] */
struct step {
	bool active;
	bool whole;	  /* an exclusive loop runs to the kept breakpoints */
	bool irqs_masked; /* PSTATE.I before */
};
static DEFINE_PER_CPU(struct step, step);

enum insn_kind {
	INSN_UNKNOWN, /* where the CPU comes from is not known, so the next step is no branch */
	INSN_OTHER,
	INSN_CONDITIONAL,
	INSN_JUMP, /* a branch that is always taken */
};
/* A CPU that is stepped through. [its CPU; in the handler, or with interrupts off while fn is NULL] */
struct stepping {
	single_step_fn fn; /* NULL: it is not */
	u64 pc;		   /* the instruction that is executed next, and what it is */
	enum insn_kind kind;
	bool ending;	  /* arch_single_step_stop() is at work */
	u64 wait_pc;	  /* it runs unstepped to this address, which has kept breakpoint 0; 0: it does not */
	u64 load_pc;	  /* this exclusive load is executed next; 0: something else is */
	bool loaded;	  /* the last exclusive load has read `value`, and the monitor is still set */
	u8 target, bytes; /* its register, its size */
	u64 address, value;
};
static DEFINE_PER_CPU(struct stepping, stepping);

extern const char vectors[], step_vectors[], __entry_text_start[], __entry_text_end[], __noinstr_text_start[],
	__noinstr_text_end[], _stext[], _etext[]; /* entry.S, linker.ld */
/* entry.S: where exceptions begin. Not functions of C. */
extern const char el1h_64_sync[], el1h_64_irq[], el0t_64_sync[], el0t_64_irq[];

#define ERET   0xd69f03e0
#define WFI    0xd503207f
#define DAIF_D 8 /* of the four bits in MSR DAIFSet and DAIFClr */

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

/* Does the instruction mask debug exceptions, or open them? MSR DAIFSet, MSR DAIFClr, C6.2.230. */
static notrace bool masks_debug(u32 insn)
{
	return (insn & 0xfffff8ff) == (0xd50340df | DAIF_D << 8);
}

static notrace bool opens_debug(u32 insn)
{
	return (insn & 0xfffff8ff) == (0xd50340ff | DAIF_D << 8);
}

static notrace bool is_entry_text(u64 pc)
{
	return pc >= (u64)__entry_text_start && pc < (u64)__entry_text_end;
}

/* Is this the first instruction that is stepped after an exception? Then its entry, else 0. */
static notrace u64 entry_of(u64 pc)
{
	const u64 entries[] = {(u64)el1h_64_sync, (u64)el1h_64_irq, (u64)el0t_64_sync, (u64)el0t_64_irq};
	u64 entry = 0;

	if (!is_entry_text(pc) || !opens_debug(read_insn(pc - 4)))
		return 0;
	for (unsigned i = 0; i < ARRAY_SIZE(entries); i++)
		if (entries[i] <= pc && entries[i] > entry)
			entry = entries[i];
	return entry;
}

notrace void single_step_begin(struct pt_regs *regs)
{
	struct step *s = this_cpu_ptr(&step);

	s->active = true;
	s->irqs_masked = regs->pstate & PSR_I_BIT;
	s->whole = run_exclusive(regs);
	debug_switch(!s->whole, s->whole);
	if (!s->whole)
		regs->pstate |= PSR_SS_BIT;
	else
		this_cpu(stepping).kind = INSN_UNKNOWN;
	regs->pstate |= PSR_I_BIT;
}

/*
 * The breakpoint's step is over: all is reported again. The instruction may be a BRK, which a kprobe has put there:
 * then the step ends at the entry of that exception, and what was stepped has its registers at SP.
 */
static notrace void end_active(struct step *s, struct pt_regs *regs)
{
	struct pt_regs *stepped = entry_of(regs->pc) ? (struct pt_regs *)regs->sp : regs;

	s->active = false;
	stepped->pstate &= ~PSR_SS_BIT;
	if (!s->irqs_masked)
		stepped->pstate &= ~PSR_I_BIT;
	if (s->whole) {
		debug_registers_load();
		debug_write_exit(0, this_cpu(stepping).wait_pc);
		debug_write_exit(1, 0);
	}
	debug_switch(false, true);
}

/* ---- Stepping through */

/* The branch from `from` to `to`, or 0; whether to go on is up to the tracer. */
static notrace void tell(struct stepping *s, struct pt_regs *regs, u64 from, u64 to)
{
	if (s->fn && !s->fn(regs, from, to))
		s->fn = NULL;
}

static notrace bool is_taken(const struct stepping *s, u64 to)
{
	return s->kind == INSN_JUMP || (s->kind == INSN_CONDITIONAL && to != s->pc + 4);
}

/*
 * The first step of an exception: the registers of what it has interrupted stand at SP. PSTATE.SS there would have that
 * code's next instruction executed before the next step. The monitor is lost. When the exception came in place of a
 * step, the instruction before has been executed all the same. `entry`: the symbol of entry.S.
 */
static notrace void exception_entered(struct stepping *s, struct pt_regs *regs, u64 entry)
{
	struct pt_regs *interrupted = (struct pt_regs *)regs->sp;

	s->loaded = false;
	interrupted->pstate &= ~PSR_SS_BIT;
	if (!user_mode(interrupted) && interrupted->pc != s->pc && is_taken(s, interrupted->pc))
		tell(s, regs, s->pc, interrupted->pc);
	tell(s, regs, interrupted->pc, entry);
}

/* C4.1.86: B.cond, CBZ, CBNZ, TBZ, TBNZ; B, BL; branches to a register, ERET among them. */
static notrace enum insn_kind kind_of(u32 insn)
{
	if ((insn & 0xff000010) == 0x54000000 || (insn & 0x7c000000) == 0x34000000)
		return INSN_CONDITIONAL;
	if ((insn & 0x7c000000) == 0x14000000 || (insn & 0xfe000000) == 0xd6000000)
		return INSN_JUMP;
	return INSN_OTHER;
}

static notrace u64 read_register(const struct pt_regs *regs, unsigned n, u64 register_31)
{
	return n < 31 ? regs->regs[n] : register_31;
}

/* Before an exclusive load: where it will read, how much, and which register gets it. */
static notrace void note_load(struct stepping *s, const struct pt_regs *regs, u32 insn)
{
	s->load_pc = regs->pc;
	s->address = read_register(regs, insn >> 5 & 31, regs->sp);
	s->bytes = 1 << (insn >> 30);
	s->target = insn & 31;
}

#define STORE_IF_SAME(type, s, value)                                                                            \
	({                                                                                                       \
		type _old = (s)->value;                                                                          \
		__atomic_compare_exchange_n((type *)(s)->address, &_old, (type)(value), false, __ATOMIC_SEQ_CST, \
					    __ATOMIC_RELAXED);                                                   \
	})

/* Store if memory still holds what was loaded. True: stored. */
static notrace bool store_if_same(const struct stepping *s, u64 value)
{
	switch (s->bytes) {
	case 1:
		return STORE_IF_SAME(u8, s, value);
	case 2:
		return STORE_IF_SAME(u16, s, value);
	case 4:
		return STORE_IF_SAME(u32, s, value);
	default:
		return STORE_IF_SAME(u64, s, value);
	}
}

/*
 * A store-exclusive, in its place: it fails, as it would, unless the last exclusive load of this CPU was of the same
 * place and no exception has come between. Watchpoints are told what they would have reported.
 */
static notrace void store_exclusive(struct stepping *s, struct pt_regs *regs, u32 insn)
{
	u64 address = read_register(regs, insn >> 5 & 31, regs->sp), value = read_register(regs, insn & 31, 0);
	unsigned status = insn >> 16 & 31;
	bool stored = s->loaded && s->address == address && s->bytes == 1U << (insn >> 30) && store_if_same(s, value);

	s->loaded = false;
	if (status < 31)
		regs->regs[status] = !stored;
	if (stored)
		debug_report_store(regs, address, s->bytes);
	regs->pc += 4;
}

/* Without steps up to `pc`; 0: up to the next interrupt, or the next entry from user mode. */
static notrace void run_to(struct stepping *s, u64 pc)
{
	s->wait_pc = pc;
	s->kind = INSN_UNKNOWN;
	debug_write_exit(0, pc);
	debug_switch(false, true);
}

/*
 * entry.S is about to mask debug exceptions for a return: done here. What follows up to ERET has no branch, so that one
 * is the next. To user mode: no more steps until step_vectors set SS again.
 */
static notrace void leave_exception(struct stepping *s, struct pt_regs *regs)
{
	const struct pt_regs *saved = (const struct pt_regs *)regs->sp;

	regs->pstate |= PSR_DAIF_MASK;
	for (s->pc = regs->pc; read_insn(s->pc) != ERET; s->pc += 4)
		;
	s->kind = INSN_JUMP;
	regs->pc += 4;
	if (user_mode(saved)) {
		s->kind = INSN_UNKNOWN;
		debug_switch(false, true);
	}
}

/* Kernel text, so that it can be read: what a wild branch leads to may not be there. */
static notrace bool is_text(u64 pc)
{
	return (pc >= (u64)_stext && pc < (u64)_etext) || (pc >= MODULES_VADDR && pc < MODULES_END);
}

static notrace bool is_noinstr(u64 pc)
{
	return pc >= (u64)__noinstr_text_start && pc < (u64)__noinstr_text_end;
}

/* A call of a function at `to`? BL, BLR: the return address is in x30 then. */
static notrace bool was_call(const struct stepping *s, u64 to)
{
	u32 insn = s->kind == INSN_JUMP && is_text(s->pc) ? read_insn(s->pc) : 0;

	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000;
}

/* Look at the instruction that comes next, and have it stepped in the way that it needs. */
static notrace void prepare(struct stepping *s, struct pt_regs *regs)
{
	u32 insn;

	if (is_noinstr(regs->pc)) {
		run_to(s, was_call(s, regs->pc) ? regs->regs[30] : s->wait_pc);
		return;
	}
	insn = read_insn(regs->pc);
	while (is_exclusive(insn, false) && s->fn) {
		store_exclusive(s, regs, insn);
		tell(s, regs, 0, regs->pc);
		insn = read_insn(regs->pc);
	}
	s->pc = regs->pc;
	s->kind = kind_of(insn);
	if (insn == WFI) {
		run_to(s, regs->pc + 4);
	} else if (masks_debug(insn) && is_entry_text(regs->pc)) {
		leave_exception(s, regs);
	} else {
		if (is_exclusive(insn, true))
			note_load(s, regs, insn);
		regs->pstate |= PSR_SS_BIT;
		debug_switch(true, true);
	}
}

/* This CPU's registers as they were before. */
static notrace void stop_stepping(struct stepping *s)
{
	s->fn = NULL;
	s->wait_pc = 0;
	debug_write_exit(0, 0);
	debug_switch(false, true);
	write_sysreg(vectors, vbar_el1);
	isb();
}

/* An instruction has been executed, or an exception taken. */
static notrace void step_through(struct stepping *s, struct pt_regs *regs)
{
	u64 entry = entry_of(regs->pc);

	if (s->load_pc) {
		s->loaded = regs->pc == s->load_pc + 4 && s->target < 31;
		s->value = read_register(regs, s->target, 0);
		s->load_pc = 0;
	}
	if (entry)
		exception_entered(s, regs, entry);
	else
		tell(s, regs, is_taken(s, regs->pc) ? s->pc : 0, regs->pc);
	if (s->fn && is_text(regs->pc))
		prepare(s, regs);
	if (!s->fn || !is_text(regs->pc))
		stop_stepping(s);
}

/*
 * Steps still come while stepping ends (`ending`): then SS is cleared here. A kept breakpoint is a wait's when no
 * exclusive loop is run as a whole; it may also be met with SS set, when an interrupt has set that again before.
 */
notrace bool single_step_end(struct pt_regs *regs, bool breakpoint)
{
	struct stepping *through = this_cpu_ptr(&stepping);
	struct step *s = this_cpu_ptr(&step);

	if (s->active && s->whole == breakpoint) {
		end_active(s, regs);
	} else if (breakpoint) {
		if (!through->wait_pc || through->wait_pc != regs->pc)
			return false;
		through->wait_pc = 0;
		debug_write_exit(0, 0);
	} else if (!through->fn) {
		debug_switch(false, true);
		return through->ending;
	}
	if (through->fn)
		step_through(through, regs);
	return true;
}

int arch_single_step_start(single_step_fn fn)
{
	struct stepping *s = this_cpu_ptr(&stepping);

	if (s->fn)
		return -EBUSY;
	*s = (struct stepping){.fn = fn};
	write_sysreg(step_vectors, vbar_el1);
	isb();
	debug_switch(true, true);
	return 0;
}

bool arch_single_step_stop(void)
{
	struct stepping *s = this_cpu_ptr(&stepping);

	if (!s->fn)
		return false;
	s->ending = true;
	barrier();
	stop_stepping(s);
	barrier();
	s->ending = false;
	return true;
}

static bool single_step_read(unsigned long pc, u32 *insn, void *unused)
{
	*insn = read_insn(pc);
	return true;
}

/* Between an exclusive load and its store, not at either of them? Preemption off. */
static bool is_inside_exclusive(u64 pc)
{
	unsigned long offset;

	return !is_exclusive(read_insn(pc), false) && kallsyms_lookup(pc, NULL, &offset, (char[KSYM_NAME_LEN]){}) &&
	       monitor_may_be_set(pc, pc - offset, single_step_read, NULL);
}

/*
 * single_step_begin() executes an instruction with interrupts masked, so it must neither look at the mask (MRS DAIF)
 * nor change it (MSR DAIF, DAIFSet, DAIFClr, ERET), nor wait for an interrupt, nor fault by intention. Between an
 * exclusive load and its store, the breakpoint would clear the monitor in each round of the loop. In entry code and
 * where a parked CPU waits, the handler itself could not run.
 */
bool single_step_can(u64 pc)
{
	bool mapped;
	u32 insn;

	preempt_disable(); /* a module that is found stays as long */
	mapped = (pc >= (u64)_stext && pc < (u64)_etext) || __module_address(pc);
	insn = mapped ? read_insn(pc) : 0;
	mapped = mapped && !is_inside_exclusive(pc);
	preempt_enable();
	if (!mapped || is_noinstr(pc) || (pc >= (u64)__entry_text_start && pc < (u64)__entry_text_end))
		return false;
	return (insn & ~0x0020001fu) != 0xd51b4220 && (insn & 0xfffff0df) != 0xd50340df && insn != ERET &&
	       insn != WFI && !search_exception_tables(pc);
}
