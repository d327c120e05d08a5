/*
 * Instructions of the kernel that load and store (arch/<machine>/debug): what one would access, and doing in its
 * place what it does, with its operand at another address. mmiotrace needs both, because the pages that it watches are
 * not there for the instruction itself.
 *
 * What is known are the forms by which compilers and <asm/io.h> access registers of devices; each file lists its own.
 * Atomic accesses, vectors and block moves are not among them.
 */
#pragma once

#include <asm/mem_insn.h>
#include <lib/types.h>

struct pt_regs;

#define MEM_INSN_ACCESSES 2 /* that one instruction makes at most */

/* An access to memory, as a bus sees it. */
struct mem_access {
	unsigned long address; /* of the operand that the instruction names, wherever it is accessed */
	u64 value;	       /* what was read or written, above `bytes` zeros */
	u8 bytes;	       /* 1, 2, 4, 8 */
	bool write;
};

/*
 * What is the instruction that begins at `code`, with these registers? Fills *insn: address and bytes of its operand,
 * as common fields of struct mem_insn, and the machine's own. 0; -EINVAL: none that is known. Any context; not traced.
 */
int arch_mem_insn_decode(struct mem_insn *insn, const struct pt_regs *regs, const void *code);
/*
 * Do what the instruction does, but with its operand at `at`. The registers, the program counter and the flags are
 * then as behind it. `done` gets the accesses in their order; returns how many. Each is made once, in its full width.
 * Any context in which the operand may be accessed; not traced.
 */
unsigned arch_mem_insn_emulate(const struct mem_insn *insn, struct pt_regs *regs, void *at,
			       struct mem_access done[MEM_INSN_ACCESSES]);
/* The instruction's first bytes, as many as are told of one that is not known: their number. Any context. */
unsigned arch_mem_insn_bytes(const void *code, u8 bytes[4]);

/* One load and one store of a width, which the compiler neither tears nor repeats. */
static __always_inline u64 mem_insn_load(const void *at, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return READ_ONCE(*(const u8 *)at);
	case 2:
		return READ_ONCE(*(const u16 *)at);
	case 4:
		return READ_ONCE(*(const u32 *)at);
	default:
		return READ_ONCE(*(const u64 *)at);
	}
}
/* One store of that width. Any context. */
static __always_inline void mem_insn_store(void *at, unsigned bytes, u64 value)
{
	switch (bytes) {
	case 1:
		WRITE_ONCE(*(u8 *)at, value);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)at, value);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)at, value);
		break;
	default:
		WRITE_ONCE(*(u64 *)at, value);
		break;
	}
}
