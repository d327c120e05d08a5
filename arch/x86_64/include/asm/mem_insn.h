/* A move, or an operation with a place in memory, that has been decoded (arch/x86_64/debug/mem_insn.c). */
#pragma once

#include <lib/types.h>

/* The first eight are numbered as the opcodes are (SDM vol. 2, appendix A: bits 5 to 3). */
enum mem_insn_op {
	MEM_INSN_ADD,
	MEM_INSN_OR,
	MEM_INSN_ADC,
	MEM_INSN_SBB,
	MEM_INSN_AND,
	MEM_INSN_SUB,
	MEM_INSN_XOR,
	MEM_INSN_CMP,
	MEM_INSN_TEST, /* AND without a result */
	MEM_INSN_MOV,
};

struct mem_insn {
	unsigned long address; /* of the operand */
	u8 bytes;	       /* of the operand in memory */
	u8 length;	       /* of the instruction */
	u8 op;		       /* enum mem_insn_op */
	u8 reg;		       /* number of the other operand */
	u8 reg_bytes;	       /* its size: more than `bytes` where a load extends */
	bool high;	       /* it is ah, ch, dh or bh */
	bool to_memory;	       /* memory is the first operand, which takes the result */
	bool has_imm;	       /* the other operand is imm, and no register */
	bool sign;	       /* a load extends the sign */
	u64 imm;
};
