/*
 * Between an exclusive load and its store an exception would clear the CPU's monitor, and the loop around them would
 * never end (Arm ARM B2.9.5): steps and probes must not interrupt it.
 */
#include "exclusive.h"

#define MAX_EXCLUSIVE 16 /* instructions from an exclusive load to its store; gcc's have 5 at most */

/* Load/store exclusive, C4.1.88.32. With o1 (bit 21), but without bit 31, it is CASP, which sets no monitor. */
static bool is_exclusive(u32 insn, bool load)
{
	return (insn & 0x3f800000) == 0x08000000 && (insn & 0x80200000) != 0x00200000 &&
	       (insn & 0x00400000) == (load ? 0x00400000 : 0);
}

bool monitor_may_be_set(unsigned long addr, unsigned long start, bool (*read)(unsigned long addr, u32 *insn, void *arg),
			void *arg)
{
	u32 insn;

	for (unsigned long at = addr - 4; at >= start && at >= addr - 4 * MAX_EXCLUSIVE; at -= 4) {
		if (!read(at, &insn, arg) || is_exclusive(insn, false))
			return false;
		if (is_exclusive(insn, true))
			return true;
	}
	return false;
}
