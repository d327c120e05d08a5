/* What hw_breakpoint.c and single_step.c tell each other. All of it with debug exceptions masked, on this CPU. */
#pragma once

#include <lib/types.h>

struct pt_regs;

#define NR_STEP_EXITS 2 /* breakpoint registers that are kept for the ends of what is stepped over as a whole */

/* All are silent, and the next instruction ends in a step; the other: they are reported again, and no step. */
void debug_step(bool on);
/* All but the kept registers are cleared, or loaded again with what hw_breakpoint_of() says, the kept ones cleared. */
void debug_registers_clear(void);
void debug_registers_report(void);
/* Kept register `i` reports execution at `pc`; 0: nothing. */
void debug_write_exit(unsigned i, u64 pc);
/*
 * Execute one instruction of interrupted kernel code: a debug exception follows it. Until then this CPU has interrupts
 * masked and its breakpoints silent, so that nothing comes between. What cannot be interrupted between its
 * instructions, the loop of an exclusive load and its store, is executed as a whole.
 *
 * `regs`: the registers of a debug exception that found the CPU in kernel mode, no step in progress. The instruction
 * must be one that neither looks at the interrupt mask nor changes it, nor faults: one that a breakpoint has
 * reported.
 */
void single_step_begin(struct pt_regs *regs);
/* An exception that a step asked for. False: no step is in progress. */
bool single_step_end(struct pt_regs *regs);
