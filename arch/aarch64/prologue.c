/*
 * Undoing a prologue, for a function that is replaced at its site (FTRACE_OPS_FL_IPMODIFY). Not traced.
 *
 * Between a function's start and its site gcc has a handful of instructions, without a branch: it pushes the frame
 * record, saves the x19 to x28 that the function is going to use, and puts the arguments that are wanted later where
 * the call of the hook does not spoil them. They are read here one by one, and what they did is known afterwards: how
 * far sp has moved, where each saved register lies, and where each argument is. An instruction of another kind may
 * only write a register, and whatever that held counts as lost.
 *
 * Arguments that the function does not use are nowhere but in their registers, and x0's is overwritten by the site. It
 * cannot be given to the function that replaces; it is 0 there.
 */
#include <arch/ftrace.h>
#include <asm/ptrace.h>
#include <kernel/ksyms.h>
#include <kernel/probe_hooks.h>
#include <mm/uaccess.h>

#define NR_ARGS	    8  /* x0 to x7 */
#define FIRST_SAVED 19 /* x19 to x28 */
#define NR_SAVED    10
#define FP	    29
#define LR	    30
#define SP	    31
#define NOWHERE	    -1
#define MAX_INSNS   64

/* Offsets count from sp at the function's start, upwards: what the prologue stores lies at negative ones. */
struct prologue {
	int sp; /* sp at this point; x29 is at fp */
	int fp;
	bool has_fp;
	int saved[NR_SAVED]; /* offset of the slot, or 0: not saved */
	struct {
		bool in_place;	  /* still in its own register */
		int reg;	  /* a copy is in this register, or NOWHERE */
		int slot;	  /* a copy is at this offset, or 0 */
		int add;	  /* what was added for the copy in `reg` */
		bool taken_apart; /* something else was made of it */
	} arg[NR_ARGS];
};

/* The instruction at `at` as it is without probes. False: it cannot be read. */
static bool read_text(unsigned long at, u32 *insn)
{
	if (copy_from_kernel_nofault(insn, (const void *)at, 4))
		return false;
	probe_hooks.hide(at, (u8 *)insn, 4);
	return true;
}

static u32 bits(u32 insn, unsigned low, unsigned n)
{
	return (insn >> low) & ((1U << n) - 1);
}

static int sign_extend(u32 value, unsigned n)
{
	return (int)(value << (32 - n)) >> (32 - n);
}

/* A store of `reg`, `size` bytes, at an offset. */
static void note_store(struct prologue *p, unsigned reg, int offset, unsigned size)
{
	if (size == 8 && reg >= FIRST_SAVED && reg < FIRST_SAVED + NR_SAVED && !p->saved[reg - FIRST_SAVED])
		p->saved[reg - FIRST_SAVED] = offset;
	if (reg < NR_ARGS && p->arg[reg].in_place)
		p->arg[reg].slot = offset;
}

/*
 * Something writes `reg`. An argument whose copy was there is used by the function, and is lost unless it has another
 * place. False: a register of the caller's that has not been saved, or sp or x29 in an odd way.
 */
static bool note_write(struct prologue *p, unsigned reg)
{
	if (reg >= FP)
		return reg == LR;
	if (reg >= FIRST_SAVED && !p->saved[reg - FIRST_SAVED])
		return false;
	if (reg < NR_ARGS)
		p->arg[reg].in_place = false;
	for (unsigned i = 0; i < NR_ARGS; i++) {
		if (p->arg[i].reg != (int)reg)
			continue;
		p->arg[i].reg = NOWHERE;
		p->arg[i].taken_apart = true;
	}
	return true;
}

/*
 * rd = rn + add, the whole of it or as many bits as the argument has. An argument that is changed where it stands has
 * been used, and no copy of what it was is known to be left in its register.
 */
static bool note_copy(struct prologue *p, unsigned rd, unsigned rn, int add)
{
	if (rn < NR_ARGS && rn == rd && p->arg[rn].in_place)
		p->arg[rn].taken_apart = true;
	if (!note_write(p, rd))
		return false;
	if (rn < NR_ARGS && rn != rd && p->arg[rn].in_place && p->arg[rn].reg == NOWHERE) {
		p->arg[rn].reg = rd;
		p->arg[rn].add = add;
	}
	return true;
}

/* STP and STR with an immediate offset from sp; the record's STP may move sp first. */
static bool read_store(struct prologue *p, u32 insn)
{
	unsigned rt = bits(insn, 0, 5), rt2 = bits(insn, 10, 5), size = 1U << (insn >> 30);

	if (bits(insn, 5, 5) != SP)
		return false;
	if ((insn & 0xff400000) == 0xa9000000) { /* stp xt, xt2, [sp, #imm]; 0xa98...: with ! */
		int offset = sign_extend(bits(insn, 15, 7), 7) * 8;

		if (bits(insn, 23, 1)) {
			p->sp += offset;
			offset = 0;
		}
		note_store(p, rt, p->sp + offset, 8);
		note_store(p, rt2, p->sp + offset + 8, 8);
		return true;
	}
	if ((insn & 0x3fc00000) != 0x39000000) /* strb, strh, str wt, str xt */
		return false;
	note_store(p, rt, p->sp + (int)(bits(insn, 10, 12) * size), size);
	return true;
}

/* ADD and SUB of an immediate, sp and x29 among them. */
static bool read_add(struct prologue *p, u32 insn)
{
	unsigned rd = bits(insn, 0, 5), rn = bits(insn, 5, 5);
	int imm = bits(insn, 10, 12) << (bits(insn, 22, 1) ? 12 : 0);

	if (bits(insn, 30, 1))
		imm = -imm;
	if (rn != SP)
		return note_copy(p, rd, rn, imm);
	if (rd == SP) {
		p->sp += imm;
	} else if (rd == FP) {
		p->fp = p->sp + imm;
		p->has_fp = true;
	} else {
		return note_write(p, rd);
	}
	return true;
}

