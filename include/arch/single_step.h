/*
 * Stepping through kernel code (arch/<machine>/debug): after each instruction that this CPU executes in the
 * kernel, a function is called. aarch64 has software step for it (MDSCR_EL1.SS), x86_64 the trap flag (RFLAGS.TF).
 *
 * Stepping belongs to the CPU and not to a task: it goes on through switches of tasks, interrupts, exceptions and
 * system calls, and pauses while a program runs and while the CPU sleeps. What cannot be stepped:
 *
 *			aarch64					x86_64
 *	not seen	what runs with debug exceptions		what runs in #DB, NMI, #MC, #DF; in .noinstr.text;
 *			masked: the first and last		in parked_irq; the stub of a vector; the first three
 *			instructions of an exception,		instructions of SYSCALL
 *			the debug exception itself
 *	executed by	store-exclusive, MSR DAIFSet		nothing
 *	the handler	of PSTATE.D
 *
 * The debugger at QEMU's gdbstub steps outside of the guest and shares none of this. Hardware breakpoints
 * (<arch/hw_breakpoint.h>) are reported while the CPU is stepped on aarch64; on x86_64 a CPU has one or the other.
 */
#pragma once

#include <lib/types.h>

struct pt_regs;

/*
 * Called when an instruction has been executed; `regs` are those before the next one. `from`: 0, or, when it was a
 * branch that was taken, its address, and `to` is where it led. An exception is a branch too: from the instruction that
 * will be gone back to, of the kernel or of a program, to the symbol of entry.S that it enters. The return from it is
 * one from the ERET or IRET, but for that to user mode, which is not reported. `to` need not be kernel text: a call
 * through a bad pointer comes here before its fault.
 *
 * Context: debug exception, interrupts off, preemption off, in the middle of anything: any lock may be held by the
 * interrupted code. Nothing here is stepped, nor reported by a breakpoint. Not traced, no lock, no fault. False:
 * enough, this CPU is not stepped any more.
 */
typedef bool (*single_step_fn)(struct pt_regs *regs, unsigned long from, unsigned long to);

/*
 * Step this CPU from now on. Interrupts off, any kernel code but that of a debug exception or an NMI. 0, or -EBUSY:
 * it is stepped already, or (x86_64) has breakpoints.
 */
int arch_single_step_start(single_step_fn fn);
/*
 * End it, if this CPU is stepped. Interrupts off; also from within a panic or an oops. When it returns, fn is not
 * called any more and the machine's registers have no trace of it. False: the CPU was not stepped, as fn had said
 * enough, or others have ended it.
 */
bool arch_single_step_stop(void);
