/*
 * Moves, and operations with a place in memory (SDM vol. 2, chapter 2 and appendix A): decoding and doing them.
 *
 * The known ones are what compilers and <asm/io.h> make for registers of devices:
 *
 *     mov                                       88 to 8b, c6, c7, a0 to a3
 *     movzx, movsx, movsxd                      0f b6, 0f b7, 0f be, 0f bf, 63
 *     add or adc sbb and sub xor cmp, test      00 to 3b, 80, 81, 83; 84, 85, f6 /0, f7 /0
 *
 * with the operand-size prefix and REX. A prefix of another kind (LOCK, REP, FS and GS, the address size) makes an
 * instruction unknown. An operation whose result goes to memory is two accesses, a read and a write.
 *
 * Nothing here is traced, since an access may come from anywhere, the tracer included.
 */
#include <arch/mem_insn.h>
#include <asm/ptrace.h>
#include <lib/errno.h>

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

/* What decoding has found of prefixes, and where it stands. */
struct decoder {
	const u8 *begin, *at;
	u8 rex;	     /* its low bits; 0 also without one, */
	bool is_rex; /* which makes a difference for registers of a byte */
	bool is_16;  /* the operand-size prefix */
};

/* The register with this number (vol. 2, table 2-3), in the order of struct pt_regs. */
static notrace u64 *reg_of(const struct pt_regs *regs, unsigned n)
{
	static const u8 place[16] = {
		offsetof(struct pt_regs, rax) / 8, offsetof(struct pt_regs, rcx) / 8, offsetof(struct pt_regs, rdx) / 8,
		offsetof(struct pt_regs, rbx) / 8, offsetof(struct pt_regs, rsp) / 8, offsetof(struct pt_regs, rbp) / 8,
		offsetof(struct pt_regs, rsi) / 8, offsetof(struct pt_regs, rdi) / 8, offsetof(struct pt_regs, r8) / 8,
		offsetof(struct pt_regs, r9) / 8,  offsetof(struct pt_regs, r10) / 8, offsetof(struct pt_regs, r11) / 8,
		offsetof(struct pt_regs, r12) / 8, offsetof(struct pt_regs, r13) / 8, offsetof(struct pt_regs, r14) / 8,
		offsetof(struct pt_regs, r15) / 8,
	};

	return (u64 *)regs + place[n];
}

