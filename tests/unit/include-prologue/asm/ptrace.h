/* Stand-in: the registers of aarch64 that a prologue changes. */
#pragma once

struct pt_regs {
	u64 regs[31];
	u64 sp;
};
