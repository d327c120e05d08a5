/*
 * This machine's non-maskable interrupt is the FIQ: PSTATE.F is clear wherever PSTATE.I may be set, but for the first
 * and last instructions of an exception and the FIQ itself (arch/aarch64/nmi.c).
 */
#pragma once

#include <lib/types.h>

struct pt_regs;

/* The source of FIQs. Both take the line down until the end of the FIQ's handler at least. */
struct fiq_source {
	void (*handle)(struct pt_regs *regs); /* in_nmi(); not traced */
	void (*skip)(void);		      /* while text is changed: nothing more than that. In .noinstr.text */
};
extern const struct fiq_source *fiq_source; /* [boot, then immutable] NULL: an FIQ is a bug */
/* How many a CPU has served. */
u64 fiq_counted(unsigned unused, int cpu);
