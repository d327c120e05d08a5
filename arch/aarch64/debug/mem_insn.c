/*
 * Loads and stores of general registers (Arm ARM C4.1.94, "Loads and Stores"): decoding and doing them.
 *
 * ESR_EL1 does not tell what a data abort of EL1 wanted to access: its ISV bit is for aborts that are taken to EL2
 * (D17.2.37), and QEMU has it so, too. Hence the instruction itself is read. The known ones:
 *
 *     ldr, str and their b, h, sb, sh, sw forms    [base, #imm], [base, #imm]!, [base], #imm, [base, index, extend]
 *     ldur, stur, likewise                         [base, #imm]
 *     ldp, stp, ldpsw, ldnp, stnp                  [base, #imm], [base, #imm]!, [base], #imm
 *
 * Nothing here is traced, since an access may come from anywhere, the tracer included.
 */
#include <arch/mem_insn.h>
#include <asm/ptrace.h>
#include <lib/errno.h>

#define SP_OR_ZERO 31 /* as a base the stack pointer, as a transferred register zero */

static __always_inline u32 field(u32 code, unsigned low, unsigned bits)
{
	return (code >> low) & ((1u << bits) - 1);
}

static __always_inline s64 signed_field(u32 code, unsigned low, unsigned bits)
{
	return (s32)(code << (32 - low - bits)) >> (32 - bits);
}

static notrace u64 read_reg(const struct pt_regs *regs, unsigned n)
{
	return n == SP_OR_ZERO ? 0 : regs->regs[n];
}

static notrace void write_reg(struct pt_regs *regs, unsigned n, u64 value)
{
	if (n != SP_OR_ZERO)
		regs->regs[n] = value;
}

static notrace u64 base_of(const struct mem_insn *insn, const struct pt_regs *regs)
{
	return insn->rn == SP_OR_ZERO ? regs->sp : regs->regs[insn->rn];
}

/*
 * An index register, extended and shifted as the instruction says (C1.3.3). False: a reserved extension.
 */
static notrace bool index_value(u32 code, const struct pt_regs *regs, unsigned scale, u64 *index)
{
	u64 value = read_reg(regs, field(code, 16, 5));

	switch (field(code, 13, 3)) {
	case 2: /* UXTW */
		value = (u32)value;
		break;
	case 3: /* LSL */
	case 7: /* SXTX */
		break;
	case 6: /* SXTW */
		value = (s64)(s32)value;
		break;
	default:
		return false;
	}
	*index = value << (field(code, 12, 1) ? scale : 0);
	return true;
}

/* Where the operand is for an immediate: at the new base (pre-index), at the old one (post-index), or beside it. */
static notrace void set_address(struct mem_insn *insn, const struct pt_regs *regs, s64 offset, bool writeback,
				bool after)
{
	u64 base = base_of(insn, regs);

	insn->address = after ? base : base + offset;
	insn->writeback = writeback;
	insn->base = base + offset;
}

/* Is the base written although it is transferred, too? What happens then is not defined (K1.2.4). */
static notrace bool base_is_transferred(const struct mem_insn *insn)
{
	return insn->writeback && insn->rn != SP_OR_ZERO &&
	       (insn->rn == insn->rt || (insn->pair && insn->rn == insn->rt2));
}

/*
 * size: 31-30, opc: 23-22. opc 0 stores, 1 loads, 2 loads and extends the sign to 64 bits, 3 to 32. A register of 64
 * bits has no sign to extend: that code is PRFM, which never faults.
 */
static notrace bool single_kind(struct mem_insn *insn, u32 code)
{
	unsigned size = field(code, 30, 2), opc = field(code, 22, 2);

	if ((opc == 2 && size == 3) || (opc == 3 && size >= 2))
		return false;
	insn->width = insn->bytes = 1 << size;
	insn->load = opc != 0;
	insn->sign = opc >= 2;
	insn->to_32 = opc == 3;
	insn->rt = field(code, 0, 5);
	insn->rn = field(code, 5, 5);
	return true;
}

