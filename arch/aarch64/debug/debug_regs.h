/* What hw_breakpoint.c and single_step.c tell each other. All of it with debug exceptions masked, on this CPU. */
#pragma once

#include <lib/types.h>

struct pt_regs;
struct user_debug_register;

#define NR_STEP_EXITS 2 /* breakpoint registers that are kept for the ends of what is stepped over as a whole */

/*
 * MDSCR_EL1: does an instruction end in a step (SS)? Are breakpoints and watchpoints reported (MDE), which keep their
 * addresses all the while? SS works without MDE.
 */
void debug_switch(bool step, bool report);
/* All but the kept registers are cleared, or loaded again with what hw_breakpoint_of() says. */
void debug_registers_clear(void);
void debug_registers_load(void);
/* Numbers of registers that a debugger may have of a kind, HW_BREAKPOINT_X or _RW. */
unsigned nr_user_registers(u32 bp_type);
/*
 * A task's debugger sets register i of a kind: *now, in a task that stands still, becomes `new`, whose control word is
 * the debugger's. 0, -EINVAL, -ENOSPC. Thread context.
 */
int debug_set_user(struct user_debug_register *now, struct user_debug_register new, u32 bp_type, unsigned i);
/* Kept register `i` reports execution at `pc`; 0: nothing. */
void debug_write_exit(unsigned i, u64 pc);
/* A store that was made in the place of an instruction: tell the watchpoints that have one of its bytes. */
void debug_report_store(struct pt_regs *regs, u64 address, unsigned bytes);

/*
 * Execute one instruction of interrupted kernel code: a debug exception follows it. Until then this CPU has interrupts
 * masked and its breakpoints silent, so that nothing comes between. What cannot be interrupted between its
 * instructions, the loop of an exclusive load and its store, is executed as a whole.
 *
 * `regs`: the registers of a debug exception that found the CPU in kernel mode, no step in progress. The instruction
 * must be one that a watchpoint has reported, or for which single_step_can() is true: it neither looks at the interrupt
 * mask nor changes it, nor faults.
 */
void single_step_begin(struct pt_regs *regs);
/* Is the instruction at this address of the kernel's text one that may be executed so? Thread context. */
bool single_step_can(u64 pc);
/*
 * An exception that a step asked for: `breakpoint`, a kept one, or a software step. Prepares the next step when the CPU
 * is stepped through (<arch/single_step.h>). False: no step was asked for.
 */
bool single_step_end(struct pt_regs *regs, bool breakpoint);