/* Its operands, when they are arguments, are used for something that cannot be read backwards. */
static bool read_other(struct prologue *p, u32 insn)
{
	unsigned rn = bits(insn, 5, 5), rm = bits(insn, 16, 5);
	bool immediate = bits(insn, 26, 3) == 4, address = (insn & 0x1f000000) == 0x10000000;
	bool wide = (insn & 0x1f800000) == 0x12800000; /* movn, movz, movk: no operands */
	bool registers = bits(insn, 25, 3) == 5;

	if ((insn & 0xfff00000) == 0xd5300000) /* mrs */
		return note_write(p, bits(insn, 0, 5));
	if (!immediate && !registers)
		return insn == 0xd5033fdf; /* isb */
	if (!address && !wide && rn < NR_ARGS)
		p->arg[rn].taken_apart = true;
	if (registers && rm < NR_ARGS)
		p->arg[rm].taken_apart = true;
	return note_write(p, bits(insn, 0, 5));
}

static bool read_insn(struct prologue *p, u32 insn)
{
	unsigned rd = bits(insn, 0, 5), rn = bits(insn, 5, 5), rm = bits(insn, 16, 5);

	if ((insn & 0x3b000000) == 0x39000000 || (insn & 0x7e000000) == 0x28000000)
		return read_store(p, insn);
	if ((insn & 0xbf800000) == 0x91000000)
		return read_add(p, insn);
	if ((insn & 0x7fe0ffe0) == 0x2a0003e0) /* mov rd, rm */
		return rm < NR_ARGS ? note_copy(p, rd, rm, 0) : note_write(p, rd);
	/* and wd, wn, #0xff or #0xffff; sxtw xd, wn: what a narrow argument is read as */
	if ((insn & 0xfffffc00) == 0x12001c00 || (insn & 0xfffffc00) == 0x12003c00 || (insn & 0xfffffc00) == 0x93407c00)
		return note_copy(p, rd, rn, 0);
	return read_other(p, insn);
}

/* Where the function begins, the kernel's or a module's; 0: it has no name. */
static unsigned long function_start(unsigned long ip)
{
	long index = symbol_index(ip);
	char name[KSYM_NAME_LEN];
	unsigned long offset;
	struct ksym func;

	if (index >= 0)
		return kallsyms_symbol(index, &func) ? func.address : 0;
	return kallsyms_lookup(ip, NULL, &offset, name) ? ip - offset : 0;
}

/* From the start of the function to the site. False: something is there that is not understood. */
static bool read_prologue(struct prologue *p, unsigned long ip)
{
	unsigned long start = function_start(ip);
	unsigned n = 0;
	u32 insn;

	*p = (struct prologue){};
	for (unsigned i = 0; i < NR_ARGS; i++) {
		p->arg[i].in_place = true;
		p->arg[i].reg = NOWHERE;
	}
	if (!start)
		return false;
	for (unsigned long at = start; at < ip; at += 4)
		if (n++ == MAX_INSNS || !read_text(at, &insn) || !read_insn(p, insn))
			return false;
	return p->has_fp;
}

bool arch_ftrace_can_redirect(unsigned long ip)
{
	struct prologue p;

	if (!read_prologue(&p, ip))
		return false;
	for (unsigned i = 0; i < NR_ARGS; i++)
		if (!p.arg[i].in_place && p.arg[i].reg == NOWHERE && !p.arg[i].slot && p.arg[i].taken_apart)
			return false;
	return true;
}

/*
 * The site follows the prologue, which has moved arguments and saved registers; this takes all of it back. Arguments
 * come from where the prologue put them, a register that was changed by adding or a slot of the stack; saved registers
 * from their slots; x29 and x30 from the frame record. All of it is read before SP moves up, for what is below SP may
 * be overwritten.
 */
void arch_ftrace_redirect(unsigned long ip, struct pt_regs *regs)
{
	u64 old[LR], start, fp = regs->regs[FP];
	struct prologue p;

	read_prologue(&p, ip);
	start = regs->sp - p.sp;
	for (unsigned i = 0; i < LR; i++)
		old[i] = regs->regs[i];
	for (unsigned i = 0; i < NR_ARGS; i++) {
		if (p.arg[i].in_place)
			continue;
		if (p.arg[i].reg != NOWHERE)
			regs->regs[i] = old[p.arg[i].reg] - p.arg[i].add;
		else
			regs->regs[i] = p.arg[i].slot ? *(const u64 *)(start + p.arg[i].slot) : 0;
	}
	for (unsigned i = 0; i < NR_SAVED; i++)
		if (p.saved[i])
			regs->regs[FIRST_SAVED + i] = *(const u64 *)(start + p.saved[i]);
	regs->regs[FP] = ((const u64 *)fp)[0];
	regs->regs[LR] = ((const u64 *)fp)[1]; /* the handler, if the return is hooked */
	regs->sp = start;
}

/* The registers are a copy: the function itself goes on behind its prologue. */
void arch_ftrace_call_direct(unsigned long ip, const struct pt_regs *regs, unsigned long parent_ip,
			     unsigned long trampoline)
{
	struct pt_regs entry = *regs;

	arch_ftrace_redirect(ip, &entry);
	ftrace_call_direct(trampoline, (const unsigned long *)entry.regs, parent_ip);
}
