/* A load or store that has been decoded (arch/aarch64/debug/mem_insn.c). */
#pragma once

#include <lib/types.h>

struct mem_insn {
	unsigned long address; /* of the operand */
	u8 bytes;	       /* of the whole operand: a pair has two registers */
	u8 width;	       /* of one register's part */
	u8 rt, rt2;	       /* registers; 31 is zero. rt2 of a pair */
	u8 rn;		       /* the base; 31 is sp */
	bool load, pair;
	bool sign;	    /* a load that extends the sign, */
	bool to_32;	    /* to 32 bits and not to 64 */
	bool writeback;	    /* the base becomes */
	unsigned long base; /* this */
};
