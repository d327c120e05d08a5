/* Static branches: a 5-byte nop, or when the key is on a JMP to the body. The entry is struct jump_entry. */
#pragma once

#include <lib/types.h>

struct static_key;

static __always_inline bool arch_static_branch(struct static_key *key)
{
	__asm__ goto("1:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
		     "	.pushsection __jump_table, \"aw\"\n"
		     "	.balign 8\n"
		     "	.quad 1b, %l[on], %c0\n"
		     "	.popsection"
		     :
		     : "i"(key)
		     :
		     : on);
	return false;
on:
	return true;
}
