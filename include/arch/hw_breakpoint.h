/*
 * The CPU's debug registers (arch/<machine>/debug): which there are, and loading them.
 *
 * aarch64 (Arm ARM D2.9, D2.10): 2 to 16 watchpoints, for any 1 to 8 bytes within 8 aligned ones, and 2 to 16
 * breakpoints; the last two are kept for stepping over loops of exclusive accesses. A watchpoint is reported
 * before the access, so the instruction is stepped over with the registers silent (single_step.c).
 * x86_64 (SDM vol. 3, 18.2): four registers for both kinds, for 1, 2, 4 or 8 aligned bytes; there is no type
 * "read only". An access is reported behind its instruction.
 *
 * Neither machine reports what the kernel does while debug exceptions are masked: on aarch64 the first and last
 * instructions of each exception and the whole way of a debug exception, on x86_64 what runs in an NMI and in #DB.
 *
 * The registers are the guest's own: a debugger at QEMU's gdbstub has breakpoints in QEMU, and neither takes one from
 * the other (docs/tracer-ksym_tracer.md).
 */
#pragma once

#include <lib/types.h>

struct perf_event_attr;

#define HW_BREAKPOINT_NUMBERS 32 /* register numbers are below; a machine may have gaps */

/* Numbers of the registers that can hold a breakpoint of this bp_type. Any context. */
struct hw_breakpoint_range {
	unsigned first, count;
};
struct hw_breakpoint_range arch_hw_breakpoint_range(u32 bp_type);
/* Can the machine watch this, and does the kernel survive it? 0 or -EINVAL. Any context. */
int arch_hw_breakpoint_check(const struct perf_event_attr *attr);
/* Load this CPU's registers with what hw_breakpoint_of() says now. Interrupts off, no lock. */
void arch_hw_breakpoints_load(void);
