/* How long an instruction is, and where its parts lie (arch/x86_64/probes/insn.c). */
#pragma once

#include <lib/types.h>

#define MAX_INSN_SIZE 15

struct insn {
	u8 length;				/* bytes */
	u8 map;					/* 1: one byte of opcode, 2: 0F xx, 3: 0F 38 xx, 4: 0F 3A xx */
	u8 opcode;				/* the last byte of the opcode */
	u8 opcode_at;				/* where that is */
	u8 modrm;				/* 0 when there is none */
	u8 modrm_at;				/* 0: there is none */
	u8 displacement_at, displacement_bytes; /* behind modrm, 0 bytes: none */
	u8 immediate_at, immediate_bytes;	/* at the end */
	u8 rex;					/* 0: none */
	bool rip_relative;
	bool vex; /* it begins with VEX or EVEX, which say the map */
};

/*
 * Decode the instruction at the start of `code`, of which `size` bytes may be read. False: it is longer than that, or
 * none of 64-bit mode. Any context.
 */
bool insn_decode(struct insn *insn, const u8 *code, unsigned size);
