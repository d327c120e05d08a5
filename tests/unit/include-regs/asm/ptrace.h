/* Stand-in: the registers of aarch64. */
#pragma once

struct pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
};
#define user_mode(r) (((r)->pstate & 15) == 0)
