/*
 * Instruction lengths of 64-bit mode, by tables made from the opcode maps of the SDM (vol. 2, appendix A, tables A-2 to
 * A-5; the format of an instruction is in 2.1 and 2.2.1). For each opcode two facts matter: is there a ModR/M byte, and
 * how long is the immediate operand, which may depend on the prefixes 66 and REX.W. tests/host/make/test_insn.py holds
 * it against objdump, for each instruction of the kernel.
 */
#include "insn.h"

#include <lib/string.h>

enum {
	M = 0x10, /* ModR/M */
	B = 1,	  /* an immediate of a byte */
	W = 2,	  /* of two */
	Z = 3,	  /* of four, with 66 of two */
	V = 4,	  /* the same, with REX.W of eight (MOV) */
	A = 5,	  /* an address of eight bytes, with 67 of four (MOV) */
	E = 6,	  /* of two and one (ENTER) */
	T = 7,	  /* with a ModR/M whose reg is 0 or 1: of a byte (TEST) */
	U = 8,	  /* the same, of four, with 66 of two */
	X = 0xff, /* no instruction, or a prefix */
};

#define ARITH	   M, M, M, M, B, Z, X, X
#define FOUR(x)	   x, x, x, x
#define EIGHT(x)   FOUR(x), FOUR(x)
#define SIXTEEN(x) EIGHT(x), EIGHT(x)

static const u8 map1[256] = {
	/* 00 */ ARITH,
	ARITH,
	ARITH,
	ARITH,
	ARITH,
	ARITH,
	ARITH,
	ARITH,
	/* 40 */ SIXTEEN(X),
	/* 50 */ SIXTEEN(0),
	/* 60 */ X,
	X,
	X,
	M,
	X,
	X,
	X,
	X,
	Z,
	M | Z,
	B,
	M | B,
	0,
	0,
	0,
	0,
	/* 70 */ SIXTEEN(B),
	/* 80 */ M | B,
	M | Z,
	X,
	M | B,
	M,
	M,
	M,
	M,
	EIGHT(M),
	/* 90 */ EIGHT(0),
	0,
	0,
	X,
	0,
	0,
	0,
	0,
	0,
	/* a0 */ A,
	A,
	A,
	A,
	0,
	0,
	0,
	0,
	B,
	Z,
	0,
	0,
	0,
	0,
	0,
	0,
	/* b0 */ EIGHT(B),
	EIGHT(V),
	/* c0 */ M | B,
	M | B,
	W,
	0,
	X,
	X,
	M | B,
	M | Z,
	E,
	0,
	W,
	0,
	0,
	B,
	X,
	0,
	/* d0 */ M,
	M,
	M,
	M,
	X,
	X,
	X,
	0,
	EIGHT(M),
	/* e0 */ B,
	B,
	B,
	B,
	B,
	B,
	B,
	B,
	Z,
	Z,
	X,
	B,
	0,
	0,
	0,
	0,
	/* f0 */ X,
	0,
	X,
	X,
	0,
	0,
	M | T,
	M | U,
	0,
	0,
	0,
	0,
	0,
	0,
	M,
	M,
};

static const u8 map2[256] = {
	/* 00 */ M,	     M,	      M,     M,	    X,	   0,	  0,	 0, 0,	      0, X, 0, X,     M, 0, X,
	/* 10 */ SIXTEEN(M),
	/* 20 */ M,	     M,	      M,     M,	    X,	   X,	  X,	 X, EIGHT(M),
	/* 30 */ 0,	     0,	      0,     0,	    0,	   0,	  X,	 0, X,	      X, X, X, X,     X, X, X,
	/* 40 */ SIXTEEN(M),
	/* 50 */ SIXTEEN(M),
	/* 60 */ SIXTEEN(M),
	/* 70 */ M | B,	     M | B,   M | B, M | B, M,	   M,	  M,	 0, EIGHT(M),
	/* 80 */ SIXTEEN(Z),
	/* 90 */ SIXTEEN(M),
	/* a0 */ 0,	     0,	      0,     M,	    M | B, M,	  X,	 X, 0,	      0, 0, M, M | B, M, M, M,
	/* b0 */ EIGHT(M),   M,	      M,     M | B, M,	   M,	  M,	 M, M,
	/* c0 */ M,	     M,	      M | B, M,	    M | B, M | B, M | B, M, EIGHT(0),
	/* d0 */ SIXTEEN(M),
	/* e0 */ SIXTEEN(M),
	/* f0 */ EIGHT(M),   FOUR(M), M,     M,	    M,	   M,
};

