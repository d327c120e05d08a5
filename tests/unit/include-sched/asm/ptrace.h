/* No registers: every tick finds the kernel. */
#pragma once

#include <lib/types.h>

struct pt_regs;
static inline bool user_mode(const struct pt_regs *regs)
{
	return false;
}