/* One register. Bits 29-27 are 111, bit 26 (vectors) is 0; bit 24 tells the scaled offset from the other forms. */
static notrace int decode_single(struct mem_insn *insn, const struct pt_regs *regs, u32 code)
{
	unsigned scale = field(code, 30, 2), form = field(code, 10, 2);
	u64 offset = signed_field(code, 12, 9);

	if (!single_kind(insn, code))
		return -EINVAL;
	if (field(code, 24, 1)) { /* [base, #imm12 * size] */
		set_address(insn, regs, (u64)field(code, 10, 12) << scale, false, false);
	} else if (field(code, 21, 1)) { /* form 2: [base, index]; else atomic operations */
		if (form != 2 || !index_value(code, regs, scale, &offset))
			return -EINVAL;
		set_address(insn, regs, offset, false, false);
	} else { /* 0: ldur; 1: post-index; 2: ldtr, which has the program's rights; 3: pre-index */
		if (form == 2)
			return -EINVAL;
		set_address(insn, regs, offset, form != 0, form == 1);
	}
	return base_is_transferred(insn) ? -EINVAL : 0;
}

/* Two registers. opc: 31-30: 0 32 bits, 1 ldpsw (a store of that code is for tags), 2 64 bits. */
static notrace int decode_pair(struct mem_insn *insn, const struct pt_regs *regs, u32 code)
{
	unsigned opc = field(code, 30, 2),
		 form = field(code, 23, 2); /* 0: ldnp, 1: post-index, 2: offset, 3: pre-index */

	insn->load = field(code, 22, 1);
	if (opc == 3 || (opc == 1 && (!insn->load || form == 0)))
		return -EINVAL;
	insn->pair = true;
	insn->width = opc == 2 ? 8 : 4;
	insn->bytes = 2 * insn->width;
	insn->sign = opc == 1;
	insn->rt = field(code, 0, 5);
	insn->rn = field(code, 5, 5);
	insn->rt2 = field(code, 10, 5);
	set_address(insn, regs, signed_field(code, 15, 7) * insn->width, form & 1, form == 1);
	return base_is_transferred(insn) || (insn->load && insn->rt == insn->rt2) ? -EINVAL : 0;
}

notrace int arch_mem_insn_decode(struct mem_insn *insn, const struct pt_regs *regs, const void *code_at)
{
	u32 code = READ_ONCE(*(const u32 *)code_at);

	*insn = (struct mem_insn){};
	if ((code & 0x3e000000) == 0x38000000)
		return decode_single(insn, regs, code);
	if ((code & 0x3e000000) == 0x28000000)
		return decode_pair(insn, regs, code);
	return -EINVAL;
}

notrace unsigned arch_mem_insn_bytes(const void *code, u8 bytes[4])
{
	u32 word = READ_ONCE(*(const u32 *)code);

	for (unsigned i = 0; i < 4; i++)
		bytes[i] = word >> (24 - 8 * i);
	return 4;
}

/* A value as the register gets it: a load of 32 bits clears the upper half, as do those that extend to 32. */
static notrace u64 extended(const struct mem_insn *insn, u64 value)
{
	unsigned shift = 64 - 8 * insn->width;

	if (insn->sign)
		value = (u64)((s64)(value << shift) >> shift);
	return insn->to_32 ? (u32)value : value;
}

/* The part of one register. */
static notrace struct mem_access transfer(const struct mem_insn *insn, struct pt_regs *regs, unsigned reg, void *at,
					  unsigned long address)
{
	struct mem_access access = {.address = address, .bytes = insn->width, .write = !insn->load};

	if (insn->load) {
		access.value = mem_insn_load(at, insn->width);
		write_reg(regs, reg, extended(insn, access.value));
	} else {
		access.value = read_reg(regs, reg);
		if (insn->width < 8)
			access.value &= BIT(8 * insn->width) - 1;
		mem_insn_store(at, insn->width, access.value);
	}
	return access;
}

notrace unsigned arch_mem_insn_emulate(const struct mem_insn *insn, struct pt_regs *regs, void *at,
				       struct mem_access done[MEM_INSN_ACCESSES])
{
	done[0] = transfer(insn, regs, insn->rt, at, insn->address);
	if (insn->pair)
		done[1] = transfer(insn, regs, insn->rt2, at + insn->width, insn->address + insn->width);
	if (insn->writeback && insn->rn == SP_OR_ZERO)
		regs->sp = insn->base;
	else if (insn->writeback)
		regs->regs[insn->rn] = insn->base;
	regs->pc += 4;
	return 1 + insn->pair;
}