/* Prefixes of 2.1.1. */
static bool is_legacy_prefix(u8 byte)
{
	return (byte & 0xe7) == 0x26 || (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

/* Bytes of the immediate operand of a kind. A branch's displacement does not shrink with 66 (80 to 8f, e8, e9). */
static unsigned immediate_size(const struct insn *insn, unsigned kind, bool opsize, bool addrsize)
{
	bool branch =
		(insn->map == 2 && (insn->opcode & 0xf0) == 0x80) || (insn->map == 1 && (insn->opcode & 0xfe) == 0xe8);
	unsigned word = opsize && !(insn->rex & 8) && !branch ? 2 : 4;

	switch (kind) {
	case B:
		return 1;
	case W:
		return 2;
	case Z:
		return word;
	case V:
		return insn->rex & 8 ? 8 : word;
	case A:
		return addrsize ? 4 : 8;
	case E:
		return 3;
	case T:
		return insn->modrm & 0x30 ? 0 : 1;
	case U:
		return insn->modrm & 0x30 ? 0 : word;
	default:
		return 0;
	}
}

/* Bytes of the displacement behind ModR/M, with the SIB byte in *sib (table 2-2 and 2-3). */
static unsigned displacement_size(const struct insn *insn, const u8 *behind, bool *sib)
{
	unsigned mod = insn->modrm >> 6, rm = insn->modrm & 7;

	*sib = mod != 3 && rm == 4;
	if (mod == 1)
		return 1;
	if (mod == 2 || (mod == 0 && (rm == 5 || (*sib && (*behind & 7) == 5))))
		return 4;
	return 0;
}

/*
 * VEX and EVEX (2.3.5, 2.7.1) stand in the place of the opcode's first bytes: C5 and one byte, with map 2; C4 and two
 * bytes, or 62 and three, with the number of the map in the first of them. Returns their bytes; 0: there are none.
 */
static unsigned vector_prefix(struct insn *insn, const u8 *at)
{
	static const u8 maps[8] = {0, 2, 3, 4, 0, 3, 3, 0}; /* 5 and 6 of EVEX have ModR/M and nothing else, as 3 */

	insn->vex = at[0] == 0xc4 || at[0] == 0xc5 || at[0] == 0x62;
	if (!insn->vex)
		return 0;
	insn->map = at[0] == 0xc5 ? 2 : maps[at[1] & 7];
	return at[0] == 0xc5 ? 2 : at[0] == 0xc4 ? 3 : 4;
}

/* What follows the opcode. Of VEX's instructions VZEROUPPER and VZEROALL (0F 77) alone have no ModR/M. */
static u8 operand_kind(const struct insn *insn)
{
	switch (insn->map) {
	case 1:
		return map1[insn->opcode];
	case 2:
		return insn->vex && insn->opcode != 0x77 ? M | (map2[insn->opcode] & B) : map2[insn->opcode];
	case 3:
		return M;
	case 4:
		return M | B;
	default:
		return X;
	}
}

/* In the order in which the bytes stand: prefixes, REX, opcode, ModR/M, SIB, displacement, immediate (figure 2-1). */
bool insn_decode(struct insn *insn, const u8 *code, unsigned size)
{
	bool opsize = false, addrsize = false, sib = false;
	u8 padded[MAX_INSN_SIZE + 8] = {0};
	unsigned at = 0;
	u8 kind;

	memcpy(padded, code, min(size, (unsigned)MAX_INSN_SIZE));
	memset(insn, 0, sizeof(*insn));
	for (; at < MAX_INSN_SIZE - 3 && is_legacy_prefix(padded[at]); at++) {
		opsize |= padded[at] == 0x66;
		addrsize |= padded[at] == 0x67;
	}
	if ((padded[at] & 0xf0) == 0x40)
		insn->rex = padded[at++];
	insn->map = 1;
	at += vector_prefix(insn, padded + at);
	if (!insn->vex && padded[at] == 0x0f) {
		at++;
		insn->map = padded[at] == 0x38 ? 3 : padded[at] == 0x3a ? 4 : 2;
		at += insn->map > 2;
	}
	insn->opcode_at = at;
	insn->opcode = padded[at++];
	kind = operand_kind(insn);
	if (kind == X)
		return false;
	if (kind & M) {
		insn->modrm_at = at;
		insn->modrm = padded[at++];
		insn->displacement_bytes = displacement_size(insn, padded + at, &sib);
		insn->rip_relative = (insn->modrm & 0xc7) == 5;
		at += sib;
		insn->displacement_at = at;
		at += insn->displacement_bytes;
	}
	insn->immediate_at = at;
	insn->immediate_bytes = immediate_size(insn, kind & 15, opsize, addrsize);
	insn->length = at + insn->immediate_bytes;
	return insn->length <= min(size, (unsigned)MAX_INSN_SIZE);
}
