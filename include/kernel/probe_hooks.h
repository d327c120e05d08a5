/*
 * What probes do where others meet the instructions that they have put into text. These functions do nothing as long as
 * there is no probe. A room that makes probes puts its own in their place before it first changes text, and they stay.
 */
#pragma once

#include <lib/types.h>

struct pt_regs;

/* [a] Any context, not traced, no lock. */
struct probe_hooks {
	/*
	 * From the machine's handler of breakpoints: is the one of the kernel at `addr` a probe's? Then its handlers
	 * are called and regs lead to where execution goes on. Interrupts off; nothing that may be probed has run yet.
	 */
	bool (*kernel_break)(unsigned long addr, struct pt_regs *regs);
	/*
	 * Where the instruction at pc really stands: for a pc in a slot that is the probed place, else pc itself. What
	 * looks up a faulting instruction of the kernel asks here first.
	 */
	unsigned long (*kernel_pc)(unsigned long pc);
	/* `text` is a copy of `len` bytes of the kernel at addr: replace the probes in it by the original bytes. */
	void (*hide)(unsigned long addr, u8 *text, unsigned len);
};
extern struct probe_hooks probe_hooks;