/* The next `bytes` bytes, 1, 2, 4 or 8, as a number with a sign. */
static notrace s64 take(struct decoder *d, unsigned bytes)
{
	u64 value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (u64)d->at[i] << (8 * i);
	d->at += bytes;
	return (s64)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* Prefixes. A REX counts only right before the opcode. */
static notrace bool take_prefixes(struct decoder *d)
{
	for (;; d->at++) {
		switch (*d->at) {
		case 0x66:
			d->is_16 = true;
			continue;
		case 0x26: /* ES, CS, SS, DS: ignored in 64-bit mode */
		case 0x2e:
		case 0x36:
		case 0x3e:
			continue;
		case 0x64: /* FS, GS */
		case 0x65:
		case 0x67:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			return false;
		}
		break;
	}
	if ((*d->at & 0xf0) == 0x40) {
		d->is_rex = true;
		d->rex = *d->at++ & 0xf;
	}
	return true;
}

static notrace unsigned operand_bytes(const struct decoder *d, bool is_byte)
{
	return is_byte ? 1 : d->rex & REX_W ? 8 : d->is_16 ? 2 : 4;
}

/* Base and index of a SIB byte (vol. 2, table 2-3). */
static notrace u64 take_sib(struct decoder *d, const struct pt_regs *regs, unsigned mod)
{
	u8 sib = *d->at++;
	unsigned index = ((sib >> 3) & 7) | (d->rex & REX_X ? 8 : 0), base = sib & 7;
	u64 address = index == 4 ? 0 : *reg_of(regs, index) << (sib >> 6);

	if (base == 5 && mod == 0)
		return address + take(d, 4);
	return address + *reg_of(regs, base | (d->rex & REX_B ? 8 : 0));
}

/*
 * The byte ModRM with what follows it (vol. 2, table 2-2): insn->address, and the number in its middle. `imm` bytes of
 * an immediate follow, which an address relative to the next instruction counts in. False: both operands are registers.
 */
static notrace bool take_modrm(struct decoder *d, const struct pt_regs *regs, struct mem_insn *insn, unsigned imm,
			       unsigned *middle)
{
	u8 modrm = *d->at++;
	unsigned mod = modrm >> 6, rm = modrm & 7;
	u64 address;

	*middle = (modrm >> 3) & 7;
	if (mod == 3)
		return false;
	if (rm == 4) {
		address = take_sib(d, regs, mod);
	} else if (rm == 5 && mod == 0) {
		address = take(d, 4);
		address += (regs->rip + (d->at - d->begin)) + imm;
	} else {
		address = *reg_of(regs, rm | (d->rex & REX_B ? 8 : 0));
	}
	if (mod)
		address += take(d, mod == 1 ? 1 : 4);
	insn->address = address;
	return true;
}

/* The operand in a register of `bytes` bytes. Without REX the numbers 4 to 7 of a byte are ah, ch, dh, bh. */
static notrace void set_reg(struct mem_insn *insn, const struct decoder *d, unsigned middle, unsigned bytes)
{
	insn->reg = middle | (d->rex & REX_R ? 8 : 0);
	insn->reg_bytes = bytes;
	insn->high = bytes == 1 && !d->is_rex && middle >= 4;
	if (insn->high)
		insn->reg -= 4;
}

/* A register and a place in memory. */
static notrace int with_reg(struct decoder *d, const struct pt_regs *regs, struct mem_insn *insn, unsigned op,
			    unsigned bytes, unsigned reg_bytes, bool to_memory)
{
	unsigned middle;

	if (!take_modrm(d, regs, insn, 0, &middle))
		return -EINVAL;
	insn->op = op;
	insn->bytes = bytes;
	insn->to_memory = to_memory;
	set_reg(insn, d, middle, reg_bytes);
	return 0;
}

/* A place in memory and an immediate; `op` -1: the middle of ModRM tells the operation, else it must be 0. */
static notrace int with_imm(struct decoder *d, const struct pt_regs *regs, struct mem_insn *insn, int op,
			    unsigned bytes, unsigned imm)
{
	unsigned middle;

	if (!take_modrm(d, regs, insn, imm, &middle) || (op >= 0 && middle))
		return -EINVAL;
	insn->op = op < 0 ? (int)middle : op;
	insn->bytes = bytes;
	insn->to_memory = insn->has_imm = true;
	insn->imm = take(d, imm);
	return 0;
}

/* mov between the accumulator and an address of 64 bits. */
static notrace int with_address(struct decoder *d, struct mem_insn *insn, unsigned bytes, bool to_memory)
{
	insn->address = take(d, 8);
	insn->op = MEM_INSN_MOV;
	insn->bytes = insn->reg_bytes = bytes;
	insn->to_memory = to_memory;
	return 0;
}

/* Opcodes of two bytes: loads that extend. */
static notrace int decode_0f(struct decoder *d, const struct pt_regs *regs, struct mem_insn *insn)
{
	u8 opcode = *d->at++;

	if ((opcode & 0xf6) != 0xb6)
		return -EINVAL;
	insn->sign = opcode & 8;
	return with_reg(d, regs, insn, MEM_INSN_MOV, opcode & 1 ? 2 : 1, operand_bytes(d, false), false);
}

/* Immediates have 4 bytes at most, and are extended (vol. 2, 2.2.1.5). */
static notrace int decode_opcode(struct decoder *d, const struct pt_regs *regs, struct mem_insn *insn)
{
	u8 opcode = *d->at++;
	unsigned bytes = operand_bytes(d, !(opcode & 1)), imm = min(bytes, 4u);

	if (opcode < 0x40 && (opcode & 7) < 4)
		return with_reg(d, regs, insn, opcode >> 3, bytes, bytes, !(opcode & 2));
	switch (opcode) {
	case 0x0f:
		return decode_0f(d, regs, insn);
	case 0x63:
		insn->sign = true;
		return with_reg(d, regs, insn, MEM_INSN_MOV, 4, operand_bytes(d, false), false);
	case 0x80:
	case 0x81:
		return with_imm(d, regs, insn, -1, bytes, imm);
	case 0x83:
		return with_imm(d, regs, insn, -1, bytes, 1);
	case 0x84:
	case 0x85:
		return with_reg(d, regs, insn, MEM_INSN_TEST, bytes, bytes, true);
	case 0x88:
	case 0x89:
	case 0x8a:
	case 0x8b:
		return with_reg(d, regs, insn, MEM_INSN_MOV, bytes, bytes, !(opcode & 2));
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa3:
		return with_address(d, insn, bytes, opcode & 2);
	case 0xc6:
	case 0xc7:
		return with_imm(d, regs, insn, MEM_INSN_MOV, bytes, imm);
	case 0xf6:
	case 0xf7:
		return with_imm(d, regs, insn, MEM_INSN_TEST, bytes, imm);
	}
	return -EINVAL;
}

notrace int arch_mem_insn_decode(struct mem_insn *insn, const struct pt_regs *regs, const void *code)
{
	struct decoder d = {.begin = code, .at = code};
	int err;

	*insn = (struct mem_insn){};
	err = take_prefixes(&d) ? decode_opcode(&d, regs, insn) : -EINVAL;
	insn->length = d.at - d.begin;
	return err;
}

/* Three, as Linux has them on x86. */
notrace unsigned arch_mem_insn_bytes(const void *code, u8 bytes[4])
{
	for (unsigned i = 0; i < 3; i++)
		bytes[i] = ((const u8 *)code)[i];
	return 3;
}

static notrace u64 low_bytes(u64 value, unsigned bytes)
{
	return bytes < 8 ? value & (BIT(8 * bytes) - 1) : value;
}

static notrace u64 other_operand(const struct mem_insn *insn, const struct pt_regs *regs)
{
	u64 value = insn->has_imm ? insn->imm : *reg_of(regs, insn->reg) >> (insn->high ? 8 : 0);

	return low_bytes(value, insn->bytes);
}

/* A register of 4 bytes clears the upper half; one of fewer leaves the other bytes alone (vol. 1, 3.4.1.1). */
static notrace void set_result(const struct mem_insn *insn, struct pt_regs *regs, u64 value)
{
	u64 *reg = reg_of(regs, insn->reg), mask = low_bytes(~0UL, insn->reg_bytes);
	unsigned shift = insn->high ? 8 : 0;

	value = low_bytes(value, insn->reg_bytes);
	*reg = insn->reg_bytes >= 4 ? value : (*reg & ~(mask << shift)) | value << shift;
}

#define FLAG_PF (1UL << 2)
#define FLAG_AF (1UL << 4)
#define FLAG_ZF (1UL << 6)
#define FLAG_SF (1UL << 7)
#define FLAG_OF (1UL << 11)

/*
 * Flags by a result (vol. 1, 3.4.3.1). `carries`: of each bit of a sum whether it has carried, of a difference whether
 * it has borrowed.
 */
static notrace u64 flags_of(u64 result, unsigned bytes, u64 carries)
{
	unsigned top = 8 * bytes - 1;
	u64 flags = 0;

	if ((carries >> top) & 1)
		flags |= X86_EFLAGS_CF;
	if (((carries >> top) ^ (carries >> (top - 1))) & 1)
		flags |= FLAG_OF;
	if (carries & 8)
		flags |= FLAG_AF;
	if (!(__builtin_popcount(result & 0xff) & 1))
		flags |= FLAG_PF;
	if (!result)
		flags |= FLAG_ZF;
	if ((result >> top) & 1)
		flags |= FLAG_SF;
	return flags;
}

/* a OP b in `bytes` bytes, and the flags. Logical operations clear carries; AF, not defined then, is cleared, too. */
static notrace u64 operate(struct pt_regs *regs, unsigned op, u64 a, u64 b, unsigned bytes)
{
	u64 carry = regs->rflags & X86_EFLAGS_CF, result, carries = 0;

	switch (op) {
	case MEM_INSN_ADD:
	case MEM_INSN_ADC:
		result = a + b + (op == MEM_INSN_ADC ? carry : 0);
		carries = (a & b) | ((a | b) & ~result);
		break;
	case MEM_INSN_SUB:
	case MEM_INSN_CMP:
	case MEM_INSN_SBB:
		result = a - b - (op == MEM_INSN_SBB ? carry : 0);
		carries = (~a & b) | ((~a | b) & result);
		break;
	case MEM_INSN_OR:
		result = a | b;
		break;
	case MEM_INSN_XOR:
		result = a ^ b;
		break;
	default:
		result = a & b;
	}
	result = low_bytes(result, bytes);
	regs->rflags = (regs->rflags & ~X86_EFLAGS_ARITH) | flags_of(result, bytes, carries);
	return result;
}

static notrace u64 sign_extended(u64 value, unsigned bytes)
{
	return (u64)((s64)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

/* An operation reads memory, and writes it when that is its first operand, unless it has no result. */
static notrace unsigned emulate_operation(const struct mem_insn *insn, struct pt_regs *regs, void *at,
					  struct mem_access done[MEM_INSN_ACCESSES])
{
	u64 memory = mem_insn_load(at, insn->bytes), other = other_operand(insn, regs), result;

	done[0] = (struct mem_access){insn->address, memory, insn->bytes, false};
	if (insn->to_memory)
		result = operate(regs, insn->op, memory, other, insn->bytes);
	else
		result = operate(regs, insn->op, other, memory, insn->bytes);
	if (insn->op == MEM_INSN_CMP || insn->op == MEM_INSN_TEST)
		return 1;
	if (!insn->to_memory) {
		set_result(insn, regs, result);
		return 1;
	}
	mem_insn_store(at, insn->bytes, result);
	done[1] = (struct mem_access){insn->address, result, insn->bytes, true};
	return 2;
}

/*
 * The fault has set RF in the saved flags, so that the same instruction is not reported again by a breakpoint; behind
 * the instruction it is clear (vol. 3, 18.3.1.1).
 */
notrace unsigned arch_mem_insn_emulate(const struct mem_insn *insn, struct pt_regs *regs, void *at,
				       struct mem_access done[MEM_INSN_ACCESSES])
{
	u64 value;

	regs->rip += insn->length;
	regs->rflags &= ~X86_EFLAGS_RF;
	if (insn->op != MEM_INSN_MOV)
		return emulate_operation(insn, regs, at, done);
	if (insn->to_memory) {
		value = other_operand(insn, regs);
		mem_insn_store(at, insn->bytes, value);
	} else {
		value = mem_insn_load(at, insn->bytes);
		set_result(insn, regs, insn->sign ? sign_extended(value, insn->bytes) : value);
	}
	done[0] = (struct mem_access){insn->address, value, insn->bytes, insn->to_memory};
	return 1;
}
